import { type Folding, type FoldSource, FoldStates, type PhaseFold } from '@concord/kernel';
import { f32x4, f64x2, i8x16, type Local, type Value, v128 } from '../../encoder/index.ts';
import type { Vector, WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import { wordsOfShuffle } from '../common/integers.ts';
import type { Cursor } from './cursor.ts';
import { names } from './form.ts';

const NAN = 0x7fc0_0000;

/** The maximum or minimum float32 that `pmax` and `pmin` keep, and a flag for NaN. */
function floatExtremum(op: 'max' | 'min'): Folding {
  return {
    state: ['f32', 'u32'],
    identity: [op === 'max' ? 0xff80_0000 : 0x7f80_0000, 0],
    lift: (a, element) => [
      element,
      (a as unknown as WasmArithmetic).keep(f32x4.ne(element as Vector, element as Vector)) as never,
    ],
    // In this order a NaN that comes in is passed over.
    combine: (a, [x, isNan], [y, comesNan]) => [
      a[op]('f32', x as never, y as never),
      a.or('u32', isNan as never, comesNan as never),
    ],
    finish: (a, [x, isNan]) => a.select('f32', isNan as never, a.constant('f32', NAN), x as never),
  };
}

/** The state of one fold: its parts for each vector side by side; and for long sums a float64 for each point. */
export class FoldState {
  readonly fold: PhaseFold;
  readonly #a: WasmArithmetic;
  readonly #cursor: Cursor;
  readonly #states: FoldStates<Vector>;
  readonly #mean: FoldSource<Vector>['mean'];
  readonly #units: readonly (readonly Local<'v128'>[])[];
  /** The sums of the lower and the upper two points of each vector. */
  readonly #totals: readonly (readonly [Local<'v128'>, Local<'v128'>])[];

  /** Begins with nothing folded. */
  constructor(
    a: WasmArithmetic,
    cursor: Cursor,
    fold: PhaseFold,
    { units: count, isLong }: { readonly units: number; readonly isLong: boolean },
  ) {
    const { body, words } = cursor;
    const { op, type, folding } = fold;
    const isFloat = type === 'f32';
    this.fold = fold;
    this.#a = a;
    this.#cursor = cursor;
    const isExtremum = isFloat && (op === 'max' || op === 'min');
    this.#states = new FoldStates([{ ...fold, folding: isExtremum ? floatExtremum(op) : folding }]);
    this.#mean = () => ({ scale: words.vector(names.meanScale), divisor: words.vector(names.meanDivisor) });
    const identity = this.#states.identity(a);
    const units = Array.from({ length: count });
    this.#units = units.map(() => identity.map((value) => body.let(value)));
    const isSum = isFloat && (op === 'sum' || op === 'mean');
    const zero = a.constant('u32', 0);
    this.#totals = isLong && isSum ? units.map(() => [body.let(zero), body.let(zero)]) : [];
  }

  /** Words that a state takes. */
  get parts(): number {
    return this.#states.types.length;
  }

  /** Folds an element of each lane; with a mask of those lanes only. */
  add(unit: number, element: Vector, position: () => Vector, mask: Vector | undefined): void {
    this.join(unit, this.lift(element, position, mask));
  }

  /** The state of an element of each lane; the neutral one where the mask has none. */
  lift(element: Vector, position: () => Vector, mask: Vector | undefined): readonly Vector[] {
    const lifted = this.#states.lift(this.#a, () => element, { position, mean: this.#mean });
    return mask === undefined ? lifted : this.#states.select(this.#a, mask, lifted, this.identity());
  }

  /** The neutral state. */
  identity(): readonly Vector[] {
    return this.#states.identity(this.#a);
  }

  /** The state of all that two stand for. */
  both(x: readonly Vector[], y: readonly Vector[]): readonly Vector[] {
    return this.#states.join(this.#a, x, y);
  }

  /** The state of a vector since the last flush, each lane by itself; it changes. */
  since(unit: number): readonly Vector[] {
    return this.#units[unit] as readonly Vector[];
  }

  /** Folds a state of another. */
  join(unit: number, state: readonly Vector[]): void {
    const own = this.#units[unit] as readonly Local<'v128'>[];
    const joined = this.#states.join(this.#a, own, state);
    own.forEach((local, at) => this.#cursor.body.set(local, joined[at] as Vector));
  }

  /** Adds the float32 sums to the float64 sums, before their chains of additions get too long. */
  flush(): void {
    const { body } = this.#cursor;
    this.#totals.forEach(([lower, upper], unit) => {
      const [sum] = this.#units[unit] as readonly [Local<'v128'>];
      body.set(lower, f64x2.add(lower, f64x2.promoteLowF32x4(sum)));
      body.set(upper, f64x2.add(upper, f64x2.promoteLowF32x4(pairs(sum))));
      body.set(sum, this.#a.constant('u32', 0));
    });
  }

  /** Joins the vectors side by side, and the lanes: the state of all of them, in each lane. */
  joinLanes(): readonly Vector[] {
    const { body } = this.#cursor;
    if (this.#totals.length > 0) {
      this.flush();
      const sums = this.#totals.flat() as Value<'v128'>[];
      const sum = body.let(sums.reduce((a, b) => f64x2.add(a, b)));
      const float = body.let(f64x2.demoteZero(f64x2.add(sum, pairs(sum))));
      return [body.let(lanesOf(float, [0, 0, 0, 0]))];
    }
    return [
      [2, 3, 0, 1],
      [1, 0, 3, 2],
    ].reduce<readonly Vector[]>(
      (state, order) =>
        this.#states.join(
          this.#a,
          state,
          state.map((part) => body.let(lanesOf(part, order))),
        ),
      this.#states.joinAll(this.#a, this.#units),
    );
  }

  /** The states of the vectors, each lane by itself. */
  states(): readonly (readonly Vector[])[] {
    if (this.#totals.length === 0) return this.#units;
    this.flush();
    return this.flushed();
  }

  /** The float32 sums of each vector as they were at the last flush; of other folds, and short sums, none. */
  flushed(): readonly (readonly Vector[])[] {
    const { body } = this.#cursor;
    return this.#totals.map(([lower, upper]) => [
      body.let(i8x16.shuffle(f64x2.demoteZero(lower), f64x2.demoteZero(upper), wordsOfShuffle(0, 1, 4, 5))),
    ]);
  }

  /** The fold's value. */
  finish(state: readonly Vector[]): Vector {
    const [value] = this.#states.finish(this.#a, state, { mean: this.#mean });
    // A state may be a variable that changes.
    return this.#a.keep(value as Vector);
  }
}

/** A vector with its lower and upper half swapped. */
function pairs(vector: Value<'v128'>): Value<'v128'> {
  return lanesOf(vector, [2, 3, 0, 1]);
}

function lanesOf(vector: Value<'v128'>, lanes: readonly number[]): Value<'v128'> {
  return i8x16.shuffle(vector, vector, wordsOfShuffle(...lanes));
}

/** Bytes of a part of a state in memory. */
export const STATE_BYTES = 16;

/** Reads the states of a phase's folds at an address. */
export function loadStates(
  a: WasmArithmetic,
  folds: readonly FoldState[],
  address: Value<'i32'>,
): readonly (readonly Vector[])[] {
  let offset = 0;
  return folds.map(({ parts }) =>
    Array.from({ length: parts }, () => a.keep(v128.load(address, offset++ * STATE_BYTES))),
  );
}
