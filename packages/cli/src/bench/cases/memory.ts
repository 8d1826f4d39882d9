import type { BenchCase, BenchWork } from '../bench-case.ts';
import { materialize, operand } from '../operand.ts';

/** The direction of a copy. */
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
  const values = operand(bytes / 4, 1);
  const base = {
    ...{ inputs: [values], outputLength: values.length, outputDtype: 'f32' as const },
    expected: (index: number) => ({ want: values.at(index), tolerance: 0 }),
  };
  switch (direction) {
    case 'upload': {
      const host = materialize(values);
      return { ...base, inputs: [], call: (backend, _, output) => backend.copyHtod(output, host) };
    }
    case 'device':
      return { ...base, call: (backend, at, output) => backend.copyDtod(output, at(0), bytes) };
    case 'download': {
      const host = new Float32Array(values.length).fill(Number.NaN);
      const call: BenchWork['call'] = (backend, at) => backend.copyDtoh(host, at(0));
      return { ...base, outputLength: 0, call, hostResult: () => host };
    }
  }
}
