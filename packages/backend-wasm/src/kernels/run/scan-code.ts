import { type Scans, scansOf } from '@concord/kernel';
import { i32, i32x4, i8x16, type Local } from '../../encoder/index.ts';
import type { Vector, WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import { wordsOfShuffle } from '../common/integers.ts';
import type { Cursor } from './cursor.ts';
import type { FoldState } from './fold-states.ts';
import type { NodeCode } from './node-code.ts';

const nowhere = (): never => {
  throw new Error('scans ask for no places');
};

/** Scans the elements of rows as a walk comes to them; vectors lie along a row, one at a time, or each lane is a row. */
export class ScanCode {
  readonly #a: WasmArithmetic;
  readonly #cursor: Cursor;
  readonly #code: NodeCode;
  readonly #folds: readonly FoldState[];
  readonly #scans: Scans;
  /** The flushed sums of each fold with long sums, for each vector. */
  readonly #flushed: readonly (readonly Local<'v128'>[])[];

  /** @param folds - the states of what comes before the walk; they go along with it */
  constructor(a: WasmArithmetic, cursor: Cursor, code: NodeCode, folds: readonly FoldState[]) {
    this.#a = a;
    this.#cursor = cursor;
    this.#code = code;
    this.#folds = folds;
    this.#scans = scansOf(cursor.form.kernel) as Scans;
    this.#flushed = folds.map((fold) => fold.flushed().map(() => cursor.body.let(a.constant('u32', 0))));
  }

  /** The nodes that are scanned. */
  get operands(): readonly number[] {
    return this.#scans.folds.map(({ operand }) => operand);
  }

  /** Gives scans their values at some vectors. */
  add(vectors: number): void {
    for (const [index, fold] of this.#folds.entries()) {
      const count = this.#code.varies(fold.fold.index) ? vectors : 1;
      const values = Array.from({ length: count }, (_, unit) => this.#valueAt(fold, index, unit));
      this.#code.setFold(fold.fold.index, values);
    }
  }

  /** Moves sums on before their chains of additions get too long. */
  flush(): void {
    if (!this.#cursor.form.isLong) return;
    for (const [index, fold] of this.#folds.entries()) {
      fold.flush();
      fold.flushed().forEach(([sum], unit) => {
        this.#cursor.body.set(this.#flushed[index]?.[unit] as Local<'v128'>, sum as Vector);
      });
    }
  }

  #valueAt(fold: FoldState, index: number, unit: number): Vector {
    const { form, lanes, body } = this.#cursor;
    const isAlong = form.along === 'folded';
    const isExclusive = this.#scans.exclusive[index] === true;
    const mask = isAlong && !lanes.isWhole ? lanes.mask : undefined;
    const element = fold.lift(this.#code.value(fold.fold.operand, unit), nowhere, mask);
    const own = isAlong ? this.#acrossLanes(fold, element) : element;
    const before = isAlong ? this.#shifted(fold, own, 1) : fold.identity();
    const flushed = this.#flushed[index]?.[unit];
    const joined = fold.both(fold.since(unit), isExclusive ? before : own);
    const value = fold.finish(flushed === undefined ? joined : fold.both([flushed], joined));
    const all = isAlong ? own.map((part) => body.let(i8x16.shuffle(part, part, wordsOfShuffle(3, 3, 3, 3)))) : own;
    fold.join(unit, all);
    if (mask === undefined) return value;
    // Lanes after the last one are stored where it is.
    const bytes = i32x4.add(
      i32x4.mul(lanes.iota, i32x4.splat(i32.const(0x0404_0404))),
      i32x4.splat(i32.const(0x0302_0100)),
    );
    return this.#a.keep(i8x16.swizzle(value, bytes));
  }

  /** Returns the state of the lanes up to each lane. */
  #acrossLanes(fold: FoldState, state: readonly Vector[]): readonly Vector[] {
    const pairs = fold.both(this.#shifted(fold, state, 1), state);
    return fold.both(this.#shifted(fold, pairs, 2), pairs);
  }

  /** States of the lanes 1 or 2 before. */
  #shifted(fold: FoldState, state: readonly Vector[], lanes: 1 | 2): readonly Vector[] {
    const order = lanes === 1 ? wordsOfShuffle(0, 4, 5, 6) : wordsOfShuffle(0, 0, 4, 5);
    const none = fold.identity();
    return state.map((part, at) => this.#cursor.body.let(i8x16.shuffle(none[at] as Vector, part, order)));
  }
}
