// @ts-check

/**
 * Tests that are run together, as vitest is asked for them.
 *
 * @typedef {object} Stage
 * @property {string} project
 * @property {readonly string[]} files
 * @property {readonly string[]} [exclude]
 * @property {string} [only] - a pattern of test names
 * @property {Record<string, string>} [env]
 */

/** The folders of kernels, and the conformance cases that speak for each. */
const CASES_OF = {
  gemm: 'gemm|batchedGemm|gemmF16',
  conv2d: 'conv2dForward',
  attention: 'attention',
  'top-k': 'topK',
  map: 'unary|binary|run',
  rows: 'reduce|run',
  run: 'run',
  stages: 'run|unary|binary|reduce',
  arithmetic: 'run|unary|binary|reduce',
  epilogue: 'gemm|conv2dForward|batchedGemm',
  memory: 'memory|fixed|lifecycle',
  wgsl: 'gemmF16|attention|run',
};

/** The tests for the rest of a backend: memory, order and lifetime. */
const DRIVER_CASES = 'fixed|memory|lifecycle|run/(sequence|repeat|refuses)|gemm';

/** Calls that differ in one field, operands at every offset, every edge: of every op. */
const SEQUENCES = String.raw`\w+/sequence`;

/**
 * The tests that speak for a source file, the cheapest first; a fault in it is looked for in each until one fails.
 *
 * @param {string} file - from the top of the repository
 * @returns {Stage[]}
 */
export function stagesOf(file) {
  const [, name = '', , folder = '', below = ''] = file.split('/');
  const source = `packages/${name}/src`;
  switch (name) {
    case 'backend-core':
      return [
        unit(name, [file.split('/').length > 4 ? `${source}/${folder}/` : `${source}/`], ['**/f16.test.ts']),
        ...(folder === 'host' ? [unit(name, [`${source}/host/`])] : []),
        unit(name, [`${source}/`], ['**/f16.test.ts']),
        conformance('backend-cpu', 'fixed|order|refus|lifecycle|memory|gemm|topK|attention|conv2dForward', '0.05'),
        conformance('backend-cpu', '.', '0.03'),
      ];
    case 'backend-cpu':
      return folder === 'reference'
        ? [unit(name, [`${source}/reference/`]), unit(name, [`packages/${name}/test/interval`])]
        : [
            unit(name, [`${source}/kernels/`]),
            conformance(name, casesOfFile(file), '0.2'),
            conformance(name, '(?!.*/long/)', '0.05'),
          ];
    case 'kernel':
      return sharedKernelStages(folder);
    case 'variants':
      return [
        unit('backend-webgpu', ['packages/backend-webgpu/src/kernels/plan-cache']),
        unit(name, ['packages/variants/']),
        conformance('backend-webgpu', '.', '0.05'),
      ];
    case 'spirv-builder':
      return [unit(name, [`packages/${name}/`])];
    case 'backend-wasm':
      return wasmStages(folder, below);
    case 'backend-webgpu':
      return folder === 'kernels' ? kernelStages(name, below) : webgpuDriver();
    default:
      return folder === 'kernels' ? kernelStages(name, below) : levelZeroDriver();
  }
}

/** @param {string} folder */
function sharedKernelStages(folder) {
  const tests = 'packages/kernel/test/';
  if (folder === 'evaluate') {
    return [unit('kernel', [`${tests}evaluate`]), conformance('backend-cpu', 'run|unary|binary|reduce', '0.06')];
  }
  const onDevice = conformance('backend-webgpu', 'run|unary|binary|reduce', '0.1');
  return folder === 'schedule'
    ? [
        unit('kernel', ['packages/kernel/src/schedule/']),
        unit('backend-webgpu', ['packages/backend-webgpu/src/kernels/r'], VARIANTS),
        onDevice,
      ]
    : [
        unit(
          'kernel',
          ['exact-nodes', 'folds', 'node-lowering'].map((each) => tests + each),
        ),
        onDevice,
      ];
}

const VARIANTS = ['**/variants.test.ts', '**/epilogue.test.ts'];

/**
 * @param {string} name
 * @param {string} below
 */
function kernelStages(name, below) {
  const folder = below.endsWith('.ts') ? '' : `${below}/`;
  const kernels = `packages/${name}/src/kernels/`;
  const device = name === 'backend-webgpu' ? ['plan-cache'] : ['plan-cache', 'cuts', 'op-runner'];
  const pattern = /** @type {Record<string, string>} */ (CASES_OF)[below] ?? 'gemm|conv2dForward|attention|run|memory';
  const own = ['gemm', 'conv2d', 'attention', 'top-k'].includes(below);
  const quick = unit(name, folder === '' ? device.map((each) => `${kernels}${each}`) : [kernels + folder], VARIANTS);
  return [
    ...(['map', 'epilogue', 'stages', 'arithmetic', 'wgsl'].includes(below) ? [] : [quick]),
    conformance(name, pattern, own ? '0.25' : '0.12'),
    ...(own || below === 'epilogue'
      ? [unit(name, [`${kernels}${below === 'epilogue' ? 'gemm' : below}/`])]
      : [unit(name, ON_DEVICE.map((each) => `packages/${name}/test/${each}`).concat(`${kernels}grid`))]),
    // For faults that the stages before have not noticed.
    conformance(name, `${pattern}|${SEQUENCES}`, '1'),
  ];
}

/** Tests on the device that need seconds, as far as a backend has them. */
const ON_DEVICE = ['run.test', 'run-gathers', 'tiny-windows', 'on-device', 'client', 'driver-rules'];

function webgpuDriver() {
  const tests = 'packages/backend-webgpu/test/';
  return [
    unit('backend-webgpu', ['packages/backend-webgpu/src/client/']),
    conformance('backend-webgpu', DRIVER_CASES, '0.1'),
    unit(
      'backend-webgpu',
      ['client', 'batching', 'faults', 'pipelines', 'prepare', 'record', 'run.test', 'on-device'].map(
        (each) => tests + each,
      ),
    ),
    unit('backend-webgpu', [
      `${tests}small-allocations`,
      `${tests}steady-memory`,
      `${tests}supports`,
      'packages/backend-webgpu/src/kernels/plan-cache',
    ]),
    conformance('backend-webgpu', `${DRIVER_CASES}|${SEQUENCES}`, '1'),
  ];
}

/**
 * @param {string} folder
 * @param {string} below
 */
function wasmStages(folder, below) {
  const [source, tests] = ['packages/backend-wasm/src/', 'packages/backend-wasm/test/'];
  const isKernel = folder === 'kernels' && below !== 'memory';
  const cases = isKernel ? (/** @type {Record<string, string>} */ (CASES_OF)[below] ?? '.') : DRIVER_CASES;
  return [
    ...(folder.endsWith('.ts') ? [unit('backend-wasm', [`${source}scoped`, `${tests}options`])] : []),
    ...(folder.endsWith('.ts') || below === 'memory' ? [] : [unit('backend-wasm', [`${source}${folder}/`])]),
    ...(isKernel ? [] : [unit('backend-wasm', [`${tests}machines`])]),
    conformance('backend-wasm', cases, '0.15'),
    ...(isKernel ? [] : [unit('backend-wasm', [`${tests}faults`])]),
    conformance('backend-wasm', `${cases}|${SEQUENCES}`, '1'),
  ];
}

function levelZeroDriver() {
  const folder = 'packages/backend-levelzero/';
  return [
    unit('backend-levelzero', [`${folder}src/device/`, `${folder}src/ffi/`, `${folder}src/op-runner`]),
    conformance('backend-levelzero', DRIVER_CASES, '0.1'),
    unit(
      'backend-levelzero',
      ['client', 'driver-rules', 'faults', 'lists', 'waits', 'lost', 'leaks', 'module-cache', 'native', 'left-out'].map(
        (each) => `${folder}test/${each}`,
      ),
    ),
    conformance('backend-levelzero', `${DRIVER_CASES}|${SEQUENCES}`, '1'),
  ];
}

/** @param {string} file */
function casesOfFile(file) {
  const found = Object.entries(CASES_OF).find(([op]) => new RegExp(`/${op}[-.]`).test(file));
  return found?.[1] ?? 'gemm|batchedGemm|gemmF16|conv2dForward|attention';
}

/**
 * @param {string} project
 * @param {readonly string[]} files
 * @param {readonly string[]} [exclude]
 * @returns {Stage}
 */
function unit(project, files, exclude) {
  return { project, files, ...(exclude === undefined ? {} : { exclude }) };
}

/**
 * @param {string} project
 * @param {string} cases - a pattern of the beginnings of their ids
 * @param {string} sample
 * @returns {Stage}
 */
function conformance(project, cases, sample) {
  return {
    project,
    files: [`packages/${project}/test/conformance.test.ts`],
    only: `^ ?conformance of [^ ]+ (${cases})`,
    env: { CONCORD_SAMPLE: sample },
  };
}
