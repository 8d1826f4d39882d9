import type { FoldOp, ValueType } from '@concord/backend-core/kernel';
import type { Slot } from './slot.ts';

/** Numbers of a slot, of the type that is folded. */
type Values = Float32Array | Int32Array | Uint32Array;

/** Fewer rows than this are folded one by one. */
const NARROW = 8;

/** What has been folded of some rows. */
export interface Totals {
  readonly values: Float64Array;
  /** For argmax and argmin: the place of the value. */
  readonly places: Float64Array;
}

/** Where the elements of some rows lie, and how many they are. */
export interface Rows {
  readonly slot: Slot;
  readonly rowStride: number;
  readonly elementStride: number;
  readonly rows: number;
  readonly elements: number;
  /** For argmax and argmin: the place of the first element, and from one to the next. */
  readonly place: number;
  readonly placeStride: number;
}

/** Folds in float64, where sums of float32 are nearly exact and integers are themselves. */
export interface FoldLoops {
  /** What folding nothing gives, before {@link finish}. */
  readonly empty: number;
  /** Folds elements into the totals of their rows. */
  take(totals: Totals, rows: Rows): void;
  /** The result from a total; `count` is the length of a row. */
  finish(total: number, place: number, count: number): number;
}

/** Folds `count` elements, `stride` apart. */
type Along = (values: Values, start: number, count: number, stride: number) => number;
/** Folds `count` strips of `width` neighbours, `stride` apart, into `width` totals. */
type Across = (
  totals: Float64Array,
  values: Values,
  start: number,
  stride: number,
  count: number,
  width: number,
) => void;

/** A fold of an operand of a type. */
export function foldLoopsOf(op: FoldOp, type: ValueType): FoldLoops {
  switch (op) {
    case 'sum':
      return type === 'f32' ? ofFloats(0, sum, sumAcross, add) : stepwise(type, 0, wrapped(type, add));
    case 'mean':
      return { ...ofFloats(0, sum, sumAcross, add), finish: (total, _, count) => total / count };
    case 'product':
      return stepwise(type, 1, type === 'f32' ? (a, b) => a * b : wrapped(type, Math.imul));
    case 'max':
      return type === 'f32'
        ? ofFloats(-Infinity, max, maxAcross, Math.max)
        : stepwise(type, type === 'i32' ? -(2 ** 31) : 0, Math.max);
    case 'min':
      return type === 'f32'
        ? ofFloats(Infinity, min, minAcross, Math.min)
        : stepwise(type, type === 'i32' ? 2 ** 31 - 1 : 2 ** 32 - 1, Math.min);
    case 'any':
      return stepwise(type, 0, Math.max);
    case 'all':
      return stepwise(type, 1, Math.min);
    case 'count':
      return stepwise(type, 0, add);
    case 'argmax':
      return placeOf(type, (x, best) => x > best);
    case 'argmin':
      return placeOf(type, (x, best) => x < best);
  }
}

const add = (a: number, b: number): number => a + b;

const wrapped =
  (type: ValueType, step: (a: number, b: number) => number) =>
  (a: number, b: number): number =>
    type === 'u32' ? step(a, b) >>> 0 : step(a, b) | 0;

function valuesOf(slot: Slot, type: ValueType): Values {
  return type === 'f32' ? slot.f : type === 'u32' ? slot.u : slot.i;
}

function ofFloats(empty: number, along: Along, across: Across, join: (a: number, b: number) => number): FoldLoops {
  return {
    empty,
    take({ values: totals }, { slot, rowStride, elementStride, rows, elements }) {
      if (rowStride === 1 && rows >= NARROW) across(totals, slot.f, slot.at, elementStride, elements, rows);
      else {
        for (let row = 0; row < rows; row++) {
          totals[row] = join(totals[row]!, along(slot.f, slot.at + row * rowStride, elements, elementStride));
        }
      }
    },
    finish: (total) => total,
  };
}

function stepwise(type: ValueType, empty: number, step: (total: number, x: number) => number): FoldLoops {
  return {
    empty,
    take({ values: totals }, { slot, rowStride, elementStride, rows, elements }) {
      const values = valuesOf(slot, type);
      for (let row = 0; row < rows; row++) {
        let total = totals[row]!;
        let at = slot.at + row * rowStride;
        for (let i = 0; i < elements; i++, at += elementStride) total = step(total, values[at]!);
        totals[row] = total;
      }
    },
    finish: (total) => total,
  };
}

/** The first NaN, else the first of the best; elements may come in any order. */
function placeOf(type: ValueType, isBetter: (x: number, best: number) => boolean): FoldLoops {
  return {
    empty: 0,
    take({ values: totals, places }, { slot, rowStride, elementStride, rows, elements, place, placeStride }) {
      const values = valuesOf(slot, type);
      for (let row = 0; row < rows; row++) {
        let at = slot.at + row * rowStride;
        let best = totals[row]!;
        let bestPlace = places[row]!;
        for (let i = 0; i < elements; i++, at += elementStride) {
          const x = values[at]!;
          const here = place + i * placeStride;
          const isFirst = bestPlace === Infinity;
          const isEqual = x === best || (Number.isNaN(x) && Number.isNaN(best));
          const wins = isEqual ? here < bestPlace : isBetter(x, best) || (Number.isNaN(x) && !Number.isNaN(best));
          if (isFirst || wins) {
            best = x;
            bestPlace = here;
          }
        }
        totals[row] = best;
        places[row] = bestPlace;
      }
    },
    finish: (_, place) => (place === Infinity ? 0 : place),
  };
}

/** Four totals, because one would wait for its own last addition. */
const sum: Along = (values, start, count, stride) => {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let at = start;
  let left = count;
  for (; left >= 4; left -= 4, at += 4 * stride) {
    s0 += values[at]!;
    s1 += values[at + stride]!;
    s2 += values[at + 2 * stride]!;
    s3 += values[at + 3 * stride]!;
  }
  for (; left > 0; left--, at += stride) s0 += values[at]!;
  return s0 + s1 + (s2 + s3);
};

const max: Along = (values, start, count, stride) => {
  let m0 = -Infinity;
  let m1 = -Infinity;
  let at = start;
  let left = count;
  for (; left >= 2; left -= 2, at += 2 * stride) {
    m0 = Math.max(m0, values[at]!);
    m1 = Math.max(m1, values[at + stride]!);
  }
  return Math.max(m0, left > 0 ? Math.max(m1, values[at]!) : m1);
};

const min: Along = (values, start, count, stride) => {
  let m0 = Infinity;
  let m1 = Infinity;
  let at = start;
  let left = count;
  for (; left >= 2; left -= 2, at += 2 * stride) {
    m0 = Math.min(m0, values[at]!);
    m1 = Math.min(m1, values[at + stride]!);
  }
  return Math.min(m0, left > 0 ? Math.min(m1, values[at]!) : m1);
};

const sumAcross: Across = (totals, values, start, stride, count, width) => {
  let row = 0;
  for (; row + 4 <= count; row += 4) {
    const at0 = start + row * stride;
    const at1 = at0 + stride;
    const at2 = at1 + stride;
    const at3 = at2 + stride;
    for (let j = 0; j < width; j++) {
      totals[j] = totals[j]! + (values[at0 + j]! + values[at1 + j]!) + (values[at2 + j]! + values[at3 + j]!);
    }
  }
  for (; row < count; row++) {
    const at = start + row * stride;
    for (let j = 0; j < width; j++) totals[j] = totals[j]! + values[at + j]!;
  }
};

const maxAcross: Across = (totals, values, start, stride, count, width) => {
  for (let row = 0, at = start; row < count; row++, at += stride) {
    for (let j = 0; j < width; j++) totals[j] = Math.max(totals[j]!, values[at + j]!);
  }
};

const minAcross: Across = (totals, values, start, stride, count, width) => {
  for (let row = 0, at = start; row < count; row++, at += stride) {
    for (let j = 0; j < width; j++) totals[j] = Math.min(totals[j]!, values[at + j]!);
  }
};
