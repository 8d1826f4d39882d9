import { type DevicePtr, f16BitsToF32, f32ToF16Bits, isBackendError } from '@concord/backend-core';
import { afterEach, expect, it, vi } from 'vitest';
import { dawnSource } from './client/dawn-source.ts';
import { MATRIX_UNITS } from './client/device-traits.ts';
import { WebGpuBackend } from './index.ts';
import { type RoundTrip, TRIED, wrongHalf } from './trials.ts';

/** A round trip as it should be, of numbers that something was done to before. */
function roundTrip(before = (x: number): number => x): RoundTrip {
  const halves = Uint16Array.from(TRIED, (x) => f32ToF16Bits(before(x)));
  return { halves, widened: Float32Array.from(halves, f16BitsToF32) };
}

const opened: WebGpuBackend[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((backend) => backend.dispose()));
});

async function open(): Promise<WebGpuBackend> {
  const backend = new WebGpuBackend();
  opened.push(backend);
  await backend.init();
  return backend;
}

/** A backend on a device of which nothing is known, and that compiles other code than it is given. */
async function openSpoiled(spoil: (code: string) => string): Promise<WebGpuBackend> {
  const first = await open();
  const methods = Object.getPrototypeOf(first.native.device) as {
    createShaderModule: (this: GPUDevice, descriptor: GPUShaderModuleDescriptor) => GPUShaderModule;
  };
  const create = methods.createShaderModule;
  vi.spyOn(methods, 'createShaderModule').mockImplementation(function (this: GPUDevice, { code, label = '' }) {
    return create.call(this, { code: spoil(code), label });
  });
  // What is known of the device goes with it.
  await first.dispose();
  return open();
}

/** A product of 2 x 2 in f16: 19, 22, 43, 50. */
async function productOn(backend: WebGpuBackend): Promise<number[]> {
  const halves = (values: readonly number[]): DevicePtr => {
    const ptr = backend.alloc(2 * values.length);
    backend.copyHtod(ptr, Uint16Array.from(values, f32ToF16Bits));
    return ptr;
  };
  const c = backend.alloc(8);
  backend.gemmF16({ m: 2, n: 2, k: 2, a: halves([1, 2, 3, 4]), b: halves([5, 6, 7, 8]), c });
  const got = new Uint16Array(4);
  await backend.copyDtoh(got, c);
  return Array.from(got, f16BitsToF32);
}

it('a round trip as it should be has no fault', () => {
  expect(wrongHalf(roundTrip())).toBeUndefined();
});

it('a wrong one has', () => {
  const flushed = roundTrip((x) => (Math.abs(x) < 2 ** -14 ? 0 : x));
  expect(wrongHalf(flushed)).toBe('made 0 of 0.000030517578125, and 0 in float32');
  const truncated = roundTrip((x) => (x === 65520 ? 65504 : x));
  expect(wrongHalf(truncated)).toBe('made 65504 of 65520, and 65504 in float32');
  const { halves, widened } = roundTrip();
  expect(wrongHalf({ halves: halves.slice(0, 8), widened: widened.slice(0, 8) })).toMatch(/^made 0 of 65504/);
});

it('f16 works on a device that offers it', async () => {
  const { device, f16 } = (await open()).native;
  expect(f16).toEqual({ isUsed: device.features.has('shader-f16'), fault: undefined });
});

it('products of f16 do without where it does not compile', async () => {
  const backend = await openSpoiled((code) => (code.includes('enable f16;') ? 'no' : code));
  if (backend.native.device.features.has('shader-f16')) {
    expect(backend.native.f16).toMatchObject({
      isUsed: false,
      fault: expect.stringMatching(/^the trial of f16 failed: .*does not compile/),
    });
    expect(backend.native.matrixUnits.shapes).toEqual([]);
  }
  expect(backend.native.f16.isUsed).toBe(false);
  expect(await productOn(backend)).toEqual([19, 22, 43, 50]);
});

it('numbers are rounded by their bits where packing comes out wrong, and f16 is used all the same', async () => {
  const backend = await openSpoiled((code) => code.replaceAll(/\bpack2x16float\(/g, 'pack2x16float(1.5 * '));
  expect(backend.native.f16).toEqual({ isUsed: true, fault: undefined });
  expect(await productOn(backend)).toEqual([19, 22, 43, 50]);
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
  expect(fault).toMatch(/^the trial of the matrix units failed: .*does not compile/);
  const call = { m: 128, n: 128, k: 64, dtype: 'f16' } as const;
  expect(backend.native.tuning.choices('gemm', call)[0]?.candidates.join()).not.toContain('matrix');
  // Nothing of the trial is left: the backend works.
  const x = backend.alloc(16);
  backend.fill(x, 1, 16);
  await backend.synchronize().catch((error: unknown) => expect.fail(isBackendError(error) ? error.detail : 'failed'));
});
