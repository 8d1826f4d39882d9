import type { Numerics } from '@concord/backend-core';
import type { RunLayout } from '@concord/backend-core/kernel';
import {
  compareStored,
  NAN,
  type OutputIntervals,
  runReference,
  type StoredElements,
} from '@concord/backend-cpu/reference';
import type { PreparedRun } from './prepare-run.ts';
import { numbersOf } from './stored.ts';

/** An element, and the interval of right values. */
export interface ValueRow {
  /** Its indices, such as `[0, 3]`. */
  readonly place: string;
  readonly got: number;
  /** Ends of the oracle's interval; `lo` above `hi` where only NaN is right. */
  readonly lo: number;
  readonly hi: number;
  /** True if NaN is right too. */
  readonly mayBeNan: boolean;
  readonly isRight: boolean;
}

/** An output beside the oracle's intervals. */
export interface JudgedOutput {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly total: number;
  readonly wrong: number;
  /** True if every element is NaN, and there is one. */
  readonly isAllNan: boolean;
  /** Part of the elements of which the oracle knows nothing useful, 0 to 1. */
  readonly uselessShare: number;
  /** The first elements, or those around the first wrong one. */
  readonly rows: readonly ValueRow[];
}

/** Elements that are shown. */
const MAX_ROWS = 32;

/** Compares outputs with the intervals that every right device stays in. */
export function judge(
  { geometry, inputs, params }: PreparedRun,
  outputs: readonly StoredElements[],
  { f32Subnormals: subnormals }: Numerics,
): readonly JudgedOutput[] {
  const expected = runReference(geometry, { inputs, params }, { subnormals });
  return expected.map((intervals, index) => judgeOutput(intervals, outputs[index] as StoredElements));
}

function judgeOutput(intervals: OutputIntervals, stored: StoredElements): JudgedOutput {
  const { layout, lo, uselessShare } = intervals;
  const mismatch = compareStored(intervals, stored);
  const first = Math.max(0, Math.min((mismatch?.index ?? 0) - 4, lo.length - MAX_ROWS));
  const count = Math.min(MAX_ROWS, lo.length);
  const numbers = numbersOf(layout.dtype, stored);
  return {
    ...{ name: layout.name, dtype: layout.dtype, shape: layout.shape, total: lo.length, uselessShare },
    wrong: mismatch?.wrong ?? 0,
    isAllNan: numbers.length > 0 && numbers.every((value: number) => Number.isNaN(value)),
    rows: Array.from({ length: count }, (_, at) => valueRow(intervals, stored, first + at)),
  };
}

/** An element by itself, judged by the same rules as all. Outputs are dense here. */
function valueRow(intervals: OutputIntervals, stored: StoredElements, index: number): ValueRow {
  const { layout, lo, hi, nan, anything, copies, choices } = intervals;
  const own: OutputIntervals = {
    layout: { ...layout, shape: [], strides: [], extent: 1 },
    ...{ lo: lo.subarray(index, index + 1), hi: hi.subarray(index, index + 1), nan: nan.subarray(index, index + 1) },
    anything: anything.subarray(index, index + 1),
    copies: only(copies, index),
    choices: only(choices, index),
    uselessShare: 0,
  };
  const element = stored.slice(index, index + 1);
  const [got] = numbersOf(layout.dtype, element);
  return {
    place: placeText(index, layout),
    ...{ got: got as number, lo: lo[index] as number, hi: hi[index] as number },
    mayBeNan: nan[index] !== NAN.no,
    isRight: compareStored(own, element) === undefined,
  };
}

function only<T>(known: ReadonlyMap<number, T>, index: number): ReadonlyMap<number, T> {
  const value = known.get(index);
  return new Map(value === undefined ? [] : [[0, value]]);
}

function placeText(index: number, { shape }: RunLayout): string {
  const place: number[] = [];
  let rest = index;
  for (const size of [...shape].reverse()) {
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return `[${place.join(', ')}]`;
}

/** The result of a run in one line. The oracle computes the same graph: what it calls right may be NaN all the same. */
export function verdictOf(judged: readonly JudgedOutput[]): string {
  const wrong = judged.reduce((sum, output) => sum + output.wrong, 0);
  const total = judged.reduce((sum, output) => sum + output.total, 0).toLocaleString('en');
  if (wrong > 0) return `${wrong.toLocaleString('en')} of ${total} values are outside the oracle's intervals`;
  const right = `All ${total} values are in the oracle's intervals`;
  if (!judged.some(({ isAllNan }) => isAllNan) || !judged.every(({ isAllNan, total }) => isAllNan || total === 0))
    return right;
  return `${right}, but every value is NaN: look for an operation whose result is no number, such as 0 / 0`;
}
