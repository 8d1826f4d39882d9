import { readFileSync } from 'node:fs';
import { NotHere, UsageError } from '../exit.ts';
import type { Work } from '../work.ts';
import { attention } from './attention.ts';
import { conv2d } from './conv2d.ts';
import { add, copy, unary } from './elementwise.ts';
import { batchedGemm, gemm } from './gemm.ts';
import type { LimitCase } from './limit-case.ts';
import { reduce } from './reduce.ts';
import { rows } from './rows.ts';

/** Sets of `limits/cases.json`, which `limits/torch_limits.py` reads too. */
export type CaseSet = 'gpu' | 'software' | 'cpu' | 'levelZero' | 'wasm' | 'quick';

const FILE = new URL('../../limits/cases.json', import.meta.url);

/** The cases of a set, in its order. */
export function casesOf(set: CaseSet): LimitCase[] {
  return readSets()[set].map(caseOf);
}

/** The cases that a large GPU is timed with; `quick` takes tiny ones of each op. */
export function limitCases(quick: boolean): LimitCase[] {
  return casesOf(quick ? 'quick' : 'gpu');
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
  switch (work.op) {
    case 'gemm':
    case 'gemm_f16':
      return gemm(work);
    case 'batched_gemm':
      return batchedGemm(work);
    case 'conv2d':
      return conv2d(work);
    case 'attention':
      return attention(work);
    case 'reduce_sum':
    case 'reduce_max':
      return reduce(work);
    case 'binary_add':
      return add(work);
    case 'copy':
      return copy(work);
    case 'unary_exp':
    case 'unary_tanh':
    case 'unary_relu':
      return unary(work);
    case 'softmax':
    case 'layer_norm':
    case 'bias_gelu':
      return rows(work);
  }
}
