import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { type Fault, faultOf, trialCall, type TrialMultiply, wrongProduct } from '@concord/variants';
import { WebGpuClient } from './client/webgpu-client.ts';
import type { WebGpuOptions } from './client/webgpu-options.ts';
import { f16RoundTrip, ROUND_TRIP_NUMBERS } from './kernels/gemm/finish.wgsl.ts';
import { matrixUnitsTiles } from './kernels/gemm/matrix-units.wgsl.ts';
import { planGemm } from './kernels/gemm/plan.ts';
import type { Span } from './kernels/recorder.ts';

/** The faults that trials of a device found; undefined for what works, and for what the device does not have. */
export interface Faults {
  readonly f16?: string | undefined;
  /** Of `pack2x16float`, in whose place numbers are rounded by their bits. */
  readonly packing?: string | undefined;
  readonly matrixUnits?: string | undefined;
}

/** The results, by device: backends share devices. */
const known = new WeakMap<GPUDevice, Promise<Faults>>();

/**
 * Tries what a client's device offers and may not have, and renounces it where it does not come out right. Never rejects.
 *
 * @param options - those that the client was opened with
 */
export async function tryDevice(client: WebGpuClient, options: WebGpuOptions): Promise<Faults> {
  let trials = known.get(client.device);
  if (trials === undefined) {
    trials = faultsOf(client, options);
    known.set(client.device, trials);
  }
  const faults = await trials;
  if (faults.f16 !== undefined) client.renounceF16();
  else if (client.traits.hasF16 && faults.packing === undefined) client.packHalves();
  if (faults.matrixUnits !== undefined) client.renounceMatrixUnits();
  return faults;
}

async function faultsOf({ traits }: WebGpuClient, options: WebGpuOptions): Promise<Faults> {
  // A device may offer `shader-f16` and compile little of it: naga, the compiler of wgpu, refused what Dawn takes. So before
  // the first kernel with it, a tiny one has to compile and come out right.
  if (!traits.hasF16) return {};
  let packing: string | undefined;
  const f16 = textOf(
    await faultOf('f16', async () => {
      const [byBits, packed] = await roundTripsOn(options);
      packing = wrongHalf(packed);
      return wrongHalf(byBits);
    }),
  );
  if (f16 !== undefined || matrixUnitsTiles(traits).length === 0) return { f16, packing, matrixUnits: f16 };
  // Matrix units are an experiment of Dawn's.
  const multiply = (a: Uint16Array, b: Uint16Array): Promise<Uint16Array> => multiplyOn(options, a, b);
  return { packing, matrixUnits: textOf(await faultOf('the matrix units', () => wrongProduct(SIZES, multiply))) };
}

const textOf = (fault: Fault | undefined): string | undefined =>
  fault && (fault.log === undefined ? fault.reason : `${fault.reason}: ${fault.log}`);

/** {@link TRIED} rounded to binary16, and widened again. */
export interface RoundTrip {
  readonly halves: Uint16Array;
  readonly widened: Float32Array;
}

/** Ties, both limits of overflow, subnormals, and numbers that are none. */
export const TRIED: readonly number[] = [
  ...[0, 1, -1, 0.1, -1000 / 3, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 2049],
  ...[65504, 65519, 65520, -65520, 1e6, -1e30, Infinity, -Infinity],
  ...[2 ** -14, 2 ** -15, 2 ** -24, 3 * 2 ** -25, 2 ** -25, 1.5 * 2 ** -25, 1e-10, -1023 * 2 ** -24],
  ...[NaN, 6.1e-5, -6.1e-5, 5e-5, 12.34, -0.007, 2 ** 15, 3e-6],
];

/** The first number that a round trip spoiled. */
export function wrongHalf({ halves, widened }: RoundTrip): string | undefined {
  const wrong = TRIED.findIndex((value, index) => {
    const want = f16BitsToF32(f32ToF16Bits(value));
    return !Object.is(f16BitsToF32(halves[index] ?? 0), want) || !Object.is(widened[index], want);
  });
  if (wrong < 0) return undefined;
  return `made ${f16BitsToF32(halves[wrong] ?? 0)} of ${TRIED[wrong]}, and ${widened[wrong]} in float32`;
}

/** The round trips by bits and by packing, which are one launch. */
function roundTripsOn(options: WebGpuOptions): Promise<[byBits: RoundTrip, packed: RoundTrip]> {
  const count = ROUND_TRIP_NUMBERS;
  return withTrialClient(options, async ({ client, place, upload, read }) => {
    const storage = { x: upload(Float32Array.from(TRIED)), halves: place(4 * count), widened: place(8 * count) };
    client.record('f16 trial', (recorder) => {
      recorder.launch({ kernel: f16RoundTrip, storage, uniforms: {}, groups: 1 });
    });
    const [halves, widened] = [await read(storage.halves), await read(storage.widened)];
    const from = (first: number): RoundTrip => ({
      halves: new Uint16Array(halves, 2 * first, count),
      widened: new Float32Array(widened, 4 * first, count),
    });
    return [from(0), from(count)];
  });
}

/** Sizes that matrix units take. */
const SIZES = { m: 128, n: 128, k: 64 } as const;

/** Multiplies by the variant that is chosen for such a product. */
function multiplyOn(options: WebGpuOptions, ...[a, b]: Parameters<TrialMultiply>): Promise<Uint16Array> {
  return withTrialClient(options, async ({ client, place, upload, read }) => {
    const operands = { a: upload(a), b: upload(b), c: place(SIZES.m * SIZES.n * 2) };
    client.record('gemmF16', (recorder) => planGemm({ ...trialCall(SIZES), ...operands }, recorder));
    return new Uint16Array(await read(operands.c));
  });
}

/** A client for a trial, which alone takes the harm of a failure, and the memory it works on. */
interface TrialClient {
  readonly client: WebGpuClient;
  readonly place: (bytes: number) => Span;
  readonly upload: (values: ArrayBufferView) => Span;
  readonly read: (span: Span) => Promise<ArrayBuffer>;
}

/** Runs `run` with a client on the device that the options mean. */
async function withTrialClient<T>(options: WebGpuOptions, run: (trial: TrialClient) => Promise<T>): Promise<T> {
  const { device, gpu, dawn, adapter, powerPreference, software } = options;
  const own = { variants: [], tuning: 'ignore' } as const;
  const client = await WebGpuClient.open({ device, gpu, dawn, adapter, powerPreference, software, ...own });
  const place = (bytes: number): Span => ({ buffer: client.allocate(bytes), byteOffset: 0, byteLength: bytes });
  const upload = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Span => {
    const span = place(byteLength);
    client.write(span, new Uint8Array(buffer, byteOffset, byteLength));
    return span;
  };
  const read = async (span: Span): Promise<ArrayBuffer> => {
    let copy = new ArrayBuffer();
    await client.read(span, (bytes) => {
      copy = bytes.slice().buffer;
    });
    return copy;
  };
  try {
    return await run({ client, place, upload, read });
  } finally {
    client.dispose();
  }
}
