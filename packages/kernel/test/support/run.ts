import { f32ToF16Bits } from '@concord/backend-core';
import { checkedRun, type Kernel, type RunView } from '@concord/backend-core/kernel';
import { evaluateRun } from '../../src/evaluate/evaluate-run.ts';

/** An operand: its memory, and how it lies there if not dense in its own type. */
export interface Given {
  readonly memory: ArrayBufferView;
  readonly view?: RunView & { readonly shape?: readonly number[] };
}

/** A call of a kernel on typed arrays. */
export interface Call {
  readonly shape: readonly number[];
  readonly folded?: number;
  readonly inputs?: Readonly<Record<string, ArrayBufferView | Given>>;
  readonly outputs: Readonly<Record<string, ArrayBufferView | Given>>;
  readonly params?: readonly number[];
}

const given = (value: ArrayBufferView | Given): Given => ('memory' in value ? value : { memory: value });
const viewsOf = (values: Call['outputs']) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, given(value).view ?? {}])) as Record<
    string,
    RunView
  >;

/** Runs a kernel by {@link evaluateRun}. */
export function run(kernel: Kernel, { shape, folded, inputs = {}, outputs, params = [] }: Call): void {
  const asked = { shape, inputs: viewsOf(inputs), outputs: viewsOf(outputs) };
  const geometry = checkedRun(kernel, folded === undefined ? asked : { ...asked, folded });
  const operand = (value: ArrayBufferView | Given | undefined) => {
    const { memory } = given(value as Given);
    return memory.byteLength === 0 ? undefined : memory;
  };
  evaluateRun({
    geometry,
    inputs: kernel.inputs.map(({ name }) => operand(inputs[name])),
    outputs: kernel.outputs.map(({ name }) => operand(outputs[name])),
    params,
  });
}

/** Numbers without a visible order, in [-2, 2), a multiple of 2^-12. */
export function numbers(count: number, seed = 1): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => ((Math.imul(i + seed, 0x9e3779b1) >>> 18) - 8192) / 4096);
}

/** float16 of some numbers. */
export function halves(values: readonly number[]): Uint16Array {
  return Uint16Array.from(values, f32ToF16Bits);
}
