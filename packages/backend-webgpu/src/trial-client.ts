import { WebGpuClient } from './client/webgpu-client.ts';
import type { WebGpuOptions } from './client/webgpu-options.ts';
import type { Span } from './kernels/recorder.ts';

/** A client for a trial at `init`, which alone takes the harm of a failure, and the memory it works on. */
export interface TrialClient {
  readonly client: WebGpuClient;
  readonly place: (bytes: number) => Span;
  readonly upload: (values: ArrayBufferView) => Span;
  readonly read: (span: Span) => Promise<ArrayBuffer>;
}

/** Runs `run` with a client on the device that the options mean. */
export async function withTrialClient<T>(options: WebGpuOptions, run: (trial: TrialClient) => Promise<T>): Promise<T> {
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
