import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { WebGpuClient } from './client/webgpu-client.ts';
import type { WebGpuOptions } from './client/webgpu-options.ts';
import { f16RoundTrip, ROUND_TRIP_NUMBERS } from './kernels/gemm/f16-round-trip.wgsl.ts';
import { withTrialClient } from './trial-client.ts';

// A device may offer `shader-f16` and compile little of it: naga, the compiler of wgpu, refused what Dawn takes. So before
// the first kernel with it, a tiny one has to compile and come out right.

/** Rounds numbers to binary16 and widens them again. */
export type RoundTrip = (
  values: Float32Array<ArrayBuffer>,
) => Promise<{ readonly halves: Uint16Array; readonly widened: Float32Array }>;

/** Ties, both limits of overflow, subnormals, and numbers that are none. */
const VALUES: readonly number[] = [
  ...[0, 1, -1, 0.1, -1000 / 3, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 2049],
  ...[65504, 65519, 65520, -65520, 1e6, -1e30, Infinity, -Infinity],
  ...[2 ** -14, 2 ** -15, 2 ** -24, 3 * 2 ** -25, 2 ** -25, 1.5 * 2 ** -25, 1e-10, -1023 * 2 ** -24],
  ...[NaN, 6.1e-5, -6.1e-5, 5e-5, 12.34, -0.007, 2 ** 15, 3e-6],
];

/** The results, by device: backends share devices. */
const faults = new WeakMap<GPUDevice, Promise<string | undefined>>();

/**
 * Why `f16` is not to be used in the kernels of a client's device; undefined where it is not offered, or where it works.
 * Never rejects.
 *
 * @param options - those that the client was opened with
 */
export function f16Fault(client: WebGpuClient, options: WebGpuOptions): Promise<string | undefined> {
  let fault = faults.get(client.device);
  if (fault === undefined) {
    fault = client.traits.hasF16
      ? faultOfRoundTrip((values) => roundTripOn(options, values))
      : Promise.resolve(undefined);
    faults.set(client.device, fault);
  }
  return fault;
}

/** The fault in a device's round trip. */
export async function faultOfRoundTrip(roundTrip: RoundTrip): Promise<string | undefined> {
  let got: Awaited<ReturnType<RoundTrip>>;
  try {
    got = await roundTrip(Float32Array.from(VALUES));
  } catch (error) {
    return `f16 does not work: ${(error as Error).message}`;
  }
  const { halves, widened } = got;
  const wrong = VALUES.findIndex((value, index) => {
    const want = f16BitsToF32(f32ToF16Bits(value));
    return !Object.is(f16BitsToF32(halves[index] ?? 0), want) || !Object.is(widened[index], want);
  });
  if (wrong < 0) return undefined;
  const half = f16BitsToF32(halves[wrong] ?? 0);
  return `f16 of ${VALUES[wrong]} gave ${half}, and ${widened[wrong]} in float32`;
}

function roundTripOn(options: WebGpuOptions, values: Float32Array<ArrayBuffer>): ReturnType<RoundTrip> {
  return withTrialClient(options, async ({ client, place, upload, read }) => {
    const storage = {
      x: upload(values),
      halves: place(2 * ROUND_TRIP_NUMBERS),
      widened: place(4 * ROUND_TRIP_NUMBERS),
    };
    client.record('f16 trial', (recorder) => {
      recorder.launch({ kernel: f16RoundTrip, storage, uniforms: {}, groups: 1 });
    });
    const halves = new Uint16Array(await read(storage.halves));
    return { halves, widened: new Float32Array(await read(storage.widened)) };
  });
}
