import type { CheckedRun, ResolvedRun, RunLayout } from '@concord/backend-core/implement';
import { compareStored, type RunData, runReference, type StoredElements } from '@concord/backend-cpu/reference';
import type { LevelZeroClient } from '../../src/device/level-zero-client.ts';
import { planOp } from '../../src/kernels/op-plan.ts';
import type { DeviceMemory, DeviceTraits, Span } from '../../src/kernels/recorder.ts';
import { bytesOf, memory, readBytes, slice } from './spans.ts';

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

/** Elements of a dtype, all gaps included. */
export function elements(dtype: RunLayout['dtype'], length: number): StoredElements {
  return new ARRAYS[dtype](length);
}

/** Elements before and after each operand: what is not to be touched. */
const MARGIN = 3;
const FILLER = 0x5a;

/**
 * Runs a kernel as a device with these traits would, and says what is wrong: elements that no right device gives, and
 * bytes beside and between those of an output that have changed.
 *
 * @param inPlaceOf - for each output the input of the same layout whose memory it is; -1 or left out: its own memory
 */
export async function runOnDevice(
  client: LevelZeroClient,
  geometry: CheckedRun,
  data: Required<Omit<RunData, 'intervals'>>,
  traits: Partial<DeviceTraits>,
  inPlaceOf: readonly number[] = [],
): Promise<readonly string[]> {
  const inputs = geometry.inputs.map((layout) =>
    layout.extent === 0 ? undefined : place(client, data.inputs[layout.name] as StoredElements),
  );
  const outputs = geometry.outputs.map((layout, index) => {
    if (layout.extent === 0) return undefined;
    return inputs[inPlaceOf[index] ?? -1] ?? place(client, filled(layout));
  });
  const call: ResolvedRun<DeviceMemory> = {
    geometry,
    inputs,
    outputs,
    params: geometry.kernel.params.map(({ name }) => data.params[name] as number),
    inPlace: outputs.map((_, index) => (inPlaceOf[index] ?? -1) >= 0),
  };
  const operands = [...inputs, ...outputs].filter((span): span is Span => span !== undefined);
  const plan = planOp({ kernel: 'run', call }, operands, { ...client.traits, ...traits });
  client.run('run', plan, operands, call.params);
  const want = runReference(geometry, data);
  const wrong: string[] = [];
  for (const [index, span] of outputs.entries()) {
    if (span === undefined) continue;
    const layout = geometry.outputs[index] as RunLayout;
    const whole = await readBytes(client, { ...span, byteOffset: 0, byteLength: span.buffer.size });
    const own = whole.slice(span.byteOffset, span.byteOffset + span.byteLength);
    const got = new ARRAYS[layout.dtype](own.buffer);
    const mismatch = compareStored(want[index] as ReturnType<typeof runReference>[number], got);
    if (mismatch !== undefined) wrong.push(`${layout.name}: ${JSON.stringify(mismatch)}`);
    const changed = changedOutside(layout, whole, span);
    if (changed !== undefined) wrong.push(`${layout.name}: byte ${changed} beside its elements`);
  }
  for (const { buffer } of operands) client.deallocate(buffer.id);
  return wrong;
}

/** Memory with these elements in it, somewhere within. */
function place(client: LevelZeroClient, values: StoredElements): Span {
  const margin = MARGIN * values.BYTES_PER_ELEMENT;
  const whole = memory(client, values.byteLength + 2 * margin);
  client.fill(whole, FILLER);
  const span = slice(whole, margin, values.byteLength);
  client.write(span, bytesOf(values));
  return span;
}

function filled({ dtype, extent }: RunLayout): StoredElements {
  const values = elements(dtype, extent);
  bytesOf(values).fill(FILLER);
  return values;
}

/** The first byte outside of an output's elements that is not as it was. */
function changedOutside({ shape, strides, dtype }: RunLayout, whole: Uint8Array, span: Span): number | undefined {
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
    const at = span.byteOffset + offset * size;
    isOwn.fill(1, at, at + size);
  }
  const changed = whole.findIndex((byte, at) => isOwn[at] === 0 && byte !== FILLER);
  return changed < 0 ? undefined : changed;
}
