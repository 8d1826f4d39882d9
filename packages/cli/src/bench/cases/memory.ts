import type { BenchCase, BenchWork } from '../bench-case.ts';
import { noise } from '../noise.ts';

/** Which way a copy goes. */
export type CopyDirection = 'upload' | 'download' | 'device';

const TEXT: Readonly<Record<CopyDirection, string>> = {
  upload: 'host to device',
  download: 'device to host',
  device: 'within the device',
};

/** A copy of `bytes` bytes. Within the device each is read and written; from or to the host it counts once. */
export function copyCase(direction: CopyDirection, bytes: number): BenchCase {
  const size = `${bytes / 2 ** 20} MiB`;
  return {
    id: `memory/${direction}/${bytes}`,
    op: 'memory',
    title: `copy ${TEXT[direction]}, ${size}`,
    unit: 'GB/s',
    flops: 0,
    bytes: direction === 'device' ? 2 * bytes : bytes,
    prepare: () => workOf(direction, bytes),
  };
}

function workOf(direction: CopyDirection, bytes: number): BenchWork {
  const values = noise(bytes / 4, 12);
  const inputs = [{ values, dtype: 'f32' as const }];
  const base = {
    ...{ outputLength: values.length, outputDtype: 'f32' as const },
    expected: (index: number) => ({ want: values[index] as number, tolerance: 0 }),
  };
  switch (direction) {
    case 'upload':
      return { ...base, inputs: [], call: (backend, _, output) => backend.copyHtod(output, values) };
    case 'device':
      return { ...base, inputs, call: (backend, operand, output) => backend.copyDtod(output, operand(0), bytes) };
    case 'download': {
      const host = new Float32Array(values.length).fill(Number.NaN);
      const call: BenchWork['call'] = (backend, operand) => backend.copyDtoh(host, operand(0));
      return { ...base, inputs, outputLength: 0, call, hostResult: () => host };
    }
  }
}
