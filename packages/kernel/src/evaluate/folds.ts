import type { FoldOp, ScanNode, ScanOp, ValueType } from '@concord/backend-core/kernel';
import type { Numbers } from './node-loops.ts';

/** The folded states of some rows, in float64: sums of float32 are nearly exact there, and integers are themselves. */
export interface Totals {
  readonly values: Float64Array;
  /** The place of the value, of argmax and argmin; Infinity before there is one. */
  readonly places: Float64Array;
}

/** A fold of the elements of a row from `at` on, on top of what came before. */
type Step = (total: number, x: Numbers, at: number, end: number) => number;

/** A fold of an operand of a type. */
export interface Fold {
  /** The fold of nothing. */
  readonly empty: number;
  /** Adds `length` elements, of which the first is element `place` of its row, to the total of the row. */
  take(totals: Totals, row: number, x: Numbers, at: number, length: number, place: number): void;
  /** The result of a row of that many elements. */
  finish(totals: Totals, row: number, count: number): number;
}

const sum: Step = (total, x, at, end) => {
  let result = total;
  for (let i = at; i < end; i++) result += x[i]!;
  return result;
};
const wrappedSum: Step = (total, x, at, end) => {
  let result = total;
  for (let i = at; i < end; i++) result = (result + x[i]!) | 0;
  return result;
};
const product: Step = (total, x, at, end) => {
  let result = total;
  for (let i = at; i < end; i++) result *= x[i]!;
  return result;
};
const wrappedProduct: Step = (total, x, at, end) => {
  let result = total;
  for (let i = at; i < end; i++) result = Math.imul(result, x[i]!);
  return result;
};
const max: Step = (total, x, at, end) => {
  let result = total;
  for (let i = at; i < end; i++) result = Math.max(result, x[i]!);
  return result;
};
const min: Step = (total, x, at, end) => {
  let result = total;
  for (let i = at; i < end; i++) result = Math.min(result, x[i]!);
  return result;
};

const LEAST = { f32: -Infinity, i32: -(2 ** 31), u32: 0, bool: 0 };
const GREATEST = { f32: Infinity, i32: 2 ** 31 - 1, u32: 2 ** 32 - 1, bool: 1 };

/** The fold of that name. */
export function foldOf(op: FoldOp, type: ValueType): Fold {
  switch (op) {
    case 'sum':
    case 'product':
    case 'max':
    case 'min':
      return stepwise(emptyOf(op, type), stepOf(op, type));
    case 'count':
      return stepwise(0, wrappedSum);
    case 'mean':
      return { ...stepwise(0, sum), finish: ({ values }, row, count) => values[row]! / count };
    case 'any':
      return stepwise(LEAST[type], max);
    case 'all':
      return stepwise(GREATEST[type], min);
    case 'argmax':
      return placeOf((x, best) => x > best);
    case 'argmin':
      return placeOf((x, best) => x < best);
  }
}

function stepwise(empty: number, step: Step): Fold {
  return {
    empty,
    take: ({ values }, row, x, at, length) => {
      values[row] = step(values[row]!, x, at, at + length);
    },
    finish: ({ values }, row) => values[row]!,
  };
}

/**
 * Scans `length` numbers of a row from `at` on, in the direction of the node, on top of the total of those before them.
 *
 * @returns the total after them
 */
export function scanned({ op, exclusive, reverse }: ScanNode, type: ValueType, run: ScanRun): number {
  const { x, z, at, length } = run;
  const step = stepOf(op, type);
  let { total } = run;
  for (let k = 0; k < length; k++) {
    const place = at + (reverse ? length - 1 - k : k);
    if (exclusive) z[place] = total;
    total = step(total, x, place, place + 1);
    if (!exclusive) z[place] = total;
  }
  return total;
}

/** Numbers of a row to scan, their results, and the total of what comes before them. */
export interface ScanRun {
  readonly x: Numbers;
  readonly z: Numbers;
  readonly at: number;
  readonly length: number;
  readonly total: number;
}

/** The fold of nothing that a scan begins with. */
export function emptyOf(op: ScanOp, type: ValueType): number {
  return op === 'sum' ? 0 : op === 'product' ? 1 : op === 'max' ? LEAST[type] : GREATEST[type];
}

function stepOf(op: ScanOp, type: ValueType): Step {
  const isFloat = type === 'f32';
  if (op === 'sum') return isFloat ? sum : wrappedSum;
  if (op === 'product') return isFloat ? product : wrappedProduct;
  return op === 'max' ? max : min;
}

/** The place of the first NaN, else of the first of the best; 0 in an empty row. */
function placeOf(isBetter: (x: number, best: number) => boolean): Fold {
  return {
    empty: 0,
    take: ({ values, places }, row, numbers, at, length, place) => {
      for (let i = 0; i < length; i++) {
        const x = numbers[at + i]!;
        const best = values[row]!;
        const wins = isBetter(x, best) || (Number.isNaN(x) && !Number.isNaN(best));
        if (places[row] !== Infinity && !wins) continue;
        values[row] = x;
        places[row] = place + i;
      }
    },
    finish: ({ places }, row) => (places[row] === Infinity ? 0 : places[row]!),
  };
}
