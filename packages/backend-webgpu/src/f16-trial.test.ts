import { type DevicePtr, f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { afterEach, expect, it, vi } from 'vitest';
import { faultOfRoundTrip, type RoundTrip } from './f16-trial.ts';
import { WebGpuBackend } from './index.ts';

/** As it should be. */
const roundTrip: RoundTrip = async (values) => {
  const halves = Uint16Array.from(values, f32ToF16Bits);
  return { halves, widened: Float32Array.from(halves, f16BitsToF32) };
};

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

it('a round trip as it should be has no fault', async () => {
  expect(await faultOfRoundTrip(roundTrip)).toBeUndefined();
});

it('a wrong one has', async () => {
  const flushed: RoundTrip = async (values) => roundTrip(values.map((x) => (Math.abs(x) < 2 ** -14 ? 0 : x)));
  expect(await faultOfRoundTrip(flushed)).toBe('f16 of 0.000030517578125 gave 0, and 0 in float32');
  const truncated: RoundTrip = async (values) => roundTrip(values.map((x) => (x === 65520 ? 65504 : x)));
  expect(await faultOfRoundTrip(truncated)).toBe('f16 of 65520 gave 65504, and 65504 in float32');
  const short: RoundTrip = async (values) => roundTrip(values.slice(0, 8));
  expect(await faultOfRoundTrip(short)).toMatch(/^f16 of 65504 gave 0/);
});

it('one that does not run is a fault', async () => {
  expect(await faultOfRoundTrip(() => Promise.reject(new Error('no bitcast')))).toBe('f16 does not work: no bitcast');
});

it('f16 works on a device that offers it', async () => {
  const { device, f16 } = (await open()).native;
  expect(f16).toEqual({ isUsed: device.features.has('shader-f16'), fault: undefined });
});

it('products of f16 do without where it does not compile', async () => {
  const first = await open();
  const methods = Object.getPrototypeOf(first.native.device) as {
    createShaderModule: (this: GPUDevice, descriptor: GPUShaderModuleDescriptor) => GPUShaderModule;
  };
  const create = methods.createShaderModule;
  vi.spyOn(methods, 'createShaderModule').mockImplementation(function (this: GPUDevice, { code, label = '' }) {
    return create.call(this, { code: code.includes('enable f16;') ? 'no' : code, label });
  });
  // What is known of the device goes with it.
  await first.dispose();
  const backend = await open();
  if (backend.native.device.features.has('shader-f16')) {
    expect(backend.native.f16).toMatchObject({
      isUsed: false,
      fault: expect.stringMatching(/^f16 does not work: .*does not compile/),
    });
    expect(backend.native.matrixUnits.shapes).toEqual([]);
  }
  expect(backend.native.f16.isUsed).toBe(false);
  const halves = (values: readonly number[]): DevicePtr => {
    const ptr = backend.alloc(2 * values.length);
    backend.copyHtod(ptr, Uint16Array.from(values, f32ToF16Bits));
    return ptr;
  };
  const c = backend.alloc(8);
  backend.gemmF16({ m: 2, n: 2, k: 2, a: halves([1, 2, 3, 4]), b: halves([5, 6, 7, 8]), c });
  const got = new Uint16Array(4);
  await backend.copyDtoh(got, c);
  expect(Array.from(got, f16BitsToF32)).toEqual([19, 22, 43, 50]);
});
