import type { Operand } from '@concord/backend-core/implement';
import type { ResolvedRun, RunLayout } from '@concord/backend-core/kernel';
import { compareStored, type RunData, runReference, type StoredElements } from '@concord/backend-cpu/reference';

// Operands of a `run` in memory with more around them, and what a device may have changed of it.

/** Element arrays by dtype; f16 and bf16 as bits. */
const ARRAYS = {
  f32: Float32Array,
  i32: Int32Array,
  u32: Uint32Array,
  f16: Uint16Array,
  bf16: Uint16Array,
  i8: Int8Array,
  u8: Uint8Array,
} as const;

/** Elements before and after each operand, which must not change. */
const MARGIN = 3;
const FILLER = 0x5a;

/** Elements of a dtype, all gaps included. */
export function elements(dtype: RunLayout['dtype'], length: number): StoredElements {
  return new ARRAYS[dtype](length);
}

/** An operand somewhere within its memory, filler around it, and in it where no values are given. */
function placed<Buffer>(
  { dtype, extent }: RunLayout,
  make: (bytes: Uint8Array) => Buffer,
  values?: StoredElements,
): Operand<Buffer> {
  const size = ARRAYS[dtype].BYTES_PER_ELEMENT;
  const whole = new Uint8Array((extent + 2 * MARGIN) * size).fill(FILLER);
  if (values !== undefined) {
    whole.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), MARGIN * size);
  }
  return { buffer: make(whole), byteOffset: MARGIN * size, byteLength: extent * size };
}

/** A `run` whose operands a test places. */
export interface RunInMemory {
  readonly geometry: ResolvedRun<unknown>['geometry'];
  readonly data: Required<Omit<RunData, 'intervals' | 'outputs'>>;
  /** For each output the input of the same layout whose memory it is; -1 or left out: separate memory. */
  readonly inPlaceOf: readonly number[];
}

/**
 * The call of a `run`.
 *
 * @param make - gives a buffer with these bytes in it
 */
export function callOf<Buffer>(
  { geometry, data, inPlaceOf }: RunInMemory,
  make: (bytes: Uint8Array) => Buffer,
): ResolvedRun<Buffer> {
  const inputs = geometry.inputs.map((layout) =>
    layout.extent === 0 ? undefined : placed(layout, make, data.inputs[layout.name]),
  );
  return {
    geometry,
    inputs,
    outputs: geometry.outputs.map((layout, index) =>
      layout.extent === 0 ? undefined : (inputs[inPlaceOf[index] ?? -1] ?? placed(layout, make)),
    ),
    params: geometry.kernel.params.map(({ name }) => data.params[name] as number),
    inPlace: geometry.outputs.map((_, index) => (inPlaceOf[index] ?? -1) >= 0),
  };
}

/**
 * What is wrong after a `run`: elements that no right device gives, and bytes beside and between those of an output that have
 * changed.
 *
 * @param memories - of each output, as it is now
 */
export function faultsOf(
  { geometry, outputs }: ResolvedRun<unknown>,
  data: RunData,
  memories: readonly (Uint8Array | undefined)[],
  options?: Parameters<typeof runReference>[2],
): readonly string[] {
  const want = runReference(geometry, data, options);
  const wrong: string[] = [];
  for (const [index, output] of outputs.entries()) {
    const whole = memories[index]?.slice();
    if (output === undefined || whole === undefined) continue;
    const layout = geometry.outputs[index] as RunLayout;
    const own = whole.slice(output.byteOffset, output.byteOffset + output.byteLength);
    const mismatch = compareStored(want[index] as (typeof want)[number], new ARRAYS[layout.dtype](own.buffer));
    if (mismatch !== undefined) wrong.push(`${layout.name}: ${JSON.stringify(mismatch)}`);
    const changed = changedOutside(layout, whole, output.byteOffset);
    if (changed !== undefined) wrong.push(`${layout.name}: byte ${changed} beside its elements`);
  }
  return wrong;
}

/** The first byte outside of an output's elements that is not as it was. */
function changedOutside({ shape, strides, dtype }: RunLayout, whole: Uint8Array, from: number): number | undefined {
  const size = ARRAYS[dtype].BYTES_PER_ELEMENT;
  const isOwn = new Uint8Array(whole.length);
  const count = shape.reduce((product, extent) => product * extent, 1);
  for (let index = 0; index < count; index++) {
    let [left, offset] = [index, 0];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const extent = shape[axis] as number;
      offset += (left % extent) * (strides[axis] as number);
      left = Math.floor(left / extent);
    }
    const at = from + offset * size;
    isOwn.fill(1, at, at + size);
  }
  const changed = whole.findIndex((byte, at) => isOwn[at] === 0 && byte !== FILLER);
  return changed < 0 ? undefined : changed;
}
