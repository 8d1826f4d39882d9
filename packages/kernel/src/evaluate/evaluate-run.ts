import type { CheckedRun, ResolvedRun, RunLayout } from '@concord/backend-core/kernel';
import { elementsOf } from './memory.ts';
import { NeedsRegister, PlanBuilder, type Program } from './plan-builder.ts';
import { attach, emptySlot } from './slot.ts';
import type { Memory, Step, Tile } from './steps.ts';
import { type Tiling, tilingOf } from './tiling.ts';

interface Plan {
  readonly tiling: Tiling;
  readonly program: Program;
}

/** A checked call of a kernel with its operands in memory of the host. */
export type HostRun = Pick<ResolvedRun<ArrayBufferLike>, 'geometry' | 'inputs' | 'outputs' | 'params'>;

const plans = new WeakMap<CheckedRun, Plan>();

/**
 * Computes a kernel over memory of the host: node after node for about a thousand points at a time, each by a loop over typed
 * arrays. What the nodes of float32 give is rounded to float32; folds are float64 inside. No code is generated. An output
 * may be in the place of element inputs.
 *
 * What a geometry needs is worked out once and kept as long as the geometry is.
 */
export function evaluateRun({ geometry, inputs, outputs, params }: HostRun): void {
  let plan = plans.get(geometry);
  if (plan === undefined) {
    plan = planOf(geometry);
    plans.set(geometry, plan);
  }
  const { program, tiling } = plan;
  attachAll(program.memories.inputs, geometry.inputs, inputs);
  attachAll(program.memories.outputs, geometry.outputs, outputs);
  for (const [index, slot, type] of program.parameters) {
    (type === 'f32' ? slot.f : type === 'u32' ? slot.u : slot.i)[0] = params[index] as number;
  }
  walkRows(program, tiling);
  // Nobody's memory is to be kept alive by a plan.
  for (const memory of [...program.memories.inputs, ...program.memories.outputs]) detach(memory);
}

function planOf(geometry: CheckedRun): Plan {
  try {
    return planWith(geometry, true);
  } catch (error) {
    if (!(error instanceof NeedsRegister)) throw error;
    return planWith(geometry, false);
  }
}

function planWith(geometry: CheckedRun, isUnlimited: boolean): Plan {
  const tiling = tilingOf(geometry, isUnlimited);
  return { tiling, program: new PlanBuilder(geometry, tiling).build() };
}

function attachAll(memories: readonly Memory[], layouts: readonly RunLayout[], operands: HostRun['inputs']): void {
  for (const [index, memory] of memories.entries()) {
    const operand = operands[index];
    if (operand === undefined) continue;
    const { dtype, extent } = layouts[index] as RunLayout;
    const { buffer, byteOffset } = operand;
    memory.elements = elementsOf(dtype, buffer, byteOffset, extent);
    if (dtype === 'f32' || dtype === 'i32' || dtype === 'u32') attach(memory.slot, buffer, byteOffset, extent);
  }
}

const { f, i, u } = emptySlot();

function detach(memory: Memory): void {
  memory.elements = i;
  Object.assign(memory.slot, { f, i, u });
}

function walkRows(program: Program, tiling: Tiling): void {
  const { rowAxis, otherRows, rows } = tiling;
  const offsets = new Float64Array(tiling.views.length);
  const tile: Tile = { rows: 1, elements: 1, count: 1, isColumnMajor: tiling.isColumnMajor };
  runAll(program.call, tile);
  for (let other = 0; other < otherRows.count; other++) {
    for (let row = 0; row < rowAxis.size; row += rows) {
      offsets.fill(0);
      otherRows.addTo(offsets, other);
      move(offsets, rowAxis.strides, row);
      tile.rows = Math.min(rows, rowAxis.size - row);
      place(program, offsets);
      runAll(program.rows, tile);
      for (const pass of program.passes) {
        runAll(pass.begin, tile);
        if (pass.elements.length > 0) walkElements(program, pass.elements, tiling, tile, offsets);
        runAll(pass.end, tile);
      }
      runAll(program.rowStores, tile);
    }
  }
}

function walkElements(
  program: Program,
  steps: readonly Step[],
  { elementAxis, otherElements, elements }: Tiling,
  tile: Tile,
  rowOffsets: Float64Array,
): void {
  const offsets = new Float64Array(rowOffsets.length);
  for (let other = 0; other < otherElements.count; other++) {
    for (let element = 0; element < elementAxis.size; element += elements) {
      offsets.set(rowOffsets);
      otherElements.addTo(offsets, other);
      move(offsets, elementAxis.strides, element);
      tile.elements = Math.min(elements, elementAxis.size - element);
      tile.count = tile.rows * tile.elements;
      place(program, offsets);
      runAll(steps, tile);
    }
  }
}

function move(offsets: Float64Array, strides: readonly number[], by: number): void {
  for (let view = 0; view < offsets.length; view++) offsets[view]! += by * strides[view]!;
}

function place({ places }: Program, offsets: Float64Array): void {
  for (let view = 0; view < offsets.length; view++) places[view]!.at = offsets[view]!;
}

function runAll(steps: readonly Step[], tile: Tile): void {
  for (const step of steps) step(tile);
}
