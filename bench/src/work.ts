/** An op and its sizes, as `limits/cases.json` has them. Everything is packed and row-major unless it says otherwise. */
export type Work =
  | {
      /** `C = A B`. */
      readonly op: 'gemm' | 'gemm_f16';
      readonly m: number;
      readonly n: number;
      readonly k: number;
      /** Which of the operands are stored transposed. Default: NN. */
      readonly layout?: 'NN' | 'TN' | 'NT' | 'TT';
      /** Elements between the rows of each matrix. Default: 0. */
      readonly padding?: number;
    }
  /** `batch` products of one shape. */
  | { readonly op: 'batched_gemm'; readonly batch: number; readonly m: number; readonly n: number; readonly k: number }
  | {
      /** Square images `[n, c, hw, hw]` with filters `[k, c, f, f]`. */
      readonly op: 'conv2d';
      readonly n: number;
      readonly c: number;
      readonly hw: number;
      readonly k: number;
      readonly f: number;
      readonly stride: number;
      readonly padding: number;
    }
  | {
      /** `softmax(Q K^T / sqrt(headDim)) V`, each `[batch, heads, seq, headDim]`. */
      readonly op: 'attention';
      readonly batch: number;
      readonly heads: number;
      readonly seqQ: number;
      readonly seqKv: number;
      readonly headDim: number;
      readonly causal: boolean;
    }
  /** The sum or the maximum along `axis`. */
  | { readonly op: 'reduce_sum' | 'reduce_max'; readonly shape: readonly number[]; readonly axis: number }
  /** `a + b`, a copy of `n` elements, or a function of each. */
  | { readonly op: 'binary_add' | 'copy' | 'unary_exp' | 'unary_tanh' | 'unary_relu'; readonly n: number }
  /**
   * Rows: their softmax, their layer norm (scaled and shifted by a number for each column), or the gelu of each element
   * plus its column's bias. Kernels of `run`, which others have as ops or compose of some.
   */
  | { readonly op: 'softmax' | 'layer_norm' | 'bias_gelu'; readonly rows: number; readonly columns: number };

/** Shapes of the inputs and of the output; heads of all batches follow each other. */
export interface WorkShapes {
  readonly inputs: readonly (readonly number[])[];
  readonly output: readonly number[];
}

/** The shapes of a work whose matrices have no gaps between rows. */
export function shapesOf(work: Work): WorkShapes {
  switch (work.op) {
    case 'gemm':
    case 'gemm_f16': {
      const { m, n, k, layout = 'NN' } = work;
      return { inputs: [layout[0] === 'T' ? [k, m] : [m, k], layout[1] === 'T' ? [n, k] : [k, n]], output: [m, n] };
    }
    case 'batched_gemm': {
      const { batch, m, n, k } = work;
      const [a, b] = [
        [batch, m, k],
        [batch, k, n],
      ];
      return { inputs: [a, b], output: [batch, m, n] };
    }
    case 'conv2d': {
      const { n, c, hw, k, f, stride, padding } = work;
      const size = Math.floor((hw + 2 * padding - f) / stride) + 1;
      return {
        inputs: [
          [n, c, hw, hw],
          [k, c, f, f],
        ],
        output: [n, k, size, size],
      };
    }
    case 'attention': {
      const [queries, keys] = [work.seqQ, work.seqKv].map((seq) => [work.batch * work.heads, seq, work.headDim]);
      return { inputs: [queries, keys, keys] as number[][], output: queries as number[] };
    }
    case 'reduce_sum':
    case 'reduce_max':
      return { inputs: [work.shape], output: work.shape.filter((_, axis) => axis !== work.axis) };
    case 'softmax':
    case 'layer_norm':
    case 'bias_gelu': {
      const [matrix, vector] = [[work.rows, work.columns], [work.columns]];
      const vectors = { softmax: [], layer_norm: [vector, vector], bias_gelu: [vector] }[work.op];
      return { inputs: [matrix, ...vectors], output: matrix };
    }
    case 'binary_add':
      return { inputs: [[work.n], [work.n]], output: [work.n] };
    default:
      return { inputs: [[work.n]], output: [work.n] };
  }
}
