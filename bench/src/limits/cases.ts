import { readFileSync } from 'node:fs';
import {
  attentionCase,
  batchedGemmCase,
  type BenchCase,
  type BenchWork,
  binaryCase,
  conv2dCase,
  copyCase,
  gemmCase,
  reduceCase,
  unaryCase,
} from '@concord/cli/bench';
import { NotHere, UsageError } from '../options.ts';
import { biasGelu, norm, softmax } from '../kernels/cases.ts';

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
interface WorkShapes {
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

/** A case, by the names that the other side of the comparison gives it too. */
export interface LimitCase extends BenchWork {
  readonly work: Work;
  readonly op: Work['op'];
  readonly name: string;
  /** The units of the speed: multiplications and additions, or else bytes read and written. */
  readonly flops?: number;
  readonly bytes?: number;
  /** The minimum of bytes to move: each operand once. */
  readonly traffic: number;
}

/** Sets of `limits/cases.json`, which `limits/torch_limits.py` reads too. */
export type CaseSet = 'gpu' | 'software' | 'cpu' | 'levelZero' | 'wasm' | 'quick';

const FILE = new URL('../../limits/cases.json', import.meta.url);

/** The cases of a set, in its order. */
export function casesOf(set: CaseSet): LimitCase[] {
  return readSets()[set].map(caseOf);
}

/**
 * The cases with these ops and this name, all that are not given.
 *
 * @throws {UsageError} for an op that has no case anywhere
 * @throws {NotHere} where none of these cases is left
 */
export function selectCases(cases: readonly LimitCase[], only?: string, name?: string): LimitCase[] {
  checkOps(only);
  const ops = only?.split(',');
  const selected = cases.filter(
    (each) => (ops?.includes(each.op) ?? true) && (name === undefined || each.name === name),
  );
  if (selected.length === 0) throw new NotHere('no case here has that op and name');
  return selected;
}

/** @throws {UsageError} where one of these ops, separated by commas, has no case in any set */
export function checkOps(only: string | undefined): void {
  const known = [...new Set(Object.values(readSets()).flatMap((works) => works.map(({ op }) => op as string)))];
  const wrong = only?.split(',').find((op) => !known.includes(op));
  if (wrong !== undefined) throw new UsageError(`--only takes ${known.join(', ')}, not ${wrong}`);
}

function readSets(): Record<CaseSet, Work[]> {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Record<CaseSet, Work[]>;
}

function caseOf(work: Work): LimitCase {
  const [name, benchCase] = named(work);
  const { unit, flops, bytes } = benchCase;
  const amount = unit === 'GB/s' ? { bytes } : { flops };
  return { work, op: work.op, name, ...amount, traffic: bytes, ...benchCase.prepare() };
}

function named(work: Work): readonly [string, BenchCase] {
  switch (work.op) {
    case 'gemm':
    case 'gemm_f16': {
      const { op, m, n, k, layout = 'NN', padding = 0 } = work;
      const [transA, transB] = layout.split('').map((each) => (each === 'T' ? 'T' : undefined));
      const dtype = op === 'gemm_f16' ? 'f16' : 'f32';
      const size = m === n && n === k ? `${n}` : `${m}x${n}x${k}`;
      const name = `${size}${layout === 'NN' ? '' : ` ${layout}`}${padding === 0 ? '' : ` ld+${padding}`}`;
      return [name, gemmCase('bench', '', m, n, k, { transA, transB, padding, dtype })];
    }
    case 'batched_gemm': {
      const { batch, m, n, k } = work;
      return [`${batch}x${m}x${n}x${k}`, batchedGemmCase('bench', '', batch, { m, n, k })];
    }
    case 'conv2d': {
      const { n: batch, c: channels, hw: size, k: filters, f: window, stride, padding } = work;
      const layer = { batch, channels, size, filters, window, stride, padding };
      const name = `n${batch}c${channels}hw${size}k${filters}f${window}s${stride}p${padding}`;
      return [name, conv2dCase('bench', '', layer)];
    }
    case 'attention': {
      const { op: _, ...sizes } = work;
      const { batch, heads, seqQ, seqKv, headDim, causal } = sizes;
      const name = `b${batch}h${heads}q${seqQ}k${seqKv}d${headDim}${causal ? 'c' : ''}`;
      return [name, attentionCase('bench', '', sizes)];
    }
    case 'reduce_sum':
    case 'reduce_max': {
      const { op, shape, axis } = work;
      const name = `${shape.join('x')}@${axis}`;
      return [name, reduceCase('bench', '', op === 'reduce_sum' ? 'sum' : 'max', shape, axis)];
    }
    case 'binary_add':
      return [`${work.n}`, binaryCase('bench', '', 'add', work.n)];
    case 'copy':
      return [`${work.n}`, copyCase('device', 4 * work.n)];
    case 'unary_exp':
    case 'unary_tanh':
    case 'unary_relu': {
      const op = ({ unary_exp: 'exp', unary_tanh: 'tanh', unary_relu: 'relu' } as const)[work.op];
      return [`${work.n}`, unaryCase('bench', '', op, work.n)];
    }
    case 'softmax':
    case 'layer_norm':
    case 'bias_gelu': {
      const { op, rows, columns } = work;
      const cases = { softmax, bias_gelu: biasGelu, layer_norm: norm.bind(undefined, 'layer_norm') };
      const { name, benchCase } = cases[op](rows, columns);
      return [name, benchCase];
    }
  }
}
