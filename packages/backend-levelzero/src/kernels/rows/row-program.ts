import { type FoldSource, FoldStates, outputsOf, partFoldsOf, type Scans } from '@concord/kernel';
import type { Value } from '@concord/spirv-builder';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import type { Condition, KernelCode, RowScope } from '../run/kernel-code.ts';
import { joinComponents, type States } from './states.ts';
import type { Folded, Place, Visitor, Walk } from './walk.ts';

/** Elements that a scan adds one after the other: a power of two. */
const BLOCK = 512;

/** Folds and stores rows: the part that is the same for all teams. */
export class RowProgram {
  readonly #code: KernelCode;
  /** Folds of each phase, which need those of the phases before; then those of scans. */
  readonly phases: readonly FoldStates<Value>[];

  constructor(code: KernelCode) {
    this.#code = code;
    this.phases = partFoldsOf(code.kernel).map((folds) => new FoldStates<Value>(folds));
  }

  /** The states that a work-item folds, of one or more rows, in a phase: for each row its states, one of each. */
  foldOwn(phase: number, rows: readonly RowScope[], walk: Walk): readonly States[] {
    const states = this.phases[phase] as FoldStates<Value>;
    const size = states.types.length;
    const visitor: Visitor = {
      identity: (width) => rows.flatMap((row) => states.identity(this.#code.math(this.#widthOf(row, width)))),
      take: (given, place) =>
        rows.flatMap((row, index) => this.#take(states, row, given.slice(index * size, (index + 1) * size), place)),
    };
    const folded = walk.fold(visitor);
    return rows.map((row, index) => {
      const own = folded.map((each) => ({ ...each, states: each.states.slice(index * size, (index + 1) * size) }));
      return this.#joinOwn(states, row, own);
    });
  }

  /** Gives the folds of a phase their values, from states of whole rows. */
  finish(phase: number, row: RowScope, states: States): void {
    const folds = this.phases[phase] as FoldStates<Value>;
    const width = this.#code.form.along === 'rows' ? row.width : 1;
    const values = folds.finish(this.#code.math(width), states, { mean: () => this.#mean(width) });
    folds.folds.forEach(({ index }, at) => row.folds.set(index, this.#narrow(index, values[at] as Value)));
    row.values.hoist(['row'], phase + 1);
  }

  /** Stores row outputs. */
  storeRows(rows: readonly RowScope[], ...conditions: readonly Condition[]): void {
    const outputs = outputsOf(this.#code.kernel, 'row');
    if (outputs.length > 0) for (const row of rows) this.#code.store(outputs, row, ...conditions);
  }

  /** Stores the elements of rows. */
  storeElements(rows: readonly RowScope[], walk: Walk, works: Condition): void {
    const code = this.#code;
    const outputs = outputsOf(code.kernel, 'element');
    if (outputs.length === 0) return;
    walk.each((place) => {
      for (const row of rows) {
        const scope = place.scope ?? code.element(row, place.coordinates, this.#widthOf(row, place.width));
        code.store(outputs, scope, place.isThere, works);
      }
    });
  }

  /**
   * Stores the elements of rows, and what scans give them. Of elements and of blocks of them there are two running states, so that no
   * chain of additions is long.
   *
   * @param before - of each row the states of all that comes before the walk; undefined: nothing does
   */
  storeScanned(
    scans: Scans,
    rows: readonly RowScope[],
    before: readonly (States | undefined)[],
    walk: Walk,
    works: Condition,
  ): void {
    const code = this.#code;
    const { k } = code;
    const folds = this.phases.at(-1) as FoldStates<Value>;
    const size = folds.types.length;
    const none = (row: RowScope): States => folds.identity(code.math(this.#widthOf(row, 1)));
    const begin = rows.flatMap((row, index) => [...(before[index] ?? none(row)), ...none(row)]);
    const outputs = outputsOf(code.kernel, 'element');
    walk.scan(scans.reverse, [k.constant(code.index, 0), ...begin], ([count, ...carried], place) => {
      const isEdge = k.eq(k.and(count as Value, BLOCK - 1), BLOCK - 1);
      const next = rows.flatMap((row, index) => {
        const own = carried.slice(2 * size * index, 2 * size * (index + 1));
        const [past, recent] = [own.slice(0, size), own.slice(size)];
        const width = this.#widthOf(row, 1);
        const a = code.math(width);
        const scope = code.element(row, place, width);
        const lifted = folds.lift(a, ({ operand }) => code.wide(operand, scope, width), {
          position: () => this.#position({ coordinates: place, width: 1 }, width),
          mean: () => this.#mean(width),
        });
        const now = folds.join(a, recent, lifted);
        const chosen = folds.folds.flatMap((_, at) => folds.part(scans.exclusive[at] === true ? recent : now, at));
        const values = folds.finish(a, folds.join(a, past, chosen), { mean: () => this.#mean(width) });
        folds.folds.forEach((fold, at) => scope.scans.set(fold.index, this.#narrow(fold.index, values[at] as Value)));
        code.store(outputs, scope, works);
        return [...folds.select(a, isEdge, folds.join(a, past, now), past), ...folds.select(a, isEdge, none(row), now)];
      });
      return [k.add(count as Value, 1), ...next];
    });
  }

  /** Components of an element's value: neighbours in the row, or neighbouring rows. */
  #widthOf(row: RowScope, along: Width): Width {
    return this.#code.form.along === 'rows' ? row.width : along;
  }

  #take(folds: FoldStates<Value>, row: RowScope, given: States, place: Place): States {
    const width = this.#widthOf(row, place.width);
    const scope = place.scope ?? this.#code.element(row, place.coordinates, width);
    const a = this.#code.math(width);
    const lifted = folds.lift(a, ({ operand }) => this.#code.wide(operand, scope, width), {
      position: () => this.#position(place, width),
      mean: () => this.#mean(width),
    });
    const taken = folds.join(a, given, lifted);
    return place.isThere === undefined ? taken : folds.select(a, place.isThere, taken, given);
  }

  /** Row-major places in the folded axes. */
  #position({ coordinates }: Place, width: Width): Value {
    const { form } = this.#code;
    const linear = this.#code.numberOf(coordinates, form.rowRank);
    if (form.along === 'folded') return this.#code.position(linear, width);
    return this.#code.splat(this.#code.position(linear, 1), width);
  }

  #mean(width: Width): ReturnType<FoldSource<Value>['mean']> {
    const [scale, divisor] = [this.#code.arg('meanScale'), this.#code.arg('meanDivisor')];
    return { scale: this.#code.splat(scale, width), divisor: this.#code.splat(divisor, width) };
  }

  #joinOwn(folds: FoldStates<Value>, row: RowScope, folded: readonly Folded[]): States {
    const code = this.#code;
    const ofWidth = (width: Width): States => {
      const sets = folded.filter((each) => each.width === width).map(({ states }) => states);
      return folds.joinAll(code.math(code.form.along === 'rows' ? row.width : width), sets);
    };
    const widths = [...new Set(folded.map(({ width }) => width))];
    if (code.form.along === 'rows') return ofWidth(widths[0] as Width);
    const parts = widths.map((width) => joinComponents(code.k, folds, ofWidth(width), width));
    return folds.joinAll(code.math(1), parts);
  }

  /** A value that is the same in all components of a vector, once. */
  #narrow(node: number, value: Value): Value {
    const isWide = value.type.kind === 'vector' && this.#code.varies[node] !== true;
    return isWide ? this.#code.k.extract(value, 0) : value;
  }
}
