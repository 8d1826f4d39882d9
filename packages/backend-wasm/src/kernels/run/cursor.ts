import { BYTES_OF } from '@concord/backend-core/implement';
import { vectorAxis } from '@concord/kernel';
import { type FunctionBody, i32, i32x4, type Local, type Operand, select, type Value } from '../../encoder/index.ts';
import type { Vector } from '../arithmetic/wasm-arithmetic.ts';
import { names, type OperandForm, type RunForm } from './form.ts';
import type { Words } from './words.ts';

/** Points of a vector. */
export const LANES = 4;

/** The points of the lanes of the current vectors. */
export interface Lanes {
  /** True if each lane is its own point; else the lanes after the last point repeat it. */
  readonly isWhole: boolean;
  /** The point of each lane, counted from the first lane's. */
  readonly iota: Vector;
  /** All bits one in each lane that is its own point, if not whole. */
  readonly mask?: Vector;
  /** The points of the lanes after the first one, if not whole. */
  readonly points?: readonly Local<'i32'>[];
}

/** Items to go through, each a line of some axes or, with `inner`, one of `inner` pieces of a line. */
export interface ItemRange {
  readonly first: Operand<'i32'>;
  readonly end: Operand<'i32'>;
  readonly inner?: Local<'i32'> | undefined;
  /** A piece has all indices of the last axis before the next one begins. */
  readonly isTransposed?: boolean;
}

/** Pointers that some operands get in a loop, by the operand. */
type Pointers = ReadonlyMap<number, Local<'i32'>>;

/** Walks the axes of a form: emits the loops, and keeps for each operand a pointer to the point at hand. */
export class Cursor {
  readonly body: FunctionBody;
  readonly words: Words;
  readonly form: RunForm;
  /** Addresses of the first lane's element in the inputs, the outputs and the kept values. Gather inputs do not move. */
  pointers: readonly Local<'i32'>[];
  /** Index of the first lane along each axis of the form, as far as loops are open. */
  coordinates: readonly (Local<'i32'> | undefined)[];
  lanes: Lanes;
  readonly isShared: boolean;
  readonly #iota: Vector;
  readonly #operands: readonly OperandForm[];

  /**
   * @param scratch - where kept values may lie
   * @param isShared - whether other threads use the memory
   */
  constructor(body: FunctionBody, words: Words, form: RunForm, scratch: Local<'i32'>, isShared = false) {
    this.isShared = isShared;
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

  /** The number of indices of an axis. */
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
    return [1, 2, 3].map((lane, at) => i32.mul(stride, points === undefined ? lane : (points[at] as Local<'i32'>)));
  }

  /**
   * Goes through items.
   *
   * @param axes - the outer axes, which a line has one index each of
   * @param each - gets the number of the line, unless turned, and of the piece
   */
  items(
    axes: readonly number[],
    range: ItemRange,
    each: (line: Local<'i32'>, piece: Local<'i32'> | undefined) => void,
  ): void {
    const { body } = this;
    const { inner, isTransposed = false } = range;
    const own = new Map(this.#moversAlong(axes).map((operand) => [operand, body.local('i32')]));
    const outside = this.pointers;
    const indices = axes.map(() => body.local('i32'));
    const item = body.let(typeof range.first === 'number' ? i32.const(range.first) : range.first);
    const end = typeof range.end === 'number' ? range.end : body.let(range.end);
    const line = inner === undefined ? item : body.local('i32');
    const piece = inner === undefined ? undefined : body.local('i32');
    const place = (): void => {
      if (inner === undefined) this.#decode(line, axes, indices);
      else if (isTransposed) this.#decodeTransposed(item, axes, indices, inner, piece as Local<'i32'>);
      else {
        body.set(line, i32.divU(item, inner));
        body.set(piece as Local<'i32'>, i32.sub(item, i32.mul(line, inner)));
        this.#decode(line, axes, indices);
      }
      for (const [operand, pointer] of own) {
        body.set(pointer, this.#at(operand, outside[operand] as Local<'i32'>, axes, indices));
      }
    };
    const last = axes.at(-1);
    const hasNeighbours = last !== undefined && (inner === undefined || isTransposed);
    this.#inside(own, axes, indices, () => {
      body.while(i32.ltU(item, end), () => {
        place();
        if (!hasNeighbours) {
          each(line, piece);
          body.increase(item, 1);
          return;
        }
        // Along the last axis items are neighbours, which saves the divisions.
        const index = indices.at(-1) as Local<'i32'>;
        body.loop((again) => {
          each(line, piece);
          body.increase(item, 1);
          body.increase(index, 1);
          for (const [operand, pointer] of own) {
            if (this.#moves(operand, last)) body.increase(pointer, this.stride(operand, last));
          }
          body.branchIf(again, i32.and(i32.ltU(item, end), i32.ltU(index, this.size(last))));
        });
      });
    });
  }

  /**
   * Stands at one index of each of some axes.
   *
   * @param own - operands that lie where these pointers say
   */
  at(axes: readonly number[], indices: readonly Local<'i32'>[], own: Pointers, each: () => void): void {
    const pointers = new Map(own);
    for (const operand of this.#moversAlong(axes)) {
      if (own.has(operand)) continue;
      const pointer = this.pointers[operand] as Local<'i32'>;
      pointers.set(operand, this.body.let(this.#at(operand, pointer, axes, indices)));
    }
    this.#inside(pointers, axes, indices, each);
  }

  /**
   * Goes through `count` points of the axis of vectors, from index `start` on, in blocks of `units` vectors; the rest at
   * the end vector by vector.
   *
   * @param each - gets the vectors of the block
   */
  blocks(
    { start, count, units }: { readonly start: Operand<'i32'>; readonly count: Value<'i32'>; readonly units: number },
    each: (units: number) => void,
  ): void {
    const { body, form } = this;
    const axis = vectorAxis(form);
    const left = body.let(count);
    const { index, own } = this.#begin(axis, start);
    const go = (points: number): void => {
      for (const [operand, pointer] of own) {
        const { step, dtype } = this.#operands[operand] as OperandForm;
        const isDense = step === 'dense';
        const bytes = isDense
          ? points * BYTES_OF[dtype]
          : this.words.hoist(i32.mul(this.stride(operand, axis), points));
        body.increase(pointer, bytes);
      }
      body.increase(index, points);
    };
    this.#inside(own, [axis], [index], () => {
      const whole = units * LANES;
      if (form.hasWhole) {
        body.while(i32.geU(left, whole), () => {
          each(units);
          go(whole);
          body.increase(left, -whole);
        });
      }
      if (!form.hasRest && units === 1) return;
      body.while(left, () => {
        const points = body.let(select(i32.ltU(left, LANES), left, i32.const(LANES)));
        const outside = this.lanes;
        this.lanes = this.#some(points);
        each(1);
        this.lanes = outside;
        go(LANES);
        body.set(left, i32.sub(left, points));
      });
    });
  }

  /** The start of a piece of a line, and its number of points; without a piece it is the whole line. */
  segment(
    axis: number,
    piece: Local<'i32'> | undefined,
    segmentName: string = names.segment,
  ): { readonly start: Local<'i32'> | 0; readonly count: Local<'i32'> } {
    if (piece === undefined) return { start: 0, count: this.size(axis) };
    const { body, words } = this;
    const segment = words.number(segmentName);
    const start = body.let(i32.mul(piece, segment));
    const left = body.let(i32.sub(this.size(axis), start));
    return { start, count: body.let(select(i32.ltU(left, segment), left, segment)) };
  }

  /** Goes through `count` points of an axis, one by one, from index `start` on. */
  points(axis: number, start: Operand<'i32'>, count: Value<'i32'>, each: () => void): void {
    const { body } = this;
    const { index, own } = this.#begin(axis, start);
    const end = body.let(i32.add(index, count));
    this.#inside(own, [axis], [index], () => {
      body.while(i32.ltU(index, end), () => {
        each();
        for (const [operand, pointer] of own) body.increase(pointer, this.stride(operand, axis));
        body.increase(index, 1);
      });
    });
  }

  /** The lanes of a vector of which only the first `points` are their own points. */
  #some(points: Local<'i32'>): Lanes {
    const { body } = this;
    const last = body.let(i32.sub(points, 1));
    return {
      isWhole: false,
      iota: body.let(i32x4.minU(this.#iota, i32x4.splat(last))),
      mask: body.let(i32x4.ltU(this.#iota, i32x4.splat(points))),
      points: [1, 2, 3].map((lane) => body.let(select(i32.ltU(last, lane), last, i32.const(lane)))),
    };
  }

  /** Statements in which some operands have other pointers, and some axes have indices. */
  #inside(own: Pointers, axes: readonly number[], indices: readonly Local<'i32'>[], statements: () => void): void {
    const outside = { pointers: this.pointers, coordinates: this.coordinates };
    const coordinates = [...outside.coordinates];
    axes.forEach((axis, at) => (coordinates[axis] = indices[at]));
    this.pointers = outside.pointers.map((pointer, operand) => own.get(operand) ?? pointer);
    this.coordinates = coordinates;
    statements();
    Object.assign(this, outside);
  }

  /** A new index along an axis, and pointers there. */
  #begin(axis: number, start: Operand<'i32'>): { readonly index: Local<'i32'>; readonly own: Pointers } {
    const { body } = this;
    const index = body.let(typeof start === 'number' ? i32.const(start) : start);
    const pointers = this.#moversAlong([axis]).map((operand): [number, Local<'i32'>] => {
      const pointer = this.pointers[operand] as Local<'i32'>;
      return [operand, body.let(start === 0 ? pointer : this.#at(operand, pointer, [axis], [index]))];
    });
    return { index, own: new Map(pointers) };
  }

  /** The address of an operand at some indices, from a pointer on. */
  #at(operand: number, pointer: Local<'i32'>, axes: readonly number[], indices: readonly Local<'i32'>[]): Value<'i32'> {
    return axes.reduce<Value<'i32'>>((sum, axis, at) => {
      if (!this.#moves(operand, axis)) return sum;
      return i32.add(sum, i32.mul(indices[at] as Local<'i32'>, this.stride(operand, axis)));
    }, pointer);
  }

  /** The last index, then the piece, then the others. */
  #decodeTransposed(
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

  /** Indices from the row-major number of a line. */
  #decode(line: Local<'i32'>, axes: readonly number[], indices: readonly Local<'i32'>[]): void {
    const { body } = this;
    let left = line;
    for (let at = axes.length - 1; at > 0; at--) {
      const size = this.size(axes[at] as number);
      const quotient = body.let(i32.divU(left, size));
      body.set(indices[at] as Local<'i32'>, i32.sub(left, i32.mul(quotient, size)));
      left = quotient;
    }
    if (axes.length > 0) body.set(indices[0] as Local<'i32'>, left);
  }

  #moversAlong(axes: readonly number[]): readonly number[] {
    return [...this.#operands.keys()].filter((operand) => axes.some((axis) => this.#moves(operand, axis)));
  }

  #moves(operand: number, axis: number): boolean {
    return (this.#operands[operand] as OperandForm).moves[axis] === true;
  }
}
