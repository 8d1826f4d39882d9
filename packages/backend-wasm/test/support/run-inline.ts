import type { CheckedRun, ResolvedRun, RunLayout } from '@concord/backend-core/kernel';
import { compareStored, type RunData, runReference, type StoredElements } from '@concord/backend-cpu/reference';
import type { WasmTraits } from '../../src/kernels/kernel.ts';
import { runKernel } from '../../src/kernels/run/run.ts';
import type { WasmBuffer } from '../../src/wasm-buffer.ts';
import { InlineLauncher } from './run-launcher.ts';

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

/**
 * Runs a kernel on this thread, and describes the errors: elements that no right device gives, and bytes beside and between
 * those of an output that have changed.
 *
 * @param inPlaceOf - for each output the input of the same layout whose memory it is; -1 or left out: separate memory
 */
export function runInline(
  geometry: CheckedRun,
  data: Required<Omit<RunData, 'intervals'>>,
  traits: Partial<WasmTraits> = {},
  inPlaceOf: readonly number[] = [],
): readonly string[] {
  const launcher = new InlineLauncher(traits);
  const inputs = geometry.inputs.map((layout) =>
    layout.extent === 0 ? undefined : place(launcher, layout, data.inputs[layout.name]),
  );
  const outputs = geometry.outputs.map((layout, index) =>
    layout.extent === 0 ? undefined : (inputs[inPlaceOf[index] ?? -1] ?? place(launcher, layout, undefined)),
  );
  const call: ResolvedRun<WasmBuffer> = {
    geometry,
    inputs,
    outputs,
    params: geometry.kernel.params.map(({ name }) => data.params[name] as number),
    inPlace: outputs.map((_, index) => (inPlaceOf[index] ?? -1) >= 0),
  };
  runKernel(launcher).run(call);
  const want = runReference(geometry, data, { subnormals: 'kept' });
  const wrong: string[] = [];
  for (const [index, span] of outputs.entries()) {
    if (span === undefined) continue;
    const layout = geometry.outputs[index] as RunLayout;
    const whole = launcher.bytes(span.buffer.address, span.buffer.bytes).slice();
    const own = whole.slice(span.byteOffset, span.byteOffset + span.byteLength);
    const got = new ARRAYS[layout.dtype](own.buffer);
    const mismatch = compareStored(want[index] as ReturnType<typeof runReference>[number], got);
    if (mismatch !== undefined) wrong.push(`${layout.name}: ${JSON.stringify(mismatch)}`);
    const changed = changedOutside(layout, whole, span.byteOffset);
    if (changed !== undefined) wrong.push(`${layout.name}: byte ${changed} beside its elements`);
  }
  return wrong;
}

/** Memory with these elements in it, somewhere within. */
function place(launcher: InlineLauncher, { dtype, extent }: RunLayout, values: StoredElements | undefined) {
  const size = ARRAYS[dtype].BYTES_PER_ELEMENT;
  const bytes = (extent + 2 * MARGIN) * size;
  const address = launcher.temporary(bytes);
  const whole = launcher.bytes(address, bytes).fill(FILLER);
  if (values !== undefined) {
    whole.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), MARGIN * size);
  }
  return { buffer: { address, bytes }, byteOffset: MARGIN * size, byteLength: extent * size };
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
