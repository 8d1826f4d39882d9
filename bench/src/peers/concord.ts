import { type ComputeBackend, type DevicePtr, download, upload } from '@concord/backend-core';
import type { Peer, Prepared } from '../peer.ts';
import { resultLength } from '../naive.ts';
import type { Work } from '../work.ts';

/** One of our backends through its public interface, checks of pointers and sizes included. */
export function concord(version: string, create: () => ComputeBackend): Peer {
  return {
    name: 'concord',
    version,
    ops: ['gemm', 'conv2d', 'attention', 'add', 'relu', 'sum', 'sumRows'],
    async prepare(work: Work): Promise<Prepared> {
      const backend = create();
      await backend.init();
      const place = (data: Float32Array): DevicePtr => upload(backend, data);
      const output = place(new Float32Array(resultLength(work)));
      return {
        run: bind(backend, work, place, output),
        wait: () => backend.synchronize(),
        result: () => download(backend, output, resultLength(work)),
        close: () => backend.dispose(),
      };
    },
  };
}

function bind(
  backend: ComputeBackend,
  work: Work,
  place: (data: Float32Array) => DevicePtr,
  output: DevicePtr,
): () => void {
  switch (work.op) {
    case 'gemm': {
      const { m, n, k } = work;
      const call = { m, n, k, a: place(work.a), b: place(work.b), c: output };
      return () => backend.gemm(call);
    }
    case 'conv2d': {
      const { channels, size, filters, window, padding } = work;
      const outputSize = size + 2 * padding - window + 1;
      const call = {
        input: place(work.input),
        inputShape: [1, channels, size, size],
        filter: place(work.filter),
        filterShape: [filters, channels, window, window],
        output,
        outputShape: [1, filters, outputSize, outputSize],
        stride: [1, 1],
        padding: [padding, padding],
      };
      return () => backend.conv2dForward(call);
    }
    case 'attention': {
      const { heads, seq, headDim } = work;
      const [q, k, v] = [place(work.q), place(work.k), place(work.v)];
      const scale = 1 / Math.sqrt(headDim);
      const call = { q, k, v, o: output, batch: 1, heads, seqQ: seq, seqKv: seq, headDim, scale };
      return () => backend.attention(call);
    }
    case 'add': {
      const call = { op: 'add', n: work.n, a: place(work.a), b: place(work.b), output } as const;
      return () => backend.binary(call);
    }
    case 'relu': {
      const call = { op: 'relu', n: work.n, input: place(work.x), output } as const;
      return () => backend.unary(call);
    }
    case 'sum': {
      const call = { op: 'sum', shape: [work.n], axis: 0, input: place(work.x), output } as const;
      return () => backend.reduce(call);
    }
    case 'sumRows': {
      const call = { op: 'sum', shape: [work.rows, work.columns], axis: 1, input: place(work.x), output } as const;
      return () => backend.reduce(call);
    }
  }
}
