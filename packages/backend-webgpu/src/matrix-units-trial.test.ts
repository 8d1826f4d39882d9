import { f16BitsToF32, f32ToF16Bits, isBackendError } from '@concord/backend-core';
import { afterEach, expect, it } from 'vitest';
import { dawnSource } from './client/dawn-source.ts';
import { MATRIX_UNITS } from './client/matrix-units.ts';
import { WebGpuBackend } from './index.ts';
import { faultOf, TRIAL, type TrialMultiply } from './matrix-units-trial.ts';

const { m, n, k } = TRIAL;

/** The product as it should be. */
const multiply: TrialMultiply = async (a, b) =>
  Uint16Array.from({ length: m * n }, (_, index) => {
    const [row, column] = [Math.floor(index / n), index % n];
    let sum = 0;
    for (let p = 0; p < k; p++) {
      sum += f16BitsToF32(a[row * k + p] as number) * f16BitsToF32(b[p * n + column] as number);
    }
    return f32ToF16Bits(sum);
  });

it('units that multiply right have no fault', async () => {
  expect(await faultOf(multiply)).toBeUndefined();
});

it('a wrong product is a fault', async () => {
  const right = await multiply(...(await operands()));
  expect(await faultOf(async () => right.map((bits, index) => (index === 777 ? bits ^ 1 : bits)))).toMatch(
    /^the matrix units gave .* instead of .* at row 6, column 9$/,
  );
  const transposed = right.map((_, index) => right[(index % n) * n + Math.floor(index / n)] as number);
  expect(await faultOf(async () => transposed)).toMatch(/^the matrix units gave/);
  expect(await faultOf(async () => right.slice(0, 100))).toMatch(/^the matrix units gave NaN/);
});

it('a product that does not run is a fault', async () => {
  const broken: TrialMultiply = () => Promise.reject(new Error('no such operation'));
  expect(await faultOf(broken)).toBe('the matrix units do not work: no such operation');
});

/** The matrices that are tried. */
async function operands(): Promise<[a: Uint16Array, b: Uint16Array]> {
  return new Promise((resolve, reject) => {
    faultOf(async (a, b) => {
      resolve([a, b]);
      return new Uint16Array();
    }).catch(reject);
  });
}

const opened: WebGpuBackend[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((backend) => backend.dispose()));
});

/** The software device, which says that it has matrix units and does not. */
async function pretender(): Promise<GPU> {
  const source = await dawnSource({ matrixUnits: false }).open();
  if (!source.found) throw new Error(source.message);
  const claim = (features: Iterable<string>): ReadonlySet<string> =>
    new Set([...features, 'shader-f16', 'subgroups', MATRIX_UNITS]);
  const config = { componentType: 'f16', resultComponentType: 'f32', M: 16, N: 16, K: 16 };
  const claimed = { subgroupMinSize: 32, subgroupMaxSize: 32, subgroupMatrixConfigs: [config] };
  const pretend = (adapter: GPUAdapter): object => {
    const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
    const requestDevice = async ({ requiredFeatures = [], ...rest }: GPUDeviceDescriptor): Promise<GPUDevice> => {
      const possible = [...requiredFeatures].filter((feature) => adapter.features.has(feature));
      const made = await source.awaiting(() => adapter.requestDevice({ ...rest, requiredFeatures: possible }));
      return Object.defineProperty(made, 'features', { value: claim(made.features) });
    };
    const info = { vendor, architecture, device, description, isFallbackAdapter, ...claimed };
    return { info, features: claim(adapter.features), limits: adapter.limits, requestDevice };
  };
  const requestAdapter = async (options?: GPURequestAdapterOptions): Promise<object | null> => {
    const adapter = await source.awaiting(() => source.gpu.requestAdapter(options));
    return adapter === null ? null : pretend(adapter);
  };
  return { requestAdapter } as Partial<GPU> as GPU;
}

it('a backend does without units that fail, and says why', async () => {
  const backend = new WebGpuBackend({ gpu: await pretender() });
  opened.push(backend);
  await backend.init();
  const { shapes, fault } = backend.native.matrixUnits;
  expect(shapes).toEqual([]);
  expect(fault).toMatch(/^the matrix units do not work: .*does not compile/);
  const call = { m: 128, n: 128, k: 64, dtype: 'f16' } as const;
  expect(backend.native.tuning.choices('gemm', call)[0]?.candidates.join()).not.toContain('matrix');
  // Nothing of the trial is left: the backend works.
  const x = backend.alloc(16);
  backend.fill(x, 1, 16);
  await backend.synchronize().catch((error: unknown) => expect.fail(isBackendError(error) ? error.detail : 'failed'));
});
