import * as jax from '@jax-js/jax';
import { materialize } from '@concord/cli/bench';
import { packageVersion } from '../results.ts';
import { notOffered, offered, type Peer, pick } from '../peer.ts';
import { type ByOp, shapesOf } from '../limits/cases.ts';

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
    const { work } = limitCase;
    const compiled = jax.jit(offered(FUNCTIONS, work));
    const { inputs: shapes } = shapesOf(work);
    const inputs = limitCase.inputs.map((each, i) => np.array(materialize(each)).reshape([...(shapes[i] ?? [])]));
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

const FUNCTIONS: Partial<ByOp<(...inputs: jax.Array[]) => jax.Array>> = {
  gemm(work) {
    const { layout = 'NN', padding = 0 } = work;
    if (padding > 0) notOffered(work, 'has no gaps between rows');
    const transposed = (x: jax.Array, side: number): jax.Array => (layout[side] === 'T' ? np.matrixTranspose(x) : x);
    return (a, b) => np.matmul(transposed(a, 0), transposed(b, 1));
  },
  batched_gemm: () => (a, b) => np.matmul(a, b),
  conv2d: ({ stride, padding }) => {
    const pad: [number, number] = [padding, padding];
    return (input, filter) => lax.conv(input, filter, [stride, stride], [pad, pad]);
  },
  attention(work) {
    // Its own dotProductAttention does the same through an einsum that needs Node 22.
    if (work.causal) notOffered(work, 'has no causal attention in Node 20');
    const scale = 1 / Math.sqrt(work.headDim);
    return (q, k, v) => np.matmul(nn.softmax(np.matmul(q, np.matrixTranspose(k)).mul(scale)), v);
  },
  reduce_sum:
    ({ axis }) =>
    (x) =>
      np.sum(x, axis),
  reduce_max:
    ({ axis }) =>
    (x) =>
      np.max(x, axis),
  softmax: () => (x) => nn.softmax(x, 1),
  bias_gelu: () => (x, b) => nn.gelu(np.add(x, b), { approximate: false }),
  layer_norm: () => (x, scale, shift) => nn.standardize(x, 1).mul(scale).add(shift),
  binary_add: () => (a, b) => np.add(a, b),
  unary_exp: () => (x) => np.exp(x),
  unary_tanh: () => (x) => np.tanh(x),
  unary_relu: () => (x) => nn.relu(x),
};
