import type { TestMemory } from '../../../backend-cpu/test/op-memory.ts';
import type { LevelZeroClient } from '../../src/device/level-zero-client.ts';
import type { DeviceMemory, Span } from '../../src/kernels/recorder.ts';
import { affine, GROUP } from './kernels.ts';

/** New memory as a span. */
export function memory(client: LevelZeroClient, byteLength: number): Span {
  return { buffer: client.allocate(byteLength), byteOffset: 0, byteLength };
}

/** Part of a span. */
export function slice(span: Span, start: number, byteLength: number): Span {
  return { buffer: span.buffer, byteOffset: span.byteOffset + start, byteLength };
}

/** The bytes of a view. */
export function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** Memory with these floats in it. */
export function upload(client: LevelZeroClient, values: readonly number[] | Float32Array): Span {
  const span = memory(client, 4 * values.length);
  client.write(span, bytesOf(Float32Array.from(values)));
  return span;
}

/** The memory of a client. */
export const memoryOf = (client: LevelZeroClient): TestMemory<DeviceMemory> => ({
  make: (bytes) => {
    const span = memory(client, bytes.length);
    client.write(span, bytes);
    return span.buffer;
  },
  read: (buffer) => readBytes(client, { buffer, byteOffset: 0, byteLength: buffer.size }),
  free: ({ id }) => client.deallocate(id),
});

export async function readBytes(client: LevelZeroClient, span: Span): Promise<Uint8Array> {
  let copy = new Uint8Array();
  await client.read(span, (bytes) => (copy = bytes.slice()));
  return copy;
}

export async function readFloats(client: LevelZeroClient, span: Span): Promise<number[]> {
  return [...new Float32Array((await readBytes(client, span)).buffer)];
}

/** Queues `x = scale * x + shift`. */
export function launchAffine(client: LevelZeroClient, x: Span, scale: number, shift: number): void {
  const count = x.byteLength / 4;
  client.record('affine', (recorder) =>
    recorder.launch({
      kernel: affine,
      args: { x, count, scale, shift },
      groups: [Math.ceil(count / GROUP), 1, 1],
    }),
  );
}
