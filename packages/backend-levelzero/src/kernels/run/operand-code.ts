import type { DType } from '@concord/backend-core';
import { names, vectorAxis } from '@concord/kernel';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import { decode, encode, loadRaw, storeRaw, vectorOf } from '../arithmetic/storage.ts';
import type { OperandForm, RunForm } from './form.ts';
import type { Scope } from './kernel-code.ts';

/** Reads and writes the operands that have an element for each point, or for each row. */
export class OperandCode {
  readonly #k: FunctionBuilder;
  readonly #form: RunForm;
  readonly #args: Readonly<Record<string, Value>>;

  constructor(k: FunctionBuilder, form: RunForm, args: Readonly<Record<string, Value>>) {
    this.#k = k;
    this.#form = form;
    this.#args = args;
  }

  /** Returns the start of a row in each layout. */
  rowOffsets(coordinates: readonly Value[]): Map<number, Value> {
    return new Map(this.#form.layouts.map((_, layout) => [layout, this.#offset(layout, coordinates, 0)]));
  }

  /** The value of an input: `width` neighbours, which it is known to differ between where that is not 1. */
  load(input: number, scope: Scope, width: Width): Value {
    const form = this.#form.inputs[input] as OperandForm;
    return decode(this.#k, this.loadRaw(input, scope, width), form.dtype);
  }

  /** The content of memory, unchanged. */
  loadRaw(input: number, scope: Scope, width: Width): Value {
    const form = this.#form.inputs[input] as OperandForm;
    const pointer = this.#pointer(names.input(input), form, scope);
    if (width === 1 || this.#form.layouts[form.layout] === 'dense') return loadRaw(this.#k, pointer, width, form);
    const each = this.#neighbours(pointer, form.layout, width).map((place) => this.#k.load(place));
    return vectorOf(this.#k, pointer, each);
  }

  /** The content of an output's memory for a value. */
  encode(output: number, value: Value): Value {
    return encode(this.#k, value, (this.#form.outputs[output] as { readonly dtype: DType }).dtype);
  }

  /** Writes what {@link encode} gave. */
  storeRaw(output: number, scope: Scope, raw: Value): void {
    const k = this.#k;
    const form = this.#form.outputs[output] as OperandForm;
    const pointer = this.#pointer(names.output(output), form, scope);
    if (raw.type.kind !== 'vector' || this.#form.layouts[form.layout] === 'dense') {
      storeRaw(k, pointer, raw, form);
      return;
    }
    this.#neighbours(pointer, form.layout, raw.type.count).forEach((place, lane) =>
      k.store(place, k.extract(raw, lane)),
    );
  }

  #pointer(name: string, { layout }: OperandForm, scope: Scope): Value {
    const k = this.#k;
    const pointer = this.#args[name] as Value;
    if (!('row' in scope)) return k.at(pointer, scope.offsets.get(layout) as Value);
    const base = scope.row.offsets.get(layout) as Value;
    const offset = this.#offset(layout, scope.coordinates, this.#form.rowRank);
    return k.at(pointer, k.add(base, offset));
  }

  #neighbours(pointer: Value, layout: number, width: Width): readonly Value[] {
    const k = this.#k;
    const stride = this.#args[names.stride(layout, vectorAxis(this.#form))] as Value;
    const places = [pointer];
    for (let lane = 1; lane < width; lane++) places.push(k.at(places[lane - 1] as Value, stride));
    return places;
  }

  /** Elements that coordinates along the axes from `from` on are away from the beginning. */
  #offset(layout: number, coordinates: readonly Value[], from: number): Value {
    const k = this.#k;
    const type = k.types.int(this.#form.index === 'u32' ? 32 : 64);
    const access = this.#form.layouts[layout];
    const last = vectorAxis(this.#form);
    let sum: Value | undefined;
    coordinates.forEach((coordinate, index) => {
      const axis = from + index;
      if (axis === last && access === 'constant') return;
      const isUnit = axis === last && access === 'dense';
      const term = isUnit ? coordinate : k.mul(coordinate, this.#args[names.stride(layout, axis)] as Value);
      sum = sum === undefined ? term : k.add(sum, term);
    });
    return sum ?? k.constant(type, 0);
  }
}
