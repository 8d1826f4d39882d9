import { BYTES_OF } from '@concord/backend-core/implement';
import { type FunctionBody, i32, i32x4, type Local, type Operand, select, type Value } from '../../encoder/index.ts';
import type { Vector } from '../arithmetic/wasm-arithmetic.ts';
import { names, type OperandForm, type RunForm, vectorAxis } from './form.ts';
import type { Words } from './words.ts';

/** Points of a vector. */
export const LANES = 4;

/** Which points the lanes of the vectors at hand are. */
export interface Lanes {
  /** Whether each lane is a point of its own; else those behind the last one repeat it. */
  readonly isWhole: boolean;
  /** Of each lane its point, counted from the first lane's. */
  readonly iota: Vector;
  /** Where not whole: ones for each lane that is a point of its own. */
  readonly mask?: Vector;
  /** Where not whole: the points of the lanes behind the first one. */
  readonly points?: readonly Local<'i32'>[];
}

/** Walks the axes of a form: emits the loops, and keeps for each operand a pointer to the point at hand. */
export class Cursor {
  readonly body: FunctionBody;
  readonly words: Words;
  readonly form: RunForm;
  /** Of the inputs, the outputs, and what is kept: where the first lane's element lies. Gather inputs do not move. */
  pointers: readonly Local<'i32'>[];
  /** Index of the first lane along each axis of the form, as far as loops are open. */
  coordinates: readonly (Local<'i32'> | undefined)[];
  lanes: Lanes;
  readonly #iota: Vector;
  readonly #operands: readonly OperandForm[];

  /** @param scratch - where kept values may lie */
  constructor(body: FunctionBody, words: Words, form: RunForm, scratch: Local<'i32'>) {
    this.body = body;
    this.words = words;
    this.form = form;
    this.pointers = [
      ...form.inputs.map((_, index) => words.number(names.input(index))),
      ...form.outputs.map((_, index) => words.number(names.output(index))),
      ...form.kept.map((_, at) => words.hoist(i32.add(scratch, i32.mul(words.number(names.keptBytes), at)))),
    ];
    const last = form.rowRank + form.foldedRank - 1;
    const moves = Array.from({ length: last + 1 }, (__, axis) => axis === last);
    this.#operands = [
      ...form.inputs,
      ...form.outputs,
      ...form.kept.map(() => ({ dtype: 'f32', moves, step: 'dense' }) as const),
    ];
    this.coordinates = [];
    this.#iota = words.hoist(i32x4.const(0, 1, 2, 3));
    this.lanes = { isWhole: true, iota: this.#iota };
  }

  /** The number of the word of a size. */
  size(axis: number): Local<'i32'> {
    return this.words.number(names.size(axis));
  }

  /** Bytes from one index along an axis to the next. */
  stride(operand: number, axis: number): Local<'i32'> {
    return this.words.number(names.stride(operand, axis));
  }

  /** Bytes from an operand's first lane to each of the others. */
  laneOffsets(operand: number): readonly Value<'i32'>[] {
    const stride = this.stride(operand, vectorAxis(this.form));
    const { points } = this.lanes;
    return [1, 2, 3].map((lane, at) => {
      if (points !== undefined) return i32.mul(points[at] as Local<'i32'>, stride);
      return lane === 1 ? stride : i32.mul(stride, lane);
    });
  }

  /**
   * Goes through items, each a line of the axes or, with `inner`, one of so many pieces of a line.
   *
   * @param axes - the outer axes, which a line has one index each of
   * @param range - `isTurned`: a piece has all indices of the last axis before the next one begins
   * @param each - gets the number of the line, and of the piece
   */
  items(
    axes: readonly number[],
    range: {
      readonly first: Operand<'i32'>;
      readonly end: Operand<'i32'>;
      readonly inner?: Local<'i32'>;
      readonly isTurned?: boolean;
    },
    each: (line: Local<'i32'>, piece: Local<'i32'> | undefined) => void,
  ): void {
    const { body } = this;
    const { inner, isTurned = false } = range;
    const outside = { pointers: this.pointers, coordinates: this.coordinates };
    const movers = this.#moversAlong(axes);
    const own = new Map(movers.map((operand) => [operand, body.local('i32')]));
    const indices = axes.map(() => body.local('i32'));
    const item = body.let(typeof range.first === 'number' ? i32.const(range.first) : range.first);
    const end = typeof range.end === 'number' ? range.end : body.let(range.end);
    const line = inner === undefined ? item : body.local('i32');
    const piece = inner === undefined ? undefined : body.local('i32');
    const place = (): void => {
      if (inner === undefined) this.#decode(line, axes, indices);
      else if (isTurned) this.#decodeTurned(item, axes, indices, inner, piece as Local<'i32'>);
      else {
        body.set(line, i32.divU(item, inner));
        body.set(piece as Local<'i32'>, i32.sub(item, i32.mul(line, inner)));
        this.#decode(line, axes, indices);
      }
      for (const [operand, pointer] of own) {
        const terms = axes.flatMap((axis, at) =>
          this.#moves(operand, axis) ? [i32.mul(indices[at] as Local<'i32'>, this.stride(operand, axis))] : [],
        );
        body.set(
          pointer,
          terms.reduce<Value<'i32'>>((sum, term) => i32.add(sum, term), outside.pointers[operand] as Local<'i32'>),
        );
      }
    };
    this.pointers = outside.pointers.map((pointer, operand) => own.get(operand) ?? pointer);
    this.coordinates = withIndices(outside.coordinates, axes, indices);
    body.while(i32.ltU(item, end), () => {
      place();
      const lastAxis = axes.at(-1);
      if ((inner !== undefined && !isTurned) || lastAxis === undefined) {
        each(line, piece);
        body.increase(item, 1);
        return;
      }
      // Along the last axis lines are neighbours, which saves the divisions.
      const index = indices.at(-1) as Local<'i32'>;
      body.loop((again) => {
        each(line, piece);
        body.increase(item, 1);
        body.increase(index, 1);
        for (const [operand, pointer] of own) {
          if (this.#moves(operand, lastAxis)) body.increase(pointer, this.stride(operand, lastAxis));
        }
        body.branchIf(again, i32.and(i32.ltU(item, end), i32.ltU(index, this.size(lastAxis))));
      });
    });
    Object.assign(this, outside);
  }

  /**
   * Stands at one index of each of some axes.
   *
   * @param own - operands that lie where their pointers say
   */
  at(
    axes: readonly number[],
    indices: readonly Local<'i32'>[],
    own: ReadonlyMap<number, Local<'i32'>>,
    each: () => void,
  ): void {
    const outside = { pointers: this.pointers, coordinates: this.coordinates };
    this.pointers = outside.pointers.map((pointer, operand) => {
      const given = own.get(operand);
      if (given !== undefined) return given;
      const terms = axes.flatMap((axis, at) =>
        this.#moves(operand, axis) ? [i32.mul(indices[at] as Local<'i32'>, this.stride(operand, axis))] : [],
      );
      if (terms.length === 0) return pointer;
      return this.body.let(terms.reduce<Value<'i32'>>((sum, term) => i32.add(sum, term), pointer));
    });
    this.coordinates = withIndices(outside.coordinates, axes, indices);
    each();
    Object.assign(this, outside);
  }

  /**
   * Goes through `count` points of the axis of vectors, from index `start` on, in blocks of `units` vectors; what is left at
   * the end vector by vector.
   *
   * @param each - gets the vectors of the block
   */
  blocks(
    { start, count, units }: { readonly start: Operand<'i32'>; readonly count: Value<'i32'>; readonly units: number },
    each: (units: number) => void,
  ): void {
    const { body } = this;
    const axis = vectorAxis(this.form);
    const outside = { pointers: this.pointers, coordinates: this.coordinates, lanes: this.lanes };
    const left = body.let(count);
    const index = body.let(typeof start === 'number' ? i32.const(start) : start);
    const movers = this.#moversAlong([axis]);
    const own = new Map(
      movers.map((operand) => {
        const pointer = outside.pointers[operand] as Local<'i32'>;
        const begin = start === 0 ? pointer : i32.add(pointer, i32.mul(index, this.stride(operand, axis)));
        return [operand, body.let(begin)];
      }),
    );
    const go = (points: number): void => {
      for (const [operand, pointer] of own) {
        const stride = this.stride(operand, axis);
        const { step, dtype } = this.#operand(operand);
        body.increase(pointer, step === 'dense' ? points * BYTES_OF[dtype] : this.words.hoist(i32.mul(stride, points)));
      }
      body.increase(index, points);
    };
    this.pointers = outside.pointers.map((pointer, operand) => own.get(operand) ?? pointer);
    this.coordinates = withIndices(outside.coordinates, [axis], [index]);
    if (this.form.hasWhole) {
      const whole = units * LANES;
      body.while(i32.geU(left, whole), () => {
        each(units);
        go(whole);
        body.increase(left, -whole);
      });
    }
    if (this.form.hasRest || units > 1) {
      body.while(left, () => {
        const points = body.let(select(i32.ltU(left, LANES), left, i32.const(LANES)));
        const last = body.let(i32.sub(points, 1));
        const own = [1, 2, 3].map((lane) => body.let(select(i32.ltU(last, lane), last, i32.const(lane))));
        this.lanes = {
          isWhole: false,
          iota: body.let(i32x4.minU(this.#iota, i32x4.splat(last))),
          mask: body.let(i32x4.ltU(this.#iota, i32x4.splat(points))),
          points: own,
        };
        each(1);
        go(LANES);
        body.set(left, i32.sub(left, points));
        this.lanes = outside.lanes;
      });
    }
    Object.assign(this, outside);
  }

  /** Goes through `count` points of an axis, one by one, from index `start` on. */
  points(axis: number, start: Operand<'i32'>, count: Value<'i32'>, each: () => void): void {
    const { body } = this;
    const outside = { pointers: this.pointers, coordinates: this.coordinates };
    const index = body.let(typeof start === 'number' ? i32.const(start) : start);
    const end = body.let(i32.add(index, count));
    const own = new Map(
      this.#moversAlong([axis]).map((operand) => {
        const pointer = outside.pointers[operand] as Local<'i32'>;
        const begin = start === 0 ? pointer : i32.add(pointer, i32.mul(index, this.stride(operand, axis)));
        return [operand, body.let(begin)];
      }),
    );
    this.pointers = outside.pointers.map((pointer, operand) => own.get(operand) ?? pointer);
    this.coordinates = withIndices(outside.coordinates, [axis], [index]);
    body.while(i32.ltU(index, end), () => {
      each();
      for (const [operand, pointer] of own) body.increase(pointer, this.stride(operand, axis));
      body.increase(index, 1);
    });
    Object.assign(this, outside);
  }

  /** The last index, then the piece, then the others. */
  #decodeTurned(
    item: Local<'i32'>,
    axes: readonly number[],
    indices: readonly Local<'i32'>[],
    inner: Local<'i32'>,
    piece: Local<'i32'>,
  ): void {
    const { body } = this;
    const size = this.size(axes.at(-1) as number);
    const above = body.let(i32.divU(item, size));
    body.set(indices.at(-1) as Local<'i32'>, i32.sub(item, i32.mul(above, size)));
    const rest = body.let(i32.divU(above, inner));
    body.set(piece, i32.sub(above, i32.mul(rest, inner)));
    this.#decode(rest, axes.slice(0, -1), indices.slice(0, -1));
  }

  #decode(line: Local<'i32'>, axes: readonly number[], indices: readonly Local<'i32'>[]): void {
    const { body } = this;
    let left: Value<'i32'> = line;
    for (let at = axes.length - 1; at > 0; at--) {
      const size = this.size(axes[at] as number);
      const quotient = body.let(i32.divU(left, size));
      body.set(indices[at] as Local<'i32'>, i32.sub(left, i32.mul(quotient, size)));
      left = quotient;
    }
    if (axes.length > 0) body.set(indices[0] as Local<'i32'>, left);
  }

  #moversAlong(axes: readonly number[]): readonly number[] {
    return this.pointers.flatMap((_, operand) => (axes.some((axis) => this.#moves(operand, axis)) ? [operand] : []));
  }

  #moves(operand: number, axis: number): boolean {
    return this.#operand(operand).moves[axis] === true;
  }

  #operand(operand: number): OperandForm {
    return this.#operands[operand] as OperandForm;
  }
}

function withIndices(
  coordinates: readonly (Local<'i32'> | undefined)[],
  axes: readonly number[],
  indices: readonly Local<'i32'>[],
): readonly (Local<'i32'> | undefined)[] {
  const changed = [...coordinates];
  axes.forEach((axis, at) => (changed[axis] = indices[at]));
  return changed;
}
