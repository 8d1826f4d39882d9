import { type CheckedRun, type ConstantNode, type NumberType, type RunLayout } from '@concord/backend-core/kernel';
import { elementOffsets } from './element-offsets.ts';
import { type Interval, NOT_A_NUMBER, point, truth } from './interval.ts';
import type { RunData, StoredElements } from './run-data.ts';
import { bitsAt, bitsOfFloat32, valueOfBits } from './stored-values.ts';

/** An input with what it holds. */
export interface LoadedInput {
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
  const { access, dtype, type } = layout;
  const at = (offset: number): Interval => {
    const bits = bitsAt(elements, offset);
    return type === 'f32' ? float(dtype, bits) : point(bits);
  };
  return { layout, at, offsets: access === 'gather' ? new Float64Array() : elementOffsets(layout) };
}

function parameterOf(type: NumberType, value: number): Interval {
  return type === 'f32' ? float('f32', bitsOfFloat32(value)) : point(value);
}

/** A float that was read. */
function float(dtype: RunLayout['dtype'], bits: number): Interval {
  const copy = { dtype, bits };
  const value = valueOfBits(dtype, bits);
  return Number.isNaN(value) ? { ...NOT_A_NUMBER, copy } : { lo: value, hi: value, nan: false, copy };
}
