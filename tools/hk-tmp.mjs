// @ts-check
// `hash-kernels [wgsl] [spirv] [wasm]`: a hash of every kernel that the built backends emit, for comparing two commits by
// `diff`. No device is needed: conformance cases run on backends that plan and compute nothing, until they would read a result.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { INTEL_TRAITS } from '../packages/backend-levelzero/test/support/intel-traits.mjs';
import { allKernels } from '../packages/backend-levelzero/test/support/run-samples.mjs';
import { root } from './lib/paths.mjs';

const built = (/** @type {string} */ path) => import(pathToFileURL(join(root, 'packages', path)).href);
const { BaseBackend } = await built('backend-core/dist/implement/index.js');
const { runCase, selectCases } = await built('conformance/dist/index.js');
const wgsl = await built('backend-webgpu/dist/kernels/families.js');
const spirv = { ...(await built('backend-levelzero/dist/kernels/families.js')), allKernels };
const { planCall } = await built('variants/dist/index.js');
const { allKernels: wasmKernels } = await built('backend-wasm/dist/kernels/all-kernels.js');
const { DEFAULT_TRAITS } = await built('backend-webgpu/dist/kernels/recorder.js');

const GPU = { isSoftware: false, hasF16: true, hasSubgroups: true, subgroupSize: 32, maxInvocations: 1024 };
const CPU = { ...INTEL_TRAITS.tgl, isCpuLike: true, subgroupSizes: [], maxGroupSize: 4096, computeUnits: 4 };
const TRAITS = {
  wgsl: { gpu: { ...DEFAULT_TRAITS, ...GPU }, software: { ...DEFAULT_TRAITS, isSoftware: true } },
  spirv: { gpu: INTEL_TRAITS.pvc, cpu: CPU, plain: { ...INTEL_TRAITS.tgl, subgroupSizes: [] } },
  wasm: {
    shared: { hasFma: true, isShared: true, threads: 4 },
    single: { hasFma: false, isShared: false, threads: 1 },
  },
};

/** @param {readonly unknown[]} parts */
function hashOf(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part instanceof Uint8Array ? part : JSON.stringify(part));
  return hash.digest('hex').slice(0, 16);
}
/** WGSL or SPIR-V. @param {{ code?: string, words(): Uint32Array }} kernel */
const codeOf = (kernel) => kernel.code?.replaceAll('team_lane','mate') ?? new Uint8Array(kernel.words().slice().buffer);
/** Numbers of a launch; of memory where it begins. */
const numbersOf = (/** @type {object} */ values) =>
  Object.entries(values).map(([name, value]) => [name, value?.byteOffset ?? value]);

/** The kernels of a backend, whose launches go to `log`. @param {string} language @param {any} traits @param {string[]} log */
function kernelsOf(language, traits, log) {
  const span = (/** @type {number} */ byteLength) => ({ buffer: { id: 1 }, byteOffset: 0, byteLength });
  const launch = (/** @type {any} */ { kernel, code, uniforms, args, groups, tiles }) => {
    if (code !== undefined) log.push(`${code.bytes.length} ${hashOf(code.bytes, [...args], tiles)}`);
    else log.push(hashOf(codeOf(kernel), numbersOf(uniforms ?? args), groups));
  };
  if (language === 'wasm') return wasmKernels({ traits, launch, temporary: () => 64 });
  const { FAMILIES } = language === 'wgsl' ? wgsl : spirv;
  const dtypes = ['f32', 'f16', 'bf16', 'i32', 'u32', 'i8', 'u8'];
  const planned = ['gemm', 'conv2dForward', 'attention', 'topK', 'run'].map((kernel) => {
    const run = (/** @type {object} */ call) => {
      planCall(FAMILIES, { kernel, call }, { traits, launch, notePick() {}, scratch: span, copy() {} });
    };
    return [kernel, { dtypes: kernel === 'run' ? dtypes : dtypes.slice(0, 2), run }];
  });
  return Object.fromEntries(planned);
}

class PlanningBackend extends BaseBackend {
  name = 'planning';
  native = null;
  #address = 64;
  constructor(/** @type {object} */ kernels) {
    super();
    this.kernels = kernels;
  }
  async doInit() {
    const limits = { maxAllocationBytes: 2 ** 30, maxHeadDim: 256, maxTopK: 256 };
    const device = { vendor: 'none', name: 'none', type: 'unknown', driver: 'none' };
    return { device, limits, numerics: { f32Subnormals: 'may-flush' } };
  }
  doAlloc(/** @type {number} */ bytes) {
    const address = this.#address;
    this.#address += 64 + Math.ceil(bytes / 64) * 64;
    return { id: address, address, size: Math.ceil(bytes / 4) * 4, label: '', backing: undefined };
  }
  async doCopyDtoh() {
    throw new Error('nothing was computed');
  }
  async doDispose() {}
  async doSynchronize() {}
  doFree() {}
  doCopyHtod() {}
  doCopyDtod() {}
  doFill() {}
}

const CASES = [
  ...selectCases('run/**'),
  ...['gemm', 'batchedGemm', 'conv2dForward', 'attention', 'topK'].flatMap((op) =>
    selectCases({ filter: `${op}/**`, sample: 0.2 }),
  ),
].filter(({ id }) => !id.endsWith('huge-sizes/call'));
const wanted = process.argv.slice(2);
for (const [language, devices] of Object.entries(TRAITS)) {
  if (wanted.length > 0 && !wanted.includes(language)) continue;
  for (const [device, traits] of Object.entries(devices)) {
    const log = /** @type {string[]} */ ([]);
    const list = language === 'wgsl' ? wgsl : language === 'spirv' ? spirv : { allKernels: () => [] };
    for (const kernel of list.allKernels(traits)) {
      console.log(`${language} ${device} ${kernel.name}: ${hashOf(codeOf(kernel))}`);
    }
    const create = () => new PlanningBackend(kernelsOf(language, traits, log));
    for (const each of CASES) {
      const backend = create();
      await backend.init();
      log.length = 0;
      await runCase(each, backend, create);
      await backend.dispose().catch(() => undefined);
      console.log(`${language} ${device} ${each.id}: ${log.join(' ')}`);
    }
  }
}
