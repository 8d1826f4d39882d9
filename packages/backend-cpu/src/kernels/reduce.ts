/**
 * reduce: `output[o, i] = op over a of input[o, a, i]`, summed in float64 and rounded once.
 *
 * Along contiguous memory (inner = 1) a row is reduced with four independent accumulators, because one would wait for
 * its own last addition. Otherwise a strip of up to 1,024 neighbouring results is kept in a float64 scratch and whole
 * rows of input are folded into it, four at a time, in memory order. NaN comes through max and min, since Math.max and
 * Math.min, unlike comparisons, give NaN for it.
 */

import type { CheckedReduce } from '@concord/backend-core/implement';

const STRIP = 1024;
/** Fewer neighbours than this are reduced one by one, with a stride. */
const NARROW = 8;

const strip = new Float64Array(STRIP);

/** Where a run of elements lies. */
type Fold = (input: Float32Array, start: number, count: number, stride: number) => number;
type FoldRows = (input: Float32Array, start: number, stride: number, rows: number, width: number) => void;

/** Reduces along one axis; an empty axis gives 0, -Infinity, Infinity, NaN. */
export function reduce(call: CheckedReduce, input: Float32Array, output: Float32Array): void {
  const { op, outer, axisLength, inner } = call;
  const [empty, fold, foldRows] = OPERATIONS[op];
  const divisor = op === 'mean' ? axisLength : 1;
  for (let o = 0; o < outer; o++) {
    const start = o * axisLength * inner;
    if (inner < NARROW) {
      for (let i = 0; i < inner; i++) output[o * inner + i] = fold(input, start + i, axisLength, inner) / divisor;
      continue;
    }
    for (let i = 0; i < inner; i += STRIP) {
      const width = Math.min(STRIP, inner - i);
      strip.fill(empty, 0, width);
      foldRows(input, start + i, inner, axisLength, width);
      for (let j = 0; j < width; j++) output[o * inner + i + j] = (strip[j] as number) / divisor;
    }
  }
}

const sum: Fold = (input, start, count, stride) => {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let at = start;
  let left = count;
  for (; left >= 4; left -= 4, at += 4 * stride) {
    s0 += input[at] as number;
    s1 += input[at + stride] as number;
    s2 += input[at + 2 * stride] as number;
    s3 += input[at + 3 * stride] as number;
  }
  for (; left > 0; left--, at += stride) s0 += input[at] as number;
  return s0 + s1 + (s2 + s3);
};

const max: Fold = (input, start, count, stride) => {
  let m0 = -Infinity;
  let m1 = -Infinity;
  let at = start;
  let left = count;
  for (; left >= 2; left -= 2, at += 2 * stride) {
    m0 = Math.max(m0, input[at] as number);
    m1 = Math.max(m1, input[at + stride] as number);
  }
  return Math.max(m0, left > 0 ? Math.max(m1, input[at] as number) : m1);
};

const min: Fold = (input, start, count, stride) => {
  let m0 = Infinity;
  let m1 = Infinity;
  let at = start;
  let left = count;
  for (; left >= 2; left -= 2, at += 2 * stride) {
    m0 = Math.min(m0, input[at] as number);
    m1 = Math.min(m1, input[at + stride] as number);
  }
  return Math.min(m0, left > 0 ? Math.min(m1, input[at] as number) : m1);
};

const sumRows: FoldRows = (input, start, stride, rows, width) => {
  let row = 0;
  for (; row + 4 <= rows; row += 4) {
    const at0 = start + row * stride;
    const at1 = at0 + stride;
    const at2 = at1 + stride;
    const at3 = at2 + stride;
    for (let j = 0; j < width; j++) {
      strip[j] =
        (strip[j] as number) +
        ((input[at0 + j] as number) + (input[at1 + j] as number)) +
        ((input[at2 + j] as number) + (input[at3 + j] as number));
    }
  }
  for (; row < rows; row++) {
    const at = start + row * stride;
    for (let j = 0; j < width; j++) strip[j] = (strip[j] as number) + (input[at + j] as number);
  }
};

const maxRows: FoldRows = (input, start, stride, rows, width) => {
  for (let row = 0, at = start; row < rows; row++, at += stride) {
    for (let j = 0; j < width; j++) strip[j] = Math.max(strip[j] as number, input[at + j] as number);
  }
};

const minRows: FoldRows = (input, start, stride, rows, width) => {
  for (let row = 0, at = start; row < rows; row++, at += stride) {
    for (let j = 0; j < width; j++) strip[j] = Math.min(strip[j] as number, input[at + j] as number);
  }
};

/** What an empty axis gives before division by the length (0 / 0 is the NaN of an empty mean), and the loops. */
const OPERATIONS: Readonly<Record<CheckedReduce['op'], readonly [number, Fold, FoldRows]>> = {
  sum: [0, sum, sumRows],
  mean: [0, sum, sumRows],
  max: [-Infinity, max, maxRows],
  min: [Infinity, min, minRows],
};
