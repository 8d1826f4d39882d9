// @ts-check
import { ReflectionKind } from 'typedoc';

/** @typedef {import('typedoc').DeclarationReflection} Declaration */

/** Topics in their order: the folder of a function's source, and its heading. */
const TOPICS = Object.entries({
  ...{ create: 'Making tensors', tensor: 'Tensors and their life', random: 'Random numbers' },
  ...{ elementwise: 'Element by element', folds: 'Sums, means, softmax and scans', products: 'Products' },
  ...{ convolution: 'Convolutions', pooling: 'Pooling and resizing', norms: 'Normalisation', attention: 'Attention' },
  ...{ views: 'Views, without a copy', shaping: 'Shaping, with a copy', indexing: 'Indexing and sorting' },
  ...{ losses: 'Losses', quantized: 'Quantized weights', weights: 'Weights in files' },
  ...{ compute: 'Your own kernels, and recordings', grad: 'Gradients and optimisers' },
});

/** The packages that are on the page. */
const MODULES = /^@concord\/(ops(\/node)?|grad)$/;

/**
 * The page of all functions for tensors, by topic, each with its first sentence and its example.
 *
 * @param {readonly Declaration[]} modules
 * @returns {string}
 */
export function functionsPage(modules) {
  /** @type {Map<string, string[]>} */
  const topics = new Map(TOPICS.map(([, title]) => [title, []]));
  let count = 0;
  for (const module of modules.filter(({ name }) => MODULES.test(name))) {
    for (const each of module.children ?? []) {
      if (!each.kindOf(ReflectionKind.Function)) continue;
      count++;
      topics.get(topicOf(each))?.push(sectionOf(each, module.name));
    }
  }
  const sections = [...topics].flatMap(([title, texts]) =>
    texts.length === 0 ? [] : [`## ${title}`, ...texts.sort()],
  );
  const intro = `${count} functions of \`@concord/ops\` and \`@concord/grad\`, by topic, each with its example, and a link to its arguments and errors.`;
  return ['# All functions', intro, ...sections, ''].join('\n\n');
}

/** @param {Declaration} declaration */
function topicOf({ name, sources = [] }) {
  const path = sources[0]?.fileName ?? '';
  const [, folder] = TOPICS.find(([key]) => path.includes(`/${key}/`)) ?? [];
  if (folder === undefined) throw new Error(`${name}: ${path} belongs to no topic of the page of all functions`);
  return folder;
}

/** @param {Declaration} declaration @param {string} module */
function sectionOf({ name, signatures = [] }, module) {
  const documented = signatures.find(({ comment }) => comment !== undefined)?.comment;
  const text = textOf(documented?.summary).trim().split('\n\n')[0]?.replaceAll('\n', ' ') ?? '';
  const example = documented?.blockTags.find(({ tag }) => tag === '@example');
  const page = module.replace('@concord/', '');
  return [
    `### ${name}`,
    text,
    textOf(example?.content).trim(),
    `[Arguments and errors of ${name}](${page}.md#${name.toLowerCase()})`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Text without links. @param {readonly import('typedoc').CommentDisplayPart[]} [parts] */
const textOf = (parts = []) =>
  parts.map((part) => (part.kind === 'inline-tag' ? `\`${part.text.replace(/^.*\|\s*/, '')}\`` : part.text)).join('');
