import type { RunLayout } from '@concord/backend-core/kernel';
import { flushed, inFloat32 } from './float32.ts';
import { anyOf, type Interval, isEmpty } from './interval.ts';
import { NAN, type OutputIntervals } from './run-data.ts';
import { storedValue } from './stored-values.ts';

/** Wider than this part of the output's largest magnitude an interval says too little. */
const USEFUL_WIDTH = 0.01;

/** Stores the values of one output, element by element; one that is never stored may hold nothing. */
export class OutputCollector {
  readonly #layout: RunLayout;
  readonly #flush: boolean;
  readonly #lo: Float64Array;
  readonly #hi: Float64Array;
  readonly #nan: Uint8Array;
  readonly #anything: Uint8Array;
  readonly #copies: Map<number, number> = new Map();
  readonly #choices: Map<number, readonly number[]> = new Map();

  constructor(layout: RunLayout, flush: boolean) {
    const count = layout.shape.reduce((product, size) => product * size, 1);
    this.#layout = layout;
    this.#flush = flush;
    this.#lo = new Float64Array(count).fill(Infinity);
    this.#hi = new Float64Array(count).fill(-Infinity);
    this.#nan = new Uint8Array(count);
    this.#anything = new Uint8Array(count);
  }

  /** The store function is applied to both ends: what a right device stores lies between. */
  store(index: number, value: Interval): void {
    const { dtype, type } = this.#layout;
    const any = anyOf(type);
    this.#nan[index] = isEmpty(value) ? NAN.must : value.nan ? NAN.maybe : NAN.no;
    this.#anything[index] = value.lo <= any.lo && value.hi >= any.hi ? 1 : 0;
    const isCopy = value.copy?.dtype === dtype;
    if (isCopy) this.#copies.set(index, value.copy.bits);
    const { lo, hi } = type === 'f32' ? inFloat32(isCopy || !this.#flush ? value : flushed(value)) : value;
    this.#lo[index] = storedValue(dtype, lo);
    this.#hi[index] = storedValue(dtype, hi);
    if (value.choices !== undefined) {
      this.#choices.set(index, [...new Set(value.choices.map((choice) => storedValue(dtype, choice)))]);
    }
  }

  /** All that was stored. */
  finish(): OutputIntervals {
    return {
      layout: this.#layout,
      lo: this.#lo,
      hi: this.#hi,
      nan: this.#nan,
      anything: this.#anything,
      copies: this.#copies,
      choices: this.#choices,
      uselessShare: this.#uselessShare(),
    };
  }

  #uselessShare(): number {
    const count = this.#lo.length;
    let largest = 0;
    // The largest magnitude that is certain: an interval that is too wide must not make the others look narrow.
    for (let index = 0; index < count; index++) {
      const [lo, hi] = this.#ends(index);
      const min = lo <= 0 && hi >= 0 ? 0 : Math.min(Math.abs(lo), Math.abs(hi));
      if (lo <= hi && min < Infinity) largest = Math.max(largest, min);
    }
    let useless = 0;
    for (let index = 0; index < count; index++) {
      const [lo, hi] = this.#ends(index);
      const isFewChoices = (this.#choices.get(index)?.length ?? Infinity) <= MAX_CHOICES;
      if (this.#anything[index] === 1 || (lo < hi && hi - lo > USEFUL_WIDTH * largest && !isFewChoices)) useless++;
    }
    return count === 0 ? 0 : useless / count;
  }

  #ends(index: number): readonly [number, number] {
    return [this.#lo[index] as number, this.#hi[index] as number];
  }
}

/** An integer that is one of so few is known well enough, however far they lie apart. */
const MAX_CHOICES = 8;
