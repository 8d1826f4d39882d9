// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONFORMANCE_SHARE, LONG } from '../lib/test-parts.mjs';
import { root } from '../lib/paths.mjs';

/**
 * Tests that are run together, as vitest is asked for them.
 *
 * @typedef {object} Stage
 * @property {string} project
 * @property {readonly string[]} files - how their paths begin; none: all of the project
 * @property {'share' | 'all'} part
 * @property {readonly string[]} [exclude]
 * @property {string} [only] - a pattern of test names
 * @property {Record<string, string>} [env]
 */

/** Where a package without a backend is seen at work: the projects that run it, the cheapest first. */
const USED_BY = /** @type {Readonly<Record<string, readonly string[]>>} */ ({
  'backend-core': ['backend-cpu', 'backend-wasm'],
  kernel: ['backend-cpu', 'backend-wasm', 'backend-webgpu'],
  variants: ['backend-webgpu'],
  'spirv-builder': ['backend-levelzero'],
  conformance: ['backend-cpu'],
  ops: ['example-train', 'example-lm', 'example-edges'],
});

/** The ops that the name of a file or folder speaks of, and their conformance cases. */
const CASES_OF = {
  // What becomes of epilogues, and of products without a sum.
  'epilogue|cpu-backend|lower-call': 'gemm|batchedGemm|conv2d',
  gemm: 'gemm|batchedGemm',
  conv2d: 'conv2d',
  attention: 'attention',
  'top-k': 'topK',
  'map|unary|binary': 'unary|binary|run',
  'rows|run|reduce|stages|arithmetic|nodes|forms': 'run|unary|binary|reduce',
};

/** What speaks for the rest of a backend: memory, order, lifetime, calls that differ in one field. */
const OTHER_CASES = String.raw`fixed|memory|lifecycle|order|refus|\w+/sequence|run/(repeat|refuses)`;

/** Tests of built programs, which have no fault in them, and those that judge faults themselves. */
const NEVER = ['**/test/browser/**', '**/test/deno/**', '**/process.test.ts', '**/mutate.test.mjs'];

/**
 * The tests that speak for a source file, the cheapest first: those beside it, those of its package, conformance in
 * `npm test`'s share, all conformance of its op, and the long tests of its package.
 *
 * @param {string} file - from the top of the repository
 * @returns {Stage[]}
 */
export function stagesOf(file) {
  const folder = /^(?:(?:packages|examples|software-devices|docs)\/)?[^/]+/.exec(file)?.[0] ?? '';
  const { name } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const project = String(name).replace('@concord/', '');
  const users = USED_BY[project] ?? [];
  const backends = [project, ...users].filter(hasConformance);
  const beside = besides(file);
  const long = Object.keys(LONG).filter((path) => path.startsWith(`${folder}/`));
  /** @type {readonly (Stage | false)[]} */
  const stages = [
    beside.length > 0 && { project, files: beside, part: 'share' },
    { project, files: [], part: 'share', exclude: [...NEVER, '**/test/conformance.test.ts'] },
    ...users
      .filter((user) => !hasConformance(user))
      .map((user) => ({ project: user, files: [], part: /** @type {const} */ ('share') })),
    ...backends.map((backend) => conformance(backend, '', CONFORMANCE_SHARE)),
    ...backends.slice(0, 1).map((backend) => conformance(backend, casesOf(file), 1)),
    long.length > 0 && { project, files: long, part: 'all', exclude: NEVER },
  ];
  return stages.filter((stage) => stage !== false);
}

/**
 * The tests beside a file: its own where there are some, or else those of its folder.
 *
 * @param {string} file
 */
function besides(file) {
  const own = file.replace(/\.\w+$/, '.test.');
  if (['ts', 'mjs'].some((end) => existsSync(join(root, own + end)))) return [own];
  const folder = dirname(file);
  return readdirSync(join(root, folder)).some((name) => /\.test\.\w+$/.test(name)) ? [`${folder}/`] : [];
}

/** @param {string} project */
function hasConformance(project) {
  return project.startsWith('backend-') && existsSync(join(root, 'packages', project, 'test/conformance.test.ts'));
}

/** @param {string} file */
function casesOf(file) {
  const words = file.slice(file.indexOf('/src/'));
  const found = Object.entries(CASES_OF).find(([names]) => new RegExp(`[/.-](${names})[/.-]`).test(words));
  return found?.[1] ?? OTHER_CASES;
}

/**
 * @param {string} project
 * @param {string} cases - a pattern of the beginnings of their ids
 * @param {number} sample
 * @returns {Stage}
 */
function conformance(project, cases, sample) {
  return {
    project,
    files: [`packages/${project}/test/conformance.test.ts`],
    part: 'all',
    only: `^ ?conformance of [^ ]+ (${cases})`,
    env: { CONCORD_SAMPLE: String(sample) },
  };
}
