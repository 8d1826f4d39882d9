import * as tf from '@tensorflow/tfjs-core';
import type { LimitCase } from '../limits/cases.ts';
import { materialize } from '@concord/cli/bench';
import { notOffered, type Peer, pick } from '../peer.ts';
import { EPS } from '../kernels/cases.ts';
import type { AttentionWork, BatchedGemmWork, Conv2dWork, GemmWork, ReduceWork, RowsWork } from '../work.ts';

/** What one of the backends of TensorFlow.js needs. */
export interface TfjsBackend {
  readonly name: string;
  readonly version: string;
  /** The name that `tf.setBackend` takes. */
  readonly backend: string;
  readonly isApart?: boolean;
  /** Before the first case. */
  readonly setUp?: () => Promise<void>;
  /** Resolves when the result is there, for a backend that only queues. */
  readonly wait?: (result: tf.Tensor) => Promise<void>;
}

/** TensorFlow.js as a peer. */
export function tfjs({ name, version, backend, isApart = false, setUp, wait }: TfjsBackend): Peer {
  // One backend is the current one of the whole process.
  const resume = async (): Promise<void> => {
    if (!(await tf.setBackend(backend))) throw new Error(`tfjs could not start its backend ${backend}`);
  };
  return {
    name,
    role: 'peer',
    version,
    isApart,
    async prepare(limitCase) {
      tf.env().set('IS_NODE', false); // keeps its advertisement for the native package out of the output
      await setUp?.();
      await resume();
      const { inputs, compute } = bind(limitCase);
      let result: tf.Tensor | undefined;
      return {
        resume,
        run: () => {
          result?.dispose();
          result = tf.tidy(compute);
        },
        ...(wait === undefined ? {} : { wait: async () => (result === undefined ? undefined : wait(result)) }),
        entries: async (indices) => {
          if (result === undefined) return [];
          const packed = tf.tidy(() => rowMajor(result as tf.Tensor));
          const data = await packed.data();
          if (packed.id !== result.id) packed.dispose();
          return pick(data, limitCase, indices);
        },
        close: async () => {
          await resume();
          tf.dispose([...inputs, ...(result === undefined ? [] : [result])]);
        },
      };
    },
  };
}

/** Channels first again: only batches of images have four dimensions here. */
function rowMajor(result: tf.Tensor): tf.Tensor {
  return result.rank === 4 ? tf.transpose(result, [0, 3, 1, 2]) : result;
}

interface Bound {
  readonly inputs: readonly tf.Tensor[];
  readonly compute: () => tf.Tensor;
}

function bind(limitCase: LimitCase): Bound {
  const { work } = limitCase;
  const arrays = limitCase.inputs.map(materialize);
  const place = <R extends tf.Rank>(which: number, shape: tf.ShapeMap[R]): tf.Tensor<R> =>
    tf.tensor<R>(arrays[which] as Float32Array, shape);
  switch (work.op) {
    case 'gemm':
      return gemm(work, place);
    case 'batched_gemm':
      return batchedGemm(work, place);
    case 'conv2d':
      return conv2d(work, place);
    case 'attention':
      return attention(work, place);
    case 'reduce_sum':
    case 'reduce_max':
      return reduce(work, place);
    case 'softmax':
    case 'layer_norm':
    case 'bias_gelu':
      return rows(work, place);
    case 'binary_add': {
      const [a, b] = [place(0, [work.n]), place(1, [work.n])];
      return { inputs: [a, b], compute: () => tf.add(a, b) };
    }
    case 'unary_exp':
    case 'unary_tanh':
    case 'unary_relu': {
      const x = place(0, [work.n]);
      const apply = { unary_exp: tf.exp, unary_tanh: tf.tanh, unary_relu: tf.relu }[work.op] as (
        x: tf.Tensor,
      ) => tf.Tensor;
      return { inputs: [x], compute: () => apply(x) };
    }
    default:
      return notOffered(work);
  }
}

type Place = <R extends tf.Rank>(which: number, shape: tf.ShapeMap[R]) => tf.Tensor<R>;

function gemm(work: GemmWork, place: Place): Bound {
  const { m, n, k, layout = 'NN', padding = 0 } = work;
  if (padding > 0) notOffered(work, 'has no gaps between rows');
  const [transA, transB] = [layout[0] === 'T', layout[1] === 'T'];
  const a = place<tf.Rank.R2>(0, transA ? [k, m] : [m, k]);
  const b = place<tf.Rank.R2>(1, transB ? [n, k] : [k, n]);
  return { inputs: [a, b], compute: () => tf.matMul(a, b, transA, transB) };
}

function batchedGemm({ batch, m, n, k }: BatchedGemmWork, place: Place): Bound {
  const [a, b] = [place<tf.Rank.R3>(0, [batch, m, k]), place<tf.Rank.R3>(1, [batch, k, n])];
  return { inputs: [a, b], compute: () => tf.matMul(a, b) };
}

function conv2d({ n, c, hw, k, f, stride, padding }: Conv2dWork, place: Place): Bound {
  // Channels last is what it is written for (its CPU backend has nothing else); the transposes are not timed.
  const moved = (which: number, shape: [number, number, number, number], order: number[]): tf.Tensor4D =>
    tf.tidy(() => tf.transpose<tf.Tensor4D>(place<tf.Rank.R4>(which, shape), order));
  const images = moved(0, [n, c, hw, hw], [0, 2, 3, 1]);
  const filters = moved(1, [k, c, f, f], [2, 3, 1, 0]);
  return { inputs: [images, filters], compute: () => tf.conv2d(images, filters, stride, padding) };
}

function attention(work: AttentionWork, place: Place): Bound {
  const { batch, heads, seqQ, seqKv, headDim, causal } = work;
  if (causal) notOffered(work, 'has no causal attention');
  const q = place<tf.Rank.R3>(0, [batch * heads, seqQ, headDim]);
  const [k, v] = [1, 2].map((which) => place<tf.Rank.R3>(which, [batch * heads, seqKv, headDim])) as [
    tf.Tensor3D,
    tf.Tensor3D,
  ];
  const scale = 1 / Math.sqrt(headDim);
  const compute = (): tf.Tensor => tf.matMul(tf.softmax(tf.mul(tf.matMul(q, k, false, true), scale)), v);
  return { inputs: [q, k, v], compute };
}

function reduce({ op, shape, axis }: ReduceWork, place: Place): Bound {
  const x = place(0, [...shape] as [number]);
  return { inputs: [x], compute: () => (op === 'reduce_sum' ? tf.sum(x, axis) : tf.max(x, axis)) };
}

function rows({ op, rows: count, columns }: RowsWork, place: Place): Bound {
  const x = place<tf.Rank.R2>(0, [count, columns]);
  if (op === 'softmax') return { inputs: [x], compute: () => tf.softmax(x) };
  const a = place<tf.Rank.R1>(1, [columns]);
  if (op === 'bias_gelu') {
    const compute = (): tf.Tensor => {
      const sum = tf.add(x, a);
      return tf.mul(tf.mul(sum, 0.5), tf.add(tf.erf(tf.mul(sum, Math.SQRT1_2)), 1));
    };
    return { inputs: [x, a], compute };
  }
  const b = place<tf.Rank.R1>(2, [columns]);
  const compute = (): tf.Tensor => {
    const { mean, variance } = tf.moments(x, 1, true);
    return tf.add(tf.mul(tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, EPS))), a), b);
  };
  return { inputs: [x, a, b], compute };
}
