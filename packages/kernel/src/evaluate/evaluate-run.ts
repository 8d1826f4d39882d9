import type { CheckedRun, ResolvedRun, RunLayout } from '@concord/backend-core/kernel';
import { NeedsRegister } from './node-values.ts';
import { type Program, programOf } from './program.ts';
import { emptySlot } from './slot.ts';
import { attachMemory, type Memory, type Step, type Tile } from './steps.ts';
import { type Tiling, tilingOf } from './tiling.ts';

interface Plan {
  readonly tiling: Tiling;
  readonly program: Program;
  readonly tile: Tile;
  /** Of each view, at the tile's rows, and at its elements. */
  readonly rowOffsets: number[];
  readonly offsets: number[];
}

/** A checked call of a kernel with its operands in memory of the host. */
export type HostRun = Pick<ResolvedRun<ArrayBufferLike>, 'geometry' | 'inputs' | 'outputs' | 'params'>;

const plans = new WeakMap<CheckedRun, Plan>();

/**
 * Computes a kernel over memory of the host: node after node for a tile of points at a time, from about a thousand to all of
 * them, each by a loop over typed arrays. What the nodes of float32 give is rounded to float32; folds are float64 inside. No
 * code is generated. An output may be in the place of element inputs.
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
  try {
    attachAll(program.memories.inputs, geometry.inputs, inputs);
    attachAll(program.memories.outputs, geometry.outputs, outputs);
    for (const [index, slot, type] of program.parameters) {
      (type === 'f32' ? slot.f : type === 'u32' ? slot.u : slot.i)[0] = params[index] as number;
    }
    walkRows(plan, program, tiling);
  } finally {
    // A plan must not keep memory alive, nor must one whose memory was too small or detached.
    detach(program.memories.inputs);
    detach(program.memories.outputs);
  }
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
  const program = programOf(geometry, tiling);
  const tile: Tile = { rows: 1, elements: 1, count: 1, isColumnMajor: tiling.isColumnMajor };
  const zeros = tiling.views.map(() => 0);
  return { tiling, program, tile, rowOffsets: zeros, offsets: [...zeros] };
}

function attachAll(memories: readonly Memory[], layouts: readonly RunLayout[], operands: HostRun['inputs']): void {
  for (let index = 0; index < memories.length; index++) {
    const operand = operands[index];
    if (operand !== undefined) attachMemory(memories[index]!, operand, layouts[index]!.extent);
  }
}

const { f, i, u } = emptySlot();

function detach(memories: readonly Memory[]): void {
  for (const memory of memories) {
    memory.elements = i;
    memory.slot.f = f;
    memory.slot.i = i;
    memory.slot.u = u;
  }
}

function walkRows(plan: Plan, program: Program, tiling: Tiling): void {
  const { rowAxis, otherRows, rows } = tiling;
  const { tile, rowOffsets } = plan;
  runAll(program.call, tile);
  for (let other = 0; other < otherRows.count; other++) {
    for (let row = 0; row < rowAxis.size; row += rows) {
      otherRows.offsets(rowOffsets, other);
      move(rowOffsets, rowAxis.strides, row);
      tile.rows = Math.min(rows, rowAxis.size - row);
      place(program, rowOffsets);
      runAll(program.rows, tile);
      for (let at = 0; at < program.passes.length; at++) {
        const pass = program.passes[at]!;
        runAll(pass.begin, tile);
        if (pass.elements.length > 0) walkElements(plan, pass.elements, tiling);
        runAll(pass.end, tile);
      }
      runAll(program.rowStores, tile);
    }
  }
}

function walkElements(plan: Plan, steps: readonly Step[], { elementAxis, otherElements, elements }: Tiling): void {
  const { program, tile, rowOffsets, offsets } = plan;
  const isOne = otherElements.count === 1 && elements === elementAxis.size;
  for (let other = 0; other < otherElements.count; other++) {
    for (let element = 0; element < elementAxis.size; element += elements) {
      tile.elements = Math.min(elements, elementAxis.size - element);
      tile.count = tile.rows * tile.elements;
      if (!isOne) {
        otherElements.offsets(offsets, other);
        move(offsets, elementAxis.strides, element);
        for (let view = 0; view < offsets.length; view++) offsets[view]! += rowOffsets[view]!;
        place(program, offsets);
      }
      runAll(steps, tile);
    }
  }
}

function move(offsets: number[], strides: readonly number[], by: number): void {
  if (by > 0) for (let view = 0; view < offsets.length; view++) offsets[view]! += by * strides[view]!;
}

function place({ places, words }: Program, offsets: readonly number[]): void {
  for (let view = 0; view < offsets.length; view++) places[view]!.start = offsets[view]!;
  for (let word = 0; word < words.length; word++) words[word]!.slot.at = words[word]!.place.start | 0;
}

function runAll(steps: readonly Step[], tile: Tile): void {
  for (let at = 0; at < steps.length; at++) steps[at]!(tile);
}
