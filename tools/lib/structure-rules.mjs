// @ts-check
// The rules of `pnpm check:structure`. A new op begins with its definition; the check then names every other file
// that is missing.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The definitions of the ops; `others` are the other files in their folder. */
export const definitions = {
  folder: 'packages/backend-core/src/ops',
  others: ['index', 'op-definition', 'epilogue', 'quant-b'],
};

/** One file per op in each of these, or where that would be long a folder whose `suite.ts` it is. */
export const opRooms = [
  (/** @type {string} */ op) => `packages/backend-cpu/src/reference/${op}.ts`,
  (/** @type {string} */ op) => `packages/conformance/src/cases/${op}.ts`,
];

/** The mark of a definition whose op is a `run` of its own kernel: no backend has kernels for it. */
export const derivedMark = 'asRun:';

/** Rooms, or packages, that import nothing from each other: one judges the other. */
const separateRooms = [
  ['packages/backend-cpu/src/reference', 'packages/backend-cpu/src/kernels'],
  ['packages/backend-cpu/src/reference', '@concord/kernel'],
];

/** Packages without dependencies, that also run in a browser. */
const selfContained = ['packages/backend-core'];

/** The Markdown that people write; of its lines, tables, code and single words such as a link may be long. */
const writtenPage = /^(?:docs\/.+|(?:(?!\.).*\/)?(?:README|NOTES|CONTRIBUTING|SECURITY))\.md$/;

export const headings = {
  package: ['## Install', '## Use'],
  backend: ['## Requirements', '## Limits'],
};

/** Of the sources of an example, without its tests; a language model reads many kinds of files. */
const maxLinesOf = (/** @type {string} */ example) => (example === 'examples/lm' ? 2120 : 600);

/** @typedef {{ file: string, expected: string }} Violation */
/** @typedef {ReturnType<typeof readTree>} Tree */

const testFile = /\.test\.(ts|mjs)$/;
const importSpecifier = /(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g;

/**
 * The checkout as the rules see it: the paths of all files, with `/`, without installed packages and build output.
 *
 * @param {string} root
 */
function readTree(root) {
  /** @type {(folder: string) => string[]} */
  const filesBelow = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      if (['node_modules', 'dist', '.git', '.turbo'].includes(entry.name)) return [];
      const path = posix.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
  const files = filesBelow('.');
  const packages = [...new Set(files.flatMap((file) => /^packages\/[^/]+(?=\/)/.exec(file) ?? []))];
  return {
    files,
    packages,
    backends: packages.filter((path) => path.startsWith('packages/backend-') && path !== 'packages/backend-core'),
    has: (/** @type {string} */ file) => files.includes(file),
    text: (/** @type {string} */ file) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''),
  };
}

/** @param {Tree} tree @param {string} file @returns {string[]} its imports, relative paths resolved */
function importsOf(tree, file) {
  return [...tree.text(file).matchAll(importSpecifier)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier,
  );
}

const definitionOf = (/** @type {string} */ op) => `${definitions.folder}/${op}.ts`;

/** The ops that have a definition, by the names of their files. @param {Tree} tree */
function opsOf(tree) {
  return tree.files
    .filter((file) => posix.dirname(file) === definitions.folder && !testFile.test(file))
    .map((file) => posix.basename(file, '.ts'))
    .filter((name) => !definitions.others.includes(name));
}

/** @type {Record<string, (tree: Tree) => Violation[]>} */
const rules = {
  everyOpInEveryRoom: (tree) =>
    [
      { file: `${definitions.folder}/index.ts`, expected: 'the table of the ops' },
      ...opsOf(tree).flatMap((op) =>
        opRooms.map((room) => ({ file: room(op), expected: `the room's file for ${op}` })),
      ),
    ].filter(({ file }) => !tree.has(file) && !tree.has(file.replace(/\.ts$/, '/suite.ts'))),

  everyFamilyInEveryBackend: (tree) =>
    tree.backends.flatMap((backend) =>
      opsOf(tree)
        .filter((op) => !tree.text(definitionOf(op)).includes(derivedMark))
        .map((family) => ({ folder: `${backend}/src/kernels/${family}`, family }))
        .filter(({ folder, family }) => !['.ts', '/plan.ts', `/${family}.ts`].some((end) => tree.has(folder + end)))
        .map(({ folder, family }) => ({
          file: `${folder}.ts`,
          expected: `the kernels for ${family}: this file, or plan.ts or ${family}.ts in kernels/${family}`,
        })),
    ),

  everyBackendItsFiles: (tree) =>
    tree.backends
      .flatMap((backend) => [
        { file: `${backend}/src/provider.ts`, expected: 'its registry provider' },
        {
          file: `${backend}/src/${backend.replace('packages/backend-', '')}-backend.ts`,
          expected: 'its backend class',
        },
        { file: `${backend}/test/conformance.test.ts`, expected: 'the conformance suite run on this backend' },
      ])
      .filter(({ file }) => !tree.has(file)),

  oneConformanceTest: (tree) =>
    tree.files
      .filter((file) => /^packages\/backend-[^/]+\/.*conformance\.test\.ts$/.test(file))
      .filter((file) => !/^packages\/backend-[^/]+\/test\/conformance\.test\.ts$/.test(file))
      .map((file) => ({ file, expected: 'exactly one conformance test per backend, in test/conformance.test.ts' })),

  readmes: (tree) =>
    tree.packages.flatMap((path) => {
      const file = `${path}/README.md`;
      if (!tree.has(file)) return [{ file, expected: 'a README in every package' }];
      const lines = tree.text(file).split('\n');
      const wanted = [...headings.package, ...(tree.backends.includes(path) ? headings.backend : [])];
      return wanted
        .filter((heading) => !lines.includes(heading))
        .map((heading) => ({ file, expected: `the heading "${heading}"` }));
    }),

  shortLinesOfPages: (tree) =>
    tree.files
      .filter((file) => writtenPage.test(file))
      .flatMap((file) => {
        const prose = tree
          .text(file)
          .replace(/^---\n[^]*?\n---$|^ *```[^]*?^ *```$/gm, (code) => code.replace(/.+/g, ''));
        return prose.split('\n').flatMap(({ length }, i, lines) => {
          if (length <= 120 || /^\s*(?:\||\S+$)/.test(lines[i] ?? '')) return [];
          return [{ file: `${file}:${i + 1}`, expected: `at most 120 characters, found ${length}` }];
        });
      }),

  roomsKeptApart: (tree) =>
    separateRooms.flatMap(([a = '', b = '']) =>
      [
        [a, b],
        [b, a],
      ].flatMap(([from, to]) =>
        tree.files
          .filter((file) => file.startsWith(`${from}/`))
          .filter((file) => importsOf(tree, file).some((target) => target === to || target.startsWith(`${to}/`)))
          .map((file) => ({ file, expected: `no import from ${to}` })),
      ),
    ),

  selfContainedPackages: (tree) =>
    selfContained.flatMap((path) => {
      const { dependencies = {}, peerDependencies = {} } = JSON.parse(tree.text(`${path}/package.json`) || '{}');
      const named = Object.keys({ ...dependencies, ...peerDependencies });
      const sources = tree.files.filter((file) => file.startsWith(`${path}/src/`) && !testFile.test(file));
      return [
        ...named.map((name) => ({ file: `${path}/package.json`, expected: `no dependency, found ${name}` })),
        ...sources.flatMap((file) =>
          importsOf(tree, file)
            .filter((target) => !target.startsWith(`${path}/`))
            .map((target) => ({ file, expected: `imports of its own files only, found ${target}` })),
        ),
      ];
    }),

  shortExamples: (tree) => {
    /** @type {Map<string, number>} */
    const linesOf = new Map();
    for (const file of tree.files.filter((name) => /^examples\/[^/]+\/src\//.test(name) && !testFile.test(name))) {
      const example = file.split('/').slice(0, 2).join('/');
      linesOf.set(example, (linesOf.get(example) ?? 0) + tree.text(file).trimEnd().split('\n').length);
    }
    return [...linesOf]
      .filter(([file, lines]) => lines > maxLinesOf(file))
      .map(([file, lines]) => ({ file, expected: `at most ${maxLinesOf(file)} lines of source, found ${lines}` }));
  },
};

/** Every violation of the tree's rules below `root`, in the order of the rules. @param {string} root */
export function findViolations(root) {
  const tree = readTree(root);
  return Object.values(rules).flatMap((rule) => rule(tree));
}
