// @ts-check
// Which tests `npm test` runs, and which only `npm run test:all`.

/** @typedef {'share' | 'rest' | 'all'} TestPart `share` and `rest` are all, with nothing run in both */

/** The part of the conformance suite in the share, on each backend. */
export const CONFORMANCE_SHARE = 0.1;

/** The same on each device beside the first, of which a tenth is run in all. */
const TENTH_SHARE = 0.03;

/** Files of which both parts run something: they read `CONCORD_SAMPLE`, `CONCORD_SAMPLE_AFTER` or `CONCORD_TEST_PART`. */
export const DIVIDED = [
  'packages/backend-cpu/test/conformance.test.ts',
  'packages/backend-levelzero/test/conformance.test.ts',
  'packages/backend-wasm/test/conformance.test.ts',
  'packages/backend-webgpu/test/conformance.test.ts',
  'packages/backend-webgpu/test/browser/chromium.test.ts',
  'packages/backend-webgpu/test/deno/deno.test.ts',
];

/** Files that take long, with the seconds of CPU time that were measured: the rest. */
export const LONG = {
  'docs/site/test/site.test.mjs': 35,
  'docs/site/test/playground.test.ts': 30,
  'docs/site/test/test-my-gpu.test.ts': 20,
  'docs/site/test/lm.test.ts': 15,
  'docs/site/test/train.test.ts': 20,
  'docs/site/test/ocr.test.ts': 30,
  'docs/site/test/recipes.test.ts': 15,
  'docs/site/test/run-program.test.ts': 10,
  'packages/conformance/test/mutants.test.ts': 179,
  'packages/backend-webgpu/src/kernels/gemm/variants.test.ts': 65,
  'packages/backend-webgpu/test/tiny-windows.test.ts': 57,
  'packages/backend-wasm/test/browser/chromium.test.ts': 20,
  'packages/backend-wasm/test/deno.test.ts': 12,
  'packages/backend-webgpu/src/kernels/gemm/epilogue.test.ts': 34,
  'packages/backend-webgpu/src/kernels/attention/variants.test.ts': 46,
  'packages/backend-webgpu/test/gpu-variants.test.ts': 75,
  'packages/onnx/test/node-tests.test.ts': 40,
  'packages/onnx/test/random-graphs.test.ts': 15,
  'packages/onnx/test/hostile.test.ts': 18,
  'packages/onnx/test/real-models.test.ts': 12,
  'examples/lm/test/pytorch.test.ts': 26,
  'examples/ocr/src/program.test.ts': 12,
  'packages/conformance/test/run-cases.test.ts': 43,
  'software-devices/level-zero-cpu/test/driver.test.mjs': 40,
  'examples/minimal-backend/test/conformance.test.ts': 31,
  'packages/backend-levelzero/src/kernels/run/variants.test.ts': 30,
  'packages/backend-levelzero/src/kernels/attention/variants.test.ts': 27,
  'packages/backend-levelzero/test/intel-driver.test.ts': 25,
  'apps/knn-graph/test/knn-graph.test.ts': 25,
  'packages/backend-webgpu/test/fast-math.test.ts': 22,
  'packages/backend-webgpu/test/without-f16.test.ts': 20,
  'bench/test/quick.test.ts': 20,
  'packages/kernel/test/functions.test.ts': 19,
  'packages/backend-webgpu/test/every-plan.test.ts': 14,
  'packages/backend-levelzero/test/gpu-variants.test.ts': 25,
  'packages/backend-levelzero/src/kernels/run/nodes.test.ts': 18,
  'packages/conformance/test/other-devices.test.ts': 14,
  'software-devices/level-zero-cpu/test/setup.test.mjs': 13,
  'packages/backend-webgpu/test/kernels-compile.test.ts': 11,
  'packages/backend-webgpu/src/kernels/conv2d/variants.test.ts': 10,
  'packages/cli/src/commands/conformance.test.ts': 14,
  'packages/cli/test/bun.test.ts': 11,
  'packages/backend-webgpu/test/run-variants.test.ts': 10,
  'examples/attention/test/example.test.ts': 10,
  'software-devices/intel-driver/test/setup.test.mjs': 10,
  'software-devices/vulkan/test/setup.test.mjs': 10,
};

/** How many runs of CI it takes to run all of the rest once. */
export const TURNS = 8;

/** Those that take longest, each in one turn of the rest only. @type {Readonly<Record<string, number>>} */
export const TURN_OF = {
  'packages/backend-webgpu/test/tiny-windows.test.ts': 1,
  'packages/backend-webgpu/src/kernels/conv2d/variants.test.ts': 2,
  'packages/backend-levelzero/src/kernels/run/nodes.test.ts': 3,
  'packages/backend-webgpu/test/deno/deno.test.ts': 3,
  'packages/backend-webgpu/test/gpu-variants.test.ts': 3,
  'docs/site/test/site.test.mjs': 4,
  'packages/backend-levelzero/test/gpu-variants.test.ts': 4,
  'packages/backend-webgpu/src/kernels/gemm/variants.test.ts': 4,
  'packages/backend-webgpu/src/kernels/attention/variants.test.ts': 5,
  'packages/kernel/test/functions.test.ts': 5,
  'examples/minimal-backend/test/conformance.test.ts': 6,
  'packages/backend-levelzero/src/kernels/run/variants.test.ts': 6,
  'packages/backend-webgpu/test/without-f16.test.ts': 6,
  'docs/site/test/ocr.test.ts': 7,
  'packages/backend-levelzero/src/kernels/attention/variants.test.ts': 7,
  'packages/backend-levelzero/test/intel-driver.test.ts': 7,
  'packages/backend-webgpu/src/kernels/gemm/epilogue.test.ts': 7,
  'packages/conformance/test/other-devices.test.ts': 7,
  'bench/test/quick.test.ts': 8,
  'docs/site/test/playground.test.ts': 8,
  'examples/lm/test/pytorch.test.ts': 8,
  'packages/backend-webgpu/test/fast-math.test.ts': 8,
  'packages/backend-webgpu/test/kernels-compile.test.ts': 8,
  'packages/conformance/test/run-cases.test.ts': 8,
};

/** Measured CPU minutes of each part, printed before a run. @type {Record<TestPart, number>} */
export const CPU_MINUTES = { share: 14, rest: 60, all: 74 };

/**
 * The tests of a workspace that belong to a part.
 *
 * @param {TestPart} part
 * @param {string} folder
 * @param {string} [turn] of the rest: 1 to {@link TURNS}; all without
 * @returns {{ include: readonly string[] | undefined, exclude: readonly string[] }} patterns in the folder; no `include` is
 *   all that is not left out
 */
export function testsOf(part, folder, turn = '') {
  const inFolder = (/** @type {readonly string[]} */ files) =>
    files.filter((file) => file.startsWith(`${folder}/`)).map((file) => file.slice(folder.length + 1));
  const long = inFolder(Object.keys(LONG));
  if (part === 'share') return { include: undefined, exclude: long };
  if (part === 'rest') {
    const others = Object.keys(TURN_OF).filter((file) => turn !== '' && TURN_OF[file] !== Number(turn));
    return { include: [...inFolder(DIVIDED), ...long], exclude: inFolder(others) };
  }
  return { include: undefined, exclude: [] };
}

/**
 * The environment of conformance tests in a part.
 *
 * @param {TestPart} part
 * @param {string} [turn] as for {@link testsOf}
 * @returns {Record<string, string>}
 */
export function environmentOf(part, turn = '') {
  if (part === 'share') return { CONCORD_TEST_PART: part, CONCORD_SAMPLE: String(CONFORMANCE_SHARE) };
  if (part === 'all') return {};
  return { CONCORD_TEST_PART: part, ...restOf(CONFORMANCE_SHARE, 1, turn) };
}

/**
 * The environment of conformance tests that run a tenth of the suite.
 *
 * @param {TestPart} part
 * @param {string} [turn] as for {@link testsOf}
 * @returns {{ CONCORD_SAMPLE: string, CONCORD_SAMPLE_AFTER: string }}
 */
export function sampleOfTenth(part, turn = '') {
  if (part === 'rest') return restOf(TENTH_SHARE, 0.1, turn);
  return { CONCORD_SAMPLE: String(part === 'share' ? TENTH_SHARE : 0.1), CONCORD_SAMPLE_AFTER: '0' };
}

/**
 * What lies between two shares of the suite, or one turn of it.
 *
 * @param {number} from
 * @param {number} to
 * @param {string} turn
 */
function restOf(from, to, turn) {
  if (turn !== '' && !(Number.isInteger(Number(turn)) && Number(turn) >= 1 && Number(turn) <= TURNS)) {
    throw new Error(`CONCORD_TEST_TURN must be 1 to ${TURNS}, got ${turn}`);
  }
  const end = (/** @type {number} */ turns) => from + (to - from) * (turns / TURNS);
  return {
    CONCORD_SAMPLE_AFTER: String(end(turn === '' ? 0 : Number(turn) - 1)),
    CONCORD_SAMPLE: String(end(turn === '' ? TURNS : Number(turn))),
  };
}

/**
 * The part that the environment asks for; all tests without.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {TestPart}
 */
export function partOf(env) {
  const part = env['CONCORD_TEST_PART'] || 'all';
  if (part === 'share' || part === 'rest' || part === 'all') return part;
  throw new Error(`CONCORD_TEST_PART must be share, rest or all, got ${part}`);
}
