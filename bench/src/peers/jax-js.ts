import * as jax from '@jax-js/jax';
import type { LimitCase } from '../limits/cases.ts';
import { materialize } from '@concord/cli/bench';
import { packageVersion } from '../machine.ts';
import { notOffered, type Peer, pick } from '../peer.ts';
import type { AttentionWork, RowsWork, Work } from '../work.ts';

const { lax, nn, numpy: np } = jax;

/**
 * jax-js on WebGPU, each case compiled by `jit`. It is lazy: a result that is given up before it was waited for is never
 * computed, so all of a round are kept until then.
 */
export const jaxJs: Peer = {
  name: 'jax-js',
  role: 'peer',
  version: packageVersion('@jax-js/jax'),
  async prepare(limitCase) {
    await jax.init('webgpu');
    jax.defaultDevice('webgpu');
    const { shapes, compute } = bind(limitCase.work);
    const inputs = place(limitCase, shapes);
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
      entries: async (indices) => {
        const data = (await (results[0] as jax.Array).ref.data()) as Float32Array;
        return pick(data, limitCase, indices);
      },
      close: async () => {
        for (const array of [...inputs, ...results]) array.dispose();
      },
    };
  },
};

function place(limitCase: LimitCase, shapes: Bound['shapes']): jax.Array[] {
  const arrays = limitCase.inputs.map(materialize);
  return shapes.map((shape, i) => np.array(arrays[i] as Float32Array).reshape([...shape]));
}

interface Bound {
  /** Of the inputs. */
  readonly shapes: readonly (readonly number[])[];
  readonly compute: (...inputs: jax.Array[]) => jax.Array;
}

function bind(work: Work): Bound {
  switch (work.op) {
    case 'gemm': {
      const { m, n, k, layout = 'NN', padding = 0 } = work;
      if (padding > 0) notOffered(work, 'has no gaps between rows');
      const [transA, transB] = [layout[0] === 'T', layout[1] === 'T'];
      const turned = (x: jax.Array, isTransposed: boolean): jax.Array => (isTransposed ? np.matrixTranspose(x) : x);
      return {
        shapes: [transA ? [k, m] : [m, k], transB ? [n, k] : [k, n]],
        compute: (a, b) => np.matmul(turned(a, transA), turned(b, transB)),
      };
    }
    case 'batched_gemm': {
      const { batch, m, n, k } = work;
      const shapes = [
        [batch, m, k],
        [batch, k, n],
      ];
      return { shapes, compute: (a, b) => np.matmul(a, b) };
    }
    case 'conv2d': {
      const { n, c, hw, k, f, stride, padding } = work;
      const pad: [number, number] = [padding, padding];
      const shapes = [
        [n, c, hw, hw],
        [k, c, f, f],
      ];
      return { shapes, compute: (input, filter) => lax.conv(input, filter, [stride, stride], [pad, pad]) };
    }
    case 'attention':
      return attention(work);
    case 'reduce_sum':
    case 'reduce_max': {
      const { op, shape, axis } = work;
      return { shapes: [shape], compute: (x) => (op === 'reduce_sum' ? np.sum(x, axis) : np.max(x, axis)) };
    }
    case 'softmax':
    case 'layer_norm':
    case 'bias_gelu':
      return rows(work);
    case 'binary_add':
      return { shapes: [[work.n], [work.n]], compute: (a, b) => np.add(a, b) };
    case 'unary_exp':
    case 'unary_tanh':
    case 'unary_relu': {
      const apply = { unary_exp: np.exp, unary_tanh: np.tanh, unary_relu: nn.relu }[work.op];
      return { shapes: [[work.n]], compute: (x) => apply(x) };
    }
    default:
      return notOffered(work);
  }
}

/** Its own dotProductAttention does the same through an einsum that needs Node 22. */
function attention(work: AttentionWork): Bound {
  const { batch, heads, seqQ, seqKv, headDim, causal } = work;
  if (causal) notOffered(work, 'has no causal attention in Node 20');
  const scale = 1 / Math.sqrt(headDim);
  return {
    shapes: [seqQ, seqKv, seqKv].map((seq) => [batch * heads, seq, headDim]),
    compute: (q, k, v) => np.matmul(nn.softmax(np.matmul(q, np.matrixTranspose(k)).mul(scale)), v),
  };
}

function rows({ op, rows: count, columns }: RowsWork): Bound {
  const matrix = [count, columns];
  if (op === 'softmax') return { shapes: [matrix], compute: (x) => nn.softmax(x, 1) };
  if (op === 'bias_gelu') {
    return { shapes: [matrix, [columns]], compute: (x, b) => nn.gelu(np.add(x, b), { approximate: false }) };
  }
  return {
    shapes: [matrix, [columns], [columns]],
    compute: (x, scale, shift) => nn.standardize(x, 1).mul(scale).add(shift),
  };
}
