import type { CheckedRun, ConstantNode, NumberType, RunLayout } from '@concord/backend-core/kernel';
import { anyOf, hull, type Interval, NOT_A_NUMBER, point, truth } from './interval.ts';
import type { RunData, StoredElements } from './run-data.ts';
import { bitsAt, bitsOfFloat32, valueOfBits } from './stored-values.ts';

/**
 * Returns the place of each element of an operand, in elements from its pointer: one entry an element, row-major in its
 * shape.
 */
export function elementOffsets({ shape, strides }: Pick<RunLayout, 'shape' | 'strides'>): Float64Array {
  let offsets = new Float64Array(1);
  for (const [axis, size] of shape.entries()) {
    const stride = strides[axis] as number;
    const finer = new Float64Array(offsets.length * size);
    for (const [at, offset] of offsets.entries()) {
      for (let index = 0; index < size; index++) finer[at * size + index] = offset + index * stride;
    }
    offsets = finer;
  }
  return offsets;
}

/** An input with what it holds. */
interface LoadedInput {
  readonly layout: RunLayout;
  /** The element at an offset. */
  readonly at: (offset: number) => Interval;
}

/** The leaves of a kernel in one call. */
export class Operands {
  readonly #inputs: ReadonlyMap<string, LoadedInput & { readonly offsets: Float64Array }>;
  readonly #intervals: NonNullable<RunData['intervals']>;
  readonly #parameters: ReadonlyMap<string, Interval>;

  constructor({ kernel, inputs }: CheckedRun, data: RunData) {
    this.#inputs = new Map(inputs.map((layout) => [layout.name, loaded(layout, data.inputs?.[layout.name])]));
    this.#intervals = data.intervals ?? {};
    this.#parameters = new Map(
      kernel.params.map(({ name, type }) => [name, parameterOf(type, data.params?.[name] as number)]),
    );
  }

  /** A constant of the kernel. */
  constant({ type, bits }: ConstantNode): Interval {
    if (type === 'f32') return float('f32', bits);
    return type === 'bool' ? truth(bits !== 0) : point(type === 'i32' ? bits | 0 : bits >>> 0);
  }

  /** A parameter of the call. */
  parameter(name: string): Interval {
    return this.#parameters.get(name) as Interval;
  }

  /** The element of an input that belongs to a point, or to a row, counted row-major. */
  element(name: string, at: number): Interval {
    const computed = this.#intervals[name];
    if (computed !== undefined) return computed[at] as Interval;
    const { at: read, offsets } = this.#inputs.get(name) as LoadedInput & { readonly offsets: Float64Array };
    return read(offsets[at] as number);
  }

  /** An input that is read by index. */
  gatherInput(name: string): LoadedInput {
    return this.#inputs.get(name) as LoadedInput;
  }
}

function loaded(
  layout: RunLayout,
  elements: StoredElements = new Uint8Array(),
): LoadedInput & { offsets: Float64Array } {
  const at = (offset: number): Interval => loadedNumber(layout, bitsAt(elements, offset));
  return { layout, at, offsets: layout.access === 'gather' ? new Float64Array() : elementOffsets(layout) };
}

function parameterOf(type: NumberType, value: number): Interval {
  return type === 'f32' ? float('f32', bitsOfFloat32(value)) : point(value);
}

/** A number that was read. */
export function loadedNumber({ dtype, type }: RunLayout, bits: number): Interval {
  return type === 'f32' ? float(dtype, bits) : point(bits);
}

/** A float that was read. */
function float(dtype: RunLayout['dtype'], bits: number): Interval {
  const copy = { dtype, bits };
  const value = valueOfBits(dtype, bits);
  return Number.isNaN(value) ? { ...NOT_A_NUMBER, copy } : { lo: value, hi: value, nan: false, copy };
}

/** An element that may be one of more than this many is taken for anything. */
export const MAX_CANDIDATES = 64;

/** The element of an input at one index for each axis, or `otherwise` where one is outside. */
export function gathered(input: LoadedInput, indices: readonly Interval[], otherwise: Interval): Interval {
  const { shape, strides, type } = input.layout;
  const places = placesOf(shape, strides, indices);
  if (places === undefined) return anyOf(type);
  const values = places.offsets.map(input.at);
  if (places.mayBeOutside) values.push(otherwise);
  return values.reduce(hull);
}

/** The elements that indices may name, by the distances of their axes' neighbours; undefined where they are too many. */
export function placesOf(
  shape: readonly number[],
  strides: readonly number[],
  indices: readonly Interval[],
): { readonly offsets: readonly number[]; readonly mayBeOutside: boolean } | undefined {
  let offsets: readonly number[] = [0];
  let mayBeOutside = false;
  for (const [axis, index] of indices.entries()) {
    const size = shape[axis] as number;
    const candidates = candidatesOf(index, size);
    if (candidates === undefined || offsets.length * candidates.length > MAX_CANDIDATES) return undefined;
    mayBeOutside ||= index.lo < 0 || index.hi >= size;
    offsets = offsets.flatMap((offset) => candidates.map((at) => offset + at * (strides[axis] as number)));
  }
  return { offsets, mayBeOutside: mayBeOutside || offsets.length === 0 };
}

/** The indices inside of an axis; undefined where they are too many. */
function candidatesOf(index: Interval, size: number): readonly number[] | undefined {
  if (index.choices !== undefined) {
    const inside = index.choices.filter((at) => at < size);
    return inside.length > MAX_CANDIDATES ? undefined : inside;
  }
  const first = Math.max(index.lo, 0);
  const count = Math.max(Math.min(index.hi, size - 1) - first + 1, 0);
  return count > MAX_CANDIDATES ? undefined : Array.from({ length: count }, (_, at) => first + at);
}
