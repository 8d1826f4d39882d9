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
import { biasGelu, type KernelCase, norm, softmax } from '../kernels/cases.ts';

/** `C = A B`, packed and row-major unless it says otherwise. */
interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Which of the operands are stored transposed. Default: NN. */
  readonly layout?: 'NN' | 'TN' | 'NT' | 'TT';
  /** Elements between the rows of each matrix. Default: 0. */
  readonly padding?: number;
}

/** Square images `[n, c, hw, hw]` with filters `[k, c, f, f]`. */
type Layer = Readonly<Record<'n' | 'c' | 'hw' | 'k' | 'f' | 'stride' | 'padding', number>>;

/** `softmax(Q K^T / sqrt(headDim)) V`, each `[batch, heads, seq, headDim]`. */
interface Heads extends Readonly<Record<'batch' | 'heads' | 'seqQ' | 'seqKv' | 'headDim', number>> {
  readonly causal: boolean;
}

/** The sum or the maximum along `axis`. */
interface Fold {
  readonly shape: readonly number[];
  readonly axis: number;
}

/** `a + b`, a copy of `n` elements, or a function of each. */
type Elements = Readonly<Record<'n', number>>;

/**
 * Rows: their softmax, their layer norm (scaled and shifted by a number for each column), or the gelu of each element
 * plus its column's bias. Kernels of `run`, which others have as ops or compose of some.
 */
type Rows = Readonly<Record<'rows' | 'columns', number>>;

/** Sizes by ops. */
type Sizes = Readonly<Record<'gemm' | 'gemm_f16', Product>> &
  Readonly<Record<'batched_gemm', Product & { readonly batch: number }>> &
  Readonly<Record<'conv2d', Layer>> &
  Readonly<Record<'attention' | 'attention_f16', Heads>> &
  Readonly<Record<'reduce_sum' | 'reduce_max', Fold>> &
  Readonly<Record<'binary_add' | 'copy' | 'unary_exp' | 'unary_tanh' | 'unary_relu', Elements>> &
  Readonly<Record<'softmax' | 'layer_norm' | 'bias_gelu', Rows>>;

/** An op and its sizes, as `limits/cases.json` has them. */
export type Work = { [Op in keyof Sizes]: { readonly op: Op } & Sizes[Op] }[keyof Sizes];

/** A function of the sizes of each op. */
export type ByOp<T> = { readonly [Op in keyof Sizes]: (work: { readonly op: Op } & Sizes[Op]) => T };

/** A work by its name, as a case, and the shapes of its operands without gaps; heads of all batches follow each other. */
interface Made {
  readonly name: string;
  readonly benchCase: BenchCase;
  readonly inputs: readonly (readonly number[])[];
  readonly output: readonly number[];
}

function product({ op, m, n, k, layout = 'NN', padding = 0 }: Product & { readonly op: string }): Made {
  const [transA, transB] = layout.split('').map((each) => (each === 'T' ? 'T' : undefined));
  const size = m === n && n === k ? `${n}` : `${m}x${n}x${k}`;
  return {
    name: `${size}${layout === 'NN' ? '' : ` ${layout}`}${padding === 0 ? '' : ` ld+${padding}`}`,
    benchCase: gemmCase('bench', '', m, n, k, { transA, transB, padding, dtype: op === 'gemm_f16' ? 'f16' : 'f32' }),
    inputs: [transA ? [k, m] : [m, k], transB ? [n, k] : [k, n]],
    output: [m, n],
  };
}

function heads({ op, ...sizes }: Heads & { readonly op: string }): Made {
  const { batch, heads: count, seqQ, seqKv, headDim, causal } = sizes;
  const matrix = (seq: number): number[] => [batch * count, seq, headDim];
  return {
    name: `b${batch}h${count}q${seqQ}k${seqKv}d${headDim}${causal ? 'c' : ''}`,
    benchCase: attentionCase('bench', '', { ...sizes, dtype: op === 'attention_f16' ? 'f16' : 'f32' }),
    ...{ inputs: [seqQ, seqKv, seqKv].map(matrix), output: matrix(seqQ) },
  };
}

const reduction =
  (op: 'sum' | 'max') =>
  ({ shape, axis }: Fold): Made => ({
    name: `${shape.join('x')}@${axis}`,
    benchCase: reduceCase('bench', '', op, shape, axis),
    ...{ inputs: [shape], output: shape.filter((_, other) => other !== axis) },
  });

const elementwise =
  (caseOfN: (n: number) => BenchCase, inputs = 1) =>
  ({ n }: Elements): Made => ({
    ...{ name: `${n}`, benchCase: caseOfN(n), inputs: Array.from({ length: inputs }, () => [n]), output: [n] },
  });

const ofRows =
  (caseOfRows: (rows: number, columns: number) => KernelCase, vectors: number) =>
  ({ rows, columns }: Rows): Made => {
    const { name, benchCase } = caseOfRows(rows, columns);
    const inputs = [[rows, columns], ...Array.from({ length: vectors }, () => [columns])];
    return { name, benchCase, inputs, output: [rows, columns] };
  };

const MAKE: ByOp<Made> = {
  gemm: product,
  gemm_f16: product,
  batched_gemm: ({ batch, m, n, k }) => ({
    name: `${batch}x${m}x${n}x${k}`,
    benchCase: batchedGemmCase('bench', '', batch, { m, n, k }),
    ...{
      inputs: [
        [m, k],
        [k, n],
      ].map((matrix) => [batch, ...matrix]),
      output: [batch, m, n],
    },
  }),
  conv2d: ({ n, c, hw, k, f, stride, padding }) => {
    const layer = { batch: n, channels: c, size: hw, filters: k, window: f, stride, padding };
    const side = Math.floor((hw + 2 * padding - f) / stride) + 1;
    return {
      name: `n${n}c${c}hw${hw}k${k}f${f}s${stride}p${padding}`,
      benchCase: conv2dCase('bench', '', layer),
      ...{
        inputs: [
          [n, c, hw, hw],
          [k, c, f, f],
        ],
        output: [n, k, side, side],
      },
    };
  },
  attention: heads,
  attention_f16: heads,
  reduce_sum: reduction('sum'),
  reduce_max: reduction('max'),
  binary_add: elementwise((n) => binaryCase('bench', '', 'add', n), 2),
  copy: elementwise((n) => copyCase('device', 4 * n)),
  unary_exp: elementwise((n) => unaryCase('bench', '', 'exp', n)),
  unary_tanh: elementwise((n) => unaryCase('bench', '', 'tanh', n)),
  unary_relu: elementwise((n) => unaryCase('bench', '', 'relu', n)),
  softmax: ofRows(softmax, 0),
  layer_norm: ofRows((rows, columns) => norm('layer_norm', rows, columns), 2),
  bias_gelu: ofRows(biasGelu, 1),
};

/** The shapes of the operands of a work, by which others make theirs. */
export function shapesOf(work: Work): Pick<Made, 'inputs' | 'output'> {
  return made(work);
}

function made(work: Work): Made {
  return (MAKE[work.op] as (work: Work) => Made)(work);
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
  const { name, benchCase } = made(work);
  const { unit, flops, bytes } = benchCase;
  const amount = unit === 'GB/s' ? { bytes } : { flops };
  return { work, op: work.op, name, ...amount, traffic: bytes, ...benchCase.prepare() };
}
