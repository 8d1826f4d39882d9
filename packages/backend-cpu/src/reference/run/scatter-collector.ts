import type { NumberType, RunLayout, ScatterMode } from '@concord/backend-core/kernel';
import { max, min, withNan } from './float-arithmetic.ts';
import { sumOf } from './float-folds.ts';
import { flushed, inFloat32, widenedBy } from './float32.ts';
import { integerOp } from './integers.ts';
import { anyOf, hull, type Interval, point } from './interval.ts';
import { elementOffsets, loadedNumber, MAX_CANDIDATES, placesOf } from './operands.ts';
import { OutputCollector } from './output-collector.ts';
import type { OutputIntervals, StoredElements } from './run-data.ts';
import { bitsAt } from './stored-values.ts';

/** A value that a point stores at an element, or may store there. */
interface Candidate {
  readonly value: Interval;
  readonly isCertain: boolean;
}

/** Roundings to a narrow float of each sum that is stored: twice the unit roundoff, and the smallest normal number. */
const NARROW: Readonly<Record<string, readonly [unit: number, least: number, greatest: number]>> = {
  f16: [2 ** -10, 2 ** -14, 65504],
  bf16: [2 ** -7, 2 ** -126, 3.3e38],
};

/** Collects the values that points store in an output by index. */
export class ScatterCollector {
  readonly #layout: RunLayout;
  readonly #mode: ScatterMode;
  readonly #flush: boolean;
  readonly #held: readonly Interval[];
  readonly #candidates: Map<number, Candidate[]> = new Map();
  readonly #factors: readonly number[];
  /** A point may have stored anywhere. */
  #isAnywhere = false;

  /** @param held - the elements of the output's extent before */
  constructor(layout: RunLayout, mode: ScatterMode, flush: boolean, held: StoredElements = new Uint8Array()) {
    this.#layout = layout;
    this.#mode = mode;
    this.#flush = flush;
    this.#held = [...elementOffsets(layout)].map((offset) => loadedNumber(layout, bitsAt(held, offset)));
    this.#factors = layout.shape.map((_, axis) => layout.shape.slice(axis + 1).reduce((all, size) => all * size, 1));
  }

  /** Stores the value of a point. */
  put(indices: readonly Interval[], value: Interval): void {
    const places = placesOf(this.#layout.shape, this.#factors, indices);
    if (places === undefined) {
      this.#isAnywhere = true;
      return;
    }
    const isCertain = places.offsets.length === 1 && !places.mayBeOutside;
    for (const element of places.offsets) {
      const known = this.#candidates.get(element);
      if (known === undefined) this.#candidates.set(element, [{ value, isCertain }]);
      else known.push({ value, isCertain });
    }
  }

  /** All that was stored: of several values for one element each is an alternative. */
  finish(): OutputIntervals {
    const layers: OutputCollector[] = [new OutputCollector(this.#layout, this.#flush)];
    for (const [element, held] of this.#held.entries()) {
      for (const [at, value] of this.#resultsAt(element, held).entries()) {
        (layers[at] ??= new OutputCollector(this.#layout, this.#flush)).store(element, value);
      }
    }
    const [last, ...others] = layers.map((layer) => layer.finish()).reverse() as [
      OutputIntervals,
      ...OutputIntervals[],
    ];
    return others.reduce((or, layer) => ({ ...layer, or }), last);
  }

  #resultsAt(element: number, held: Interval): readonly Interval[] {
    if (this.#isAnywhere) return [anyOf(this.#layout.type)];
    const candidates = this.#candidates.get(element) ?? [];
    if (candidates.length === 0) return [held];
    if (this.#mode === 'set') {
      const values = distinct(candidates.map(({ value }) => value));
      if (!candidates.some(({ isCertain }) => isCertain)) values.push(held);
      return values.length > MAX_CANDIDATES ? [values.reduce(hull)] : values;
    }
    const seen = ({ lo, hi, nan }: Interval): Interval => {
      const value = { lo, hi, nan };
      return this.#layout.type === 'f32' ? inFloat32(this.#flush ? flushed(value) : value) : value;
    };
    const own = candidates.map(({ value, isCertain }) => ({ value: seen(value), isCertain }));
    const result = this.#mode === 'add' ? this.#sum(seen(held), own) : this.#extreme(seen(held), own, this.#mode);
    return [this.#layout.type === 'f32' && this.#flush ? flushed(result) : result];
  }

  #sum(held: Interval, candidates: readonly Candidate[]): Interval {
    const { type, dtype } = this.#layout;
    const terms = [held, ...candidates.map(({ value, isCertain }) => (isCertain ? value : hull(value, point(0))))];
    if (type !== 'f32') {
      if (dtype === 'i8' || dtype === 'u8') return saturating(type, terms);
      return terms.reduce((a, b) => integerOp('add', type, [a, b]));
    }
    const sum = sumOf(terms, false, terms.length);
    const narrow = NARROW[dtype];
    if (narrow === undefined) return sum;
    const [unit, least, greatest] = narrow;
    const magnitude = terms.reduce((all, { lo, hi }) => all + Math.max(Math.abs(lo), Math.abs(hi)), 0);
    const isWhole = terms.every(({ lo, hi, nan }) => lo === hi && Number.isInteger(lo) && !nan);
    if (isWhole && magnitude <= 2 / unit) return sum;
    if (!(magnitude < greatest / 2)) return anyOf('f32');
    const count = candidates.length;
    return widenedBy(sum, count * unit * (1 + count * unit) * magnitude + count * least * unit);
  }

  #extreme(held: Interval, candidates: readonly Candidate[], mode: 'max' | 'min'): Interval {
    const { type } = this.#layout;
    const of = mode === 'max' ? max : min;
    return candidates.reduce((result, { value, isCertain }) => {
      const both = type === 'f32' ? withNan(of, [result, value]) : integerOp(mode, type, [result, value]);
      return isCertain ? both : hull(result, both);
    }, held);
  }
}

/** A sum of bytes that is stored after each term: exact where none of its parts can saturate. */
function saturating(type: Exclude<NumberType, 'f32'>, terms: readonly Interval[]): Interval {
  const [least, greatest] = type === 'i32' ? [-128, 127] : [0, 255];
  const lo = terms.reduce((all, term) => all + Math.min(term.lo, 0), 0);
  const hi = terms.reduce((all, term) => all + Math.max(term.hi, 0), 0);
  if (lo < least || hi > greatest) return terms.length === 2 ? integerOp('add', type, terms) : anyOf(type);
  return terms.reduce((a, b) => integerOp('add', type, [a, b]));
}

function distinct(values: readonly Interval[]): Interval[] {
  return [...new Map(values.map((value) => [JSON.stringify(value, ended), value])).values()];
}

/** JSON has no infinities and no sign of zero. */
function ended(_: string, value: unknown): unknown {
  return typeof value === 'number' && (!Number.isFinite(value) || value === 0) ? String(value) : value;
}
