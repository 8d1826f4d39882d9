import * as tf from '@tensorflow/tfjs-core';
import { type ByOp, type LimitCase, shapesOf } from '../limits/cases.ts';
import { materialize } from '@concord/cli/bench';
import { packageVersion } from '../results.ts';
import { notOffered, offered, type Peer, pick } from '../peer.ts';
import { EPS } from '../kernels/cases.ts';

/** One of the backends of TensorFlow.js. */
interface TfjsOptions {
  readonly runsLast?: boolean;
  /** Before the first case. */
  readonly setUp?: () => void;
  /** Resolves when the result is there, for a backend that only queues. */
  readonly wait?: (result: tf.Tensor) => Promise<void>;
}

/** TensorFlow.js on its plain JavaScript backend, which computes when an op is called. */
export async function tfjsCpu(): Promise<Peer> {
  await import('@tensorflow/tfjs-backend-cpu');
  return tfjs('cpu');
}

/** TensorFlow.js on XNNPACK, compiled to WebAssembly with SIMD. Its threads need the workers of a browser. */
export async function tfjsWasm({ runsLast }: { readonly runsLast: boolean }): Promise<Peer> {
  await import('@tensorflow/tfjs-backend-wasm');
  return tfjs('wasm', { runsLast, setUp: () => tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false) });
}

/** TensorFlow.js on WebGPU. It submits every few ops by itself. */
export async function tfjsWebgpu(): Promise<Peer> {
  // Not before there is a `navigator.gpu`; and by a variable, as its types clash with TypeScript's own.
  const name: string = '@tensorflow/tfjs-backend-webgpu';
  await import(name);
  return tfjs('webgpu', {
    wait: readFirst,
  });
}

/** Resolves when a result on the device is there: there is no call to wait but reading something. */
export async function readFirst(result: tf.Tensor): Promise<void> {
  const first = tf.tidy(() => tf.slice(tf.reshape(result, [-1]), 0, 1));
  await first.data();
  first.dispose();
}

/** Makes a backend the current one of the whole process. */
export async function useBackend(backend: 'cpu' | 'wasm' | 'webgpu'): Promise<void> {
  tf.env().set('IS_NODE', false); // keeps its advertisement for the native package out of the output
  if (backend === 'webgpu') tf.env().set('WEBGPU_CPU_FORWARD', false); // or small inputs do not reach the device
  if (!(await tf.setBackend(backend))) throw new Error(`tfjs could not start its backend ${backend}`);
}

function tfjs(backend: 'cpu' | 'wasm' | 'webgpu', { runsLast = false, setUp, wait }: TfjsOptions = {}): Peer {
  const resume = (): Promise<void> => useBackend(backend);
  return {
    name: `tfjs ${backend}`,
    role: 'peer',
    version: packageVersion(`@tensorflow/tfjs-backend-${backend}`),
    runsLast,
    async prepare(limitCase) {
      setUp?.();
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

function bind({ work, inputs: operands }: LimitCase): Bound {
  if (work.op === 'gemm' && (work.padding ?? 0) > 0) notOffered(work, 'has no gaps between rows');
  if (work.op === 'attention' && work.causal) notOffered(work, 'has no causal attention');
  const compute = offered(FUNCTIONS, work);
  const shapes = shapesOf(work).inputs;
  let inputs = operands.map((each, i) => tf.tensor(materialize(each), [...(shapes[i] ?? [])]));
  if (work.op === 'conv2d') {
    // It is written for channels last (its CPU backend has nothing else); the transposes are not timed.
    const [images, filters] = inputs as [tf.Tensor, tf.Tensor];
    inputs = [tf.transpose(images, [0, 2, 3, 1]), tf.transpose(filters, [2, 3, 1, 0])];
    tf.dispose([images, filters]);
  }
  return { inputs, compute: () => compute(...(inputs as Three)) };
}

/** The inputs; those that a work lacks are not there. */
type Three = [tf.Tensor, tf.Tensor, tf.Tensor];

const FUNCTIONS: Partial<ByOp<(...inputs: Three) => tf.Tensor>> = {
  gemm:
    ({ layout = 'NN' }) =>
    (a, b) =>
      tf.matMul(a, b, layout[0] === 'T', layout[1] === 'T'),
  batched_gemm: () => (a, b) => tf.matMul(a, b),
  conv2d:
    ({ stride, padding }) =>
    (images, filters) =>
      tf.conv2d(images as tf.Tensor4D, filters as tf.Tensor4D, stride, padding),
  attention: ({ headDim }) => {
    const scale = 1 / Math.sqrt(headDim);
    return (q, k, v) => tf.matMul(tf.softmax(tf.mul(tf.matMul(q, k, false, true), scale)), v);
  },
  reduce_sum:
    ({ axis }) =>
    (x) =>
      tf.sum(x, axis),
  reduce_max:
    ({ axis }) =>
    (x) =>
      tf.max(x, axis),
  softmax: () => (x) => tf.softmax(x),
  bias_gelu: () => (x, b) => {
    const sum = tf.add(x, b);
    return tf.mul(tf.mul(sum, 0.5), tf.add(tf.erf(tf.mul(sum, Math.SQRT1_2)), 1));
  },
  layer_norm: () => (x, scale, shift) => {
    const { mean, variance } = tf.moments(x, 1, true);
    return tf.add(tf.mul(tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, EPS))), scale), shift);
  },
  binary_add: () => (a, b) => tf.add(a, b),
  unary_exp: () => (x) => tf.exp(x),
  unary_tanh: () => (x) => tf.tanh(x),
  unary_relu: () => (x) => tf.relu(x),
};
