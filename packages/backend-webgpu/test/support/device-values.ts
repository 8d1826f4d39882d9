import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { WebGpuClient } from '../../src/client/webgpu-client.ts';
import type { DeviceTraits, Recorder, Span } from '../../src/kernels/recorder.ts';

/** The storage of numbers in memory. */
interface Layout {
  readonly dtype?: 'f32' | 'f16';
  /** Elements in front of the first. */
  readonly lead?: number;
}

/** Small integers, for which every order of summation gives the same bits. */
export function integers(length: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => ((Math.imul(i + seed, 0x9e3779b1) >>> 16) % 5) - 2);
}

/** Numbers in their own memory. */
export function upload(
  client: WebGpuClient,
  values: ArrayLike<number>,
  { dtype = 'f32', lead = 0 }: Layout = {},
): Span {
  const stored = dtype === 'f16' ? Uint16Array.from(values, f32ToF16Bits) : Float32Array.from(values);
  const byteOffset = lead * stored.BYTES_PER_ELEMENT;
  const words = new Uint8Array(Math.ceil((byteOffset + stored.byteLength) / 4) * 4);
  words.set(new Uint8Array(stored.buffer), byteOffset);
  const buffer = client.allocate(words.length);
  client.write({ buffer, byteOffset: 0, byteLength: words.length }, words);
  return { buffer, byteOffset, byteLength: stored.byteLength };
}

/** The numbers of a span. */
export async function download(
  client: WebGpuClient,
  { buffer, byteOffset, byteLength }: Span,
  dtype: 'f32' | 'f16' = 'f32',
): Promise<number[]> {
  let values: number[] = [];
  await client.read({ buffer, byteOffset: 0, byteLength: buffer.size }, (data) => {
    const bytes = data.slice(byteOffset, byteOffset + byteLength).buffer;
    values = dtype === 'f16' ? Array.from(new Uint16Array(bytes), f16BitsToF32) : [...new Float32Array(bytes)];
  });
  return values;
}

/** The recorder, as that of a device with other traits. */
export function pretending(recorder: Recorder, traits: Partial<DeviceTraits>): Recorder {
  return {
    traits: { ...recorder.traits, ...traits },
    launch: (launch) => recorder.launch(launch),
    scratch: (bytes) => recorder.scratch(bytes),
    copy: (dst, src) => recorder.copy(dst, src),
  };
}
