import type { FoldOp, ValueType } from '@concord/backend-core/kernel';
import { floats, type Slot } from './slot.ts';

/** Numbers of a slot, of the type that is folded. */
export type Values = Float32Array | Int32Array | Uint32Array;

/** Fewer rows than this are folded one by one. */
const NARROW = 8;

/** The folded states of some rows. */
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
  /** The fold of nothing, before {@link finish}. */
  readonly empty: number;
  /** True if it keeps places, which then begin with Infinity. */
  readonly hasPlaces?: boolean;
  /** Folds elements into the totals of their rows. */
  take(totals: Totals, rows: Rows): void;
  /** Writes results; `count` is the length of a row. */
  finish(totals: Totals, to: Values, at: number, rows: number, count: number): void;
}

/** A fold of an operand of a type. */
export function foldLoopsOf(op: FoldOp, type: ValueType): FoldLoops {
  switch (op) {
    case 'sum':
      return type === 'f32' ? { empty: 0, take: sum, finish: copyTotals } : stepwise(type, 0, wrapped(type, add));
    case 'mean':
      return { empty: 0, take: sum, finish: means };
    case 'product':
      return stepwise(type, 1, type === 'f32' ? (a, b) => a * b : wrapped(type, Math.imul));
    case 'max':
      return type === 'f32'
        ? { empty: -Infinity, take: max, finish: copyTotals }
        : stepwise(type, type === 'i32' ? -(2 ** 31) : 0, Math.max);
    case 'min':
      return type === 'f32'
        ? { empty: Infinity, take: min, finish: copyTotals }
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

const copyTotals: FoldLoops['finish'] = ({ values }, to, at, rows) => {
  for (let row = 0; row < rows; row++) to[at + row] = values[row]!;
};

const means: FoldLoops['finish'] = ({ values }, to, at, rows, count) => {
  for (let row = 0; row < rows; row++) to[at + row] = values[row]! / count;
};

const places: FoldLoops['finish'] = (totals, to, at, rows) => {
  for (let row = 0; row < rows; row++) to[at + row] = totals.places[row] === Infinity ? 0 : totals.places[row]!;
};

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
    finish: copyTotals,
  };
}

/** The first NaN, else the first of the best; elements may come in any order. */
function placeOf(type: ValueType, isBetter: (x: number, best: number) => boolean): FoldLoops {
  return {
    empty: 0,
    hasPlaces: true,
    take({ values: totals, places: found }, { slot, rowStride, elementStride, rows, elements, place, placeStride }) {
      const values = valuesOf(slot, type);
      for (let row = 0; row < rows; row++) {
        let at = slot.at + row * rowStride;
        let best = totals[row]!;
        let bestPlace = found[row]!;
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
        found[row] = bestPlace;
      }
    },
    finish: places,
  };
}

// Numbers are made int32 for the engine, whose loops are several times slower where it has seen others.

/** Rows one after the other, or strips of neighbouring rows where these are denser. */
function isAcross({ rowStride, rows }: Rows): boolean {
  return rowStride === 1 && rows >= NARROW;
}

/** A row in four totals, because one would wait for its own last addition; four elements of a strip at once. */
function sum({ values: totals }: Totals, part: Rows): void {
  const values = floats(part.slot);
  const rows = part.rows | 0;
  const elements = part.elements | 0;
  const rowStride = part.rowStride | 0;
  const stride = part.elementStride | 0;
  if (isAcross(part)) {
    let i = 0;
    for (; i + 4 <= elements; i += 4) {
      const at0 = i * stride;
      const at1 = at0 + stride;
      const at2 = at1 + stride;
      const at3 = at2 + stride;
      for (let j = 0; j < rows; j++) {
        totals[j] = totals[j]! + (values[at0 + j]! + values[at1 + j]!) + (values[at2 + j]! + values[at3 + j]!);
      }
    }
    for (; i < elements; i++) {
      const at = i * stride;
      for (let j = 0; j < rows; j++) totals[j] = totals[j]! + values[at + j]!;
    }
    return;
  }
  for (let row = 0; row < rows; row++) {
    let s0 = totals[row]!;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    let at = row * rowStride;
    let left = elements;
    for (; left >= 4; left -= 4, at += 4 * stride) {
      s0 += values[at]!;
      s1 += values[at + stride]!;
      s2 += values[at + 2 * stride]!;
      s3 += values[at + 3 * stride]!;
    }
    for (; left > 0; left--, at += stride) s0 += values[at]!;
    totals[row] = s0 + s1 + (s2 + s3);
  }
}

function max({ values: totals }: Totals, part: Rows): void {
  const values = floats(part.slot);
  const rows = part.rows | 0;
  const elements = part.elements | 0;
  const rowStride = part.rowStride | 0;
  const stride = part.elementStride | 0;
  if (isAcross(part)) {
    for (let i = 0, at = 0; i < elements; i++, at += stride) {
      for (let j = 0; j < rows; j++) totals[j] = Math.max(totals[j]!, values[at + j]!);
    }
    return;
  }
  for (let row = 0; row < rows; row++) {
    let m0 = totals[row]!;
    let m1 = -Infinity;
    let m2 = -Infinity;
    let m3 = -Infinity;
    let at = row * rowStride;
    let left = elements;
    for (; left >= 4; left -= 4, at += 4 * stride) {
      m0 = Math.max(m0, values[at]!);
      m1 = Math.max(m1, values[at + stride]!);
      m2 = Math.max(m2, values[at + 2 * stride]!);
      m3 = Math.max(m3, values[at + 3 * stride]!);
    }
    for (; left > 0; left--, at += stride) m0 = Math.max(m0, values[at]!);
    totals[row] = Math.max(Math.max(m0, m1), Math.max(m2, m3));
  }
}

function min({ values: totals }: Totals, part: Rows): void {
  const values = floats(part.slot);
  const rows = part.rows | 0;
  const elements = part.elements | 0;
  const rowStride = part.rowStride | 0;
  const stride = part.elementStride | 0;
  if (isAcross(part)) {
    for (let i = 0, at = 0; i < elements; i++, at += stride) {
      for (let j = 0; j < rows; j++) totals[j] = Math.min(totals[j]!, values[at + j]!);
    }
    return;
  }
  for (let row = 0; row < rows; row++) {
    let m0 = totals[row]!;
    let m1 = Infinity;
    let m2 = Infinity;
    let m3 = Infinity;
    let at = row * rowStride;
    let left = elements;
    for (; left >= 4; left -= 4, at += 4 * stride) {
      m0 = Math.min(m0, values[at]!);
      m1 = Math.min(m1, values[at + stride]!);
      m2 = Math.min(m2, values[at + 2 * stride]!);
      m3 = Math.min(m3, values[at + 3 * stride]!);
    }
    for (; left > 0; left--, at += stride) m0 = Math.min(m0, values[at]!);
    totals[row] = Math.min(Math.min(m0, m1), Math.min(m2, m3));
  }
}
