import * as tf from '@tensorflow/tfjs-core';
import { type Peer, type Prepared, unexpected } from '../peer.ts';
import type { Work } from '../work.ts';

/** What one of the backends of TensorFlow.js needs. */
export interface TfjsBackend {
  readonly name: string;
  readonly version: string;
  readonly ops: Peer['ops'];
  /** Registers the backend and makes it the current one. Called before each case. */
  readonly setUp: () => Promise<void>;
  /** Resolves when the result is there, for a backend that only queues. */
  readonly wait?: (result: tf.Tensor) => Promise<void>;
}

/** TensorFlow.js as a peer. */
export function tfjs({ name, version, ops, setUp, wait }: TfjsBackend): Peer {
  return {
    name,
    version,
    ops,
    async prepare(work: Work): Promise<Prepared> {
      tf.env().set('IS_NODE', false); // keeps its advertisement for the native package out of the output
      await setUp();
      tf.engine().startScope();
      const compute = bind(work);
      let result: tf.Tensor | undefined;
      return {
        run: () => {
          result?.dispose();
          result = tf.tidy(compute);
        },
        ...(wait === undefined ? {} : { wait: async () => (result === undefined ? undefined : wait(result)) }),
        result: async () => (result === undefined ? [] : rowMajor(result).data()),
        close: async () => tf.engine().endScope(),
      };
    },
  };
}

/** Channels first again, which only images have four dimensions to move. */
function rowMajor(result: tf.Tensor): tf.Tensor {
  return result.rank === 4 ? tf.transpose(result, [0, 3, 1, 2]) : result;
}

function bind(work: Work): () => tf.Tensor {
  switch (work.op) {
    case 'gemm': {
      const a = tf.tensor2d(work.a, [work.m, work.k]);
      const b = tf.tensor2d(work.b, [work.k, work.n]);
      return () => tf.matMul(a, b);
    }
    case 'conv2d': {
      // Channels last is what it is written for (its CPU backend has nothing else); the transposes are not timed.
      const { channels, size, filters, window, padding } = work;
      const image = tf.transpose<tf.Tensor4D>(tf.tensor4d(work.input, [1, channels, size, size]), [0, 2, 3, 1]);
      const filter = tf.transpose<tf.Tensor4D>(
        tf.tensor4d(work.filter, [filters, channels, window, window]),
        [2, 3, 1, 0],
      );
      return () => tf.conv2d(image, filter, 1, padding);
    }
    case 'attention': {
      const { heads, seq, headDim } = work;
      const [q, k, v] = [work.q, work.k, work.v].map((data) => tf.tensor3d(data, [heads, seq, headDim])) as [
        tf.Tensor3D,
        tf.Tensor3D,
        tf.Tensor3D,
      ];
      const scale = 1 / Math.sqrt(headDim);
      return () => tf.matMul(tf.softmax(tf.mul(tf.matMul(q, k, false, true), scale)), v);
    }
    case 'add': {
      const [a, b] = [tf.tensor1d(work.a), tf.tensor1d(work.b)];
      return () => tf.add(a, b);
    }
    case 'sum': {
      const x = tf.tensor1d(work.x);
      return () => tf.sum(x);
    }
    default:
      return unexpected(work);
  }
}
