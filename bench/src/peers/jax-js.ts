import * as jax from '@jax-js/jax';
import { packageVersion } from '../machine.ts';
import { type Peer, type Prepared, unexpected } from '../peer.ts';
import type { Work } from '../work.ts';

const { lax, nn, numpy: np } = jax;

/**
 * jax-js on WebGPU, each case compiled by `jit`. It is lazy: a result that is given up before it was waited for is never
 * computed, so all of a round are kept until then.
 */
export const jaxJs: Peer = {
  name: 'jax-js',
  version: packageVersion('@jax-js/jax'),
  ops: ['gemm', 'conv2d', 'attention', 'add', 'sum'],
  async prepare(work: Work): Promise<Prepared> {
    await jax.init('webgpu');
    jax.defaultDevice('webgpu');
    const { inputs, compute } = bind(work);
    const compiled = jax.jit(compute);
    let results: jax.Array[] = [];
    return {
      run: () => {
        // Every use of an array consumes a reference to it.
        results.push(compiled(...inputs.map((input) => input.ref)));
      },
      wait: async () => {
        await jax.blockUntilReady(results);
        for (const old of results.slice(0, -1)) old.dispose();
        results = results.slice(-1);
      },
      result: async () => (await (results[0] as jax.Array).ref.data()) as Float32Array,
      close: async () => {
        for (const array of [...inputs, ...results]) array.dispose();
      },
    };
  },
};

interface Bound {
  readonly inputs: readonly jax.Array[];
  readonly compute: (...inputs: jax.Array[]) => jax.Array;
}

function bind(work: Work): Bound {
  const array = (data: Float32Array, shape: readonly number[]): jax.Array => np.array(data).reshape([...shape]);
  switch (work.op) {
    case 'gemm':
      return {
        inputs: [array(work.a, [work.m, work.k]), array(work.b, [work.k, work.n])],
        compute: (a, b) => np.matmul(a, b),
      };
    case 'conv2d': {
      const { channels, size, filters, window, padding } = work;
      const pad: [number, number] = [padding, padding];
      return {
        inputs: [array(work.input, [1, channels, size, size]), array(work.filter, [filters, channels, window, window])],
        compute: (input, filter) => lax.conv(input, filter, [1, 1], [pad, pad]),
      };
    }
    case 'attention': {
      // Its own dotProductAttention does the same through an einsum that needs Node 22.
      const { heads, seq, headDim } = work;
      const scale = 1 / Math.sqrt(headDim);
      return {
        inputs: [work.q, work.k, work.v].map((data) => array(data, [heads, seq, headDim])),
        compute: (q, k, v) => {
          const scores = np.matmul(q, np.matrixTranspose(k)).mul(scale);
          return np.matmul(nn.softmax(scores), v);
        },
      };
    }
    case 'add':
      return {
        inputs: [array(work.a, [work.n]), array(work.b, [work.n])],
        compute: (a, b) => np.add(a, b),
      };
    case 'sum':
      return {
        inputs: [array(work.x, [work.n])],
        compute: (x) => np.sum(x),
      };
    default:
      return unexpected(work);
  }
}
