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
import { NotHere, UsageError } from '../exit.ts';
import { biasGelu } from '../kernels/map-cases.ts';
import { norm, softmax } from '../kernels/row-cases.ts';
import type { Work } from '../work.ts';

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
