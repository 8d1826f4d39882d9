import { type Layout, place, read, type TestMemory } from '../../../backend-cpu/test/op-memory.ts';
import type { WebGpuClient } from '../../src/client/webgpu-client.ts';
import type { DeviceTraits, Recorder, Span, StorageBuffer } from '../../src/kernels/recorder.ts';

/** The memory of a client. */
export const memoryOf = (client: WebGpuClient): TestMemory<StorageBuffer> => ({
  make: (bytes) => {
    const buffer = client.allocate(bytes.length);
    client.write({ buffer, byteOffset: 0, byteLength: bytes.length }, bytes);
    return buffer;
  },
  read: async (buffer) => {
    let bytes = new Uint8Array();
    await client.read({ buffer, byteOffset: 0, byteLength: buffer.size }, (data) => (bytes = data.slice()));
    return bytes;
  },
  free: ({ id }) => client.deallocate(id),
});

/** Numbers in their own memory. */
export const upload = (client: WebGpuClient, values: ArrayLike<number>, layout: Layout = {}): Span =>
  place(memoryOf(client), values, layout);

/** The numbers of a span. */
export const download = (client: WebGpuClient, span: Span, dtype: 'f32' | 'f16' = 'f32'): Promise<number[]> =>
  read(memoryOf(client), span, dtype);

/** The recorder, as that of a device with other traits. */
export function pretending(recorder: Recorder, traits: Partial<DeviceTraits>): Recorder {
  return {
    traits: { ...recorder.traits, ...traits },
    launch: (launch) => recorder.launch(launch),
    scratch: (bytes) => recorder.scratch(bytes),
    copy: (dst, src) => recorder.copy(dst, src),
  };
}
