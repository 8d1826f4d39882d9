/** What is timed: an op, its sizes and its inputs. All peers get the same arrays. */

/** Row-major `C = A B`. */
export interface GemmWork {
  readonly op: 'gemm';
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Float32Array;
  readonly b: Float32Array;
}

/** One image `[C, H, W]`, filters `[K, C, R, R]`, stride 1, the same padding on all sides. */
export interface Conv2dWork {
  readonly op: 'conv2d';
  readonly channels: number;
  readonly size: number;
  readonly filters: number;
  readonly window: number;
  readonly padding: number;
  readonly input: Float32Array;
  readonly filter: Float32Array;
}

/** `softmax(Q K^T / sqrt(headDim)) V`, `[heads, seq, headDim]`. */
export interface AttentionWork {
  readonly op: 'attention';
  readonly heads: number;
  readonly seq: number;
  readonly headDim: number;
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

/** `a + b`, element by element. */
export interface AddWork {
  readonly op: 'add';
  readonly n: number;
  readonly a: Float32Array;
  readonly b: Float32Array;
}

/** The sum of all of `x`. */
export interface SumWork {
  readonly op: 'sum';
  readonly n: number;
  readonly x: Float32Array;
}

/** `max(x, 0)`, element by element. */
export interface ReluWork {
  readonly op: 'relu';
  readonly n: number;
  readonly x: Float32Array;
}

/** The sum of each row of a matrix. */
export interface SumRowsWork {
  readonly op: 'sumRows';
  readonly rows: number;
  readonly columns: number;
  readonly x: Float32Array;
}

export type Work = GemmWork | Conv2dWork | AttentionWork | AddWork | ReluWork | SumWork | SumRowsWork;

/** A work with its name, and what its speed is reported by: operations, or else bytes read and written. */
export interface Case {
  readonly name: string;
  readonly flops?: number;
  readonly bytes?: number;
  readonly work: Work;
}
