import type {
  CheckedRun,
  FoldNode,
  KernelNode,
  KernelOutput,
  RunLayout,
  ValueType,
} from '@concord/backend-core/kernel';
import { foldLoopsOf, type Totals } from './fold-loops.ts';
import { NodeValues } from './node-values.ts';
import { isStep, isWord } from './plan-facts.ts';
import type { Slot } from './slot.ts';
import {
  beginFoldStep,
  finishFoldStep,
  type Folded,
  foldStep,
  type Memory,
  type Place,
  type Step,
  storeRowsStep,
  storeStep,
} from './steps.ts';
import { isDirect, type Tiling } from './tiling.ts';

/** One walk over the elements of a tile's rows. */
export interface Pass {
  readonly begin: readonly Step[];
  readonly elements: readonly Step[];
  /** After the last element: results of folds, and what is computed of them. */
  readonly end: readonly Step[];
}

/** The work of a call. */
export interface Program {
  readonly memories: { readonly inputs: readonly Memory[]; readonly outputs: readonly Memory[] };
  /** Where the value of each view at a tile's first point goes. */
  readonly places: readonly Place[];
  /** The operands of 32-bit elements. */
  readonly words: readonly Memory[];
  readonly parameters: readonly (readonly [parameter: number, slot: Slot, type: ValueType])[];
  /** Once in a call. */
  readonly call: readonly Step[];
  /** For each tile of rows, before its passes. */
  readonly rows: readonly Step[];
  readonly passes: readonly Pass[];
  /** For each tile of rows, at its end. */
  readonly rowStores: readonly Step[];
}

/** An output and where it goes. */
interface Target {
  readonly output: KernelOutput;
  readonly layout: RunLayout;
  readonly memory: Memory;
}

/**
 * A kernel as steps for the tiles of a tiling.
 *
 * @throws NeedsRegister
 */
export function programOf(geometry: CheckedRun, tiling: Tiling): Program {
  const values = new NodeValues(geometry, tiling);
  const targets = geometry.kernel.outputs.map((output, index): Target => ({
    output,
    layout: geometry.outputs[index] as RunLayout,
    memory: values.memories.outputs[index] as Memory,
  }));
  const rowTargets = targets.filter(({ output }) => output.level === 'row');
  for (const target of rowTargets) computeInPlace(geometry.kernel.nodes, tiling, values, target);
  const elementTargets = targets.filter(({ output }) => output.level === 'element');
  const passes = values.rowSteps.map((_, stage) => passOf(geometry, tiling, values, stage, elementTargets));
  const rowStores = rowTargets.flatMap(({ output, memory }) => {
    const slot = values.value(output.node, 'row');
    return slot === memory.slot ? [] : [storeRowsStep(values.byBits(slot), memory)];
  });
  const { memories, places, parameters, callSteps, rowSteps } = values;
  return {
    memories,
    places,
    words: [...memories.inputs, ...memories.outputs].filter(isWord),
    parameters,
    call: callSteps,
    rows: rowSteps[0] as Step[],
    passes: passes.map(({ begin, elements, end }, stage) => ({
      begin,
      elements,
      end: [...end, ...(rowSteps[stage + 1] ?? [])],
    })),
    rowStores,
  };
}

function passOf(
  { kernel, rowLength }: CheckedRun,
  tiling: Tiling,
  values: NodeValues,
  stage: number,
  targets: readonly Target[],
): Pass {
  values.beginPass();
  const [begin, end]: [Step[], Step[]] = [[], []];
  for (const [index, node] of kernel.nodes.entries()) {
    if (node.kind !== 'fold' || values.stages[index] !== stage + 1) continue;
    const loops = foldLoopsOf(node.op, (kernel.nodes[node.operands[0]] as KernelNode).type);
    const totals: Totals = { values: new Float64Array(tiling.rows), places: new Float64Array(tiling.rows) };
    begin.push(beginFoldStep(loops, totals));
    const folded = foldedOf(kernel.nodes, values, node);
    values.elementSteps.push(foldStep(loops, totals, folded, values.placeOf('place', 0)));
    end.push(finishFoldStep(loops, totals, values.foldResult(index), node.type, rowLength));
  }
  if (stage === values.rowSteps.length - 1) storeElements(kernel.nodes, tiling, values, targets);
  return { begin, elements: values.elementSteps, end };
}

/** A fold takes elements from where they are, whatever their strides. */
function foldedOf(nodes: readonly KernelNode[], values: NodeValues, node: FoldNode): Folded {
  const index = values.seenThrough(node.operands[0]);
  const operand = nodes[index] as KernelNode;
  if (operand.kind === 'input' && operand.level === 'element' && !values.has(index, 'element')) {
    const memory = values.memories.inputs[values.inputIndex(operand.name)] as Memory;
    if (isWord(memory)) return { slot: memory.slot, memory: memory.place };
  }
  const slot = values.value(index, 'element');
  const memory = values.memoryAt(slot);
  return memory === undefined ? { slot } : { slot, memory: memory.place };
}

/**
 * All is computed before anything is stored: outputs may be in the place of inputs. An only output may be computed where it is
 * to be, since what else reads that memory is done by then.
 */
function storeElements(
  nodes: readonly KernelNode[],
  tiling: Tiling,
  values: NodeValues,
  targets: readonly Target[],
): void {
  const [first] = targets;
  if (targets.length === 1 && first !== undefined) computeInPlace(nodes, tiling, values, first);
  const stores = targets.flatMap(({ output, memory }) => {
    const slot = values.value(output.node, 'element');
    if (slot === memory.slot) return [];
    // An input may be where another output is stored before.
    const isInput = targets.length > 1 && values.memoryAt(slot) !== undefined;
    return [storeStep(isInput ? copied(values, slot) : values.byBits(slot), memory)];
  });
  values.elementSteps.push(...stores);
}

function computeInPlace(
  nodes: readonly KernelNode[],
  tiling: Tiling,
  values: NodeValues,
  { output: { node, level }, layout, memory }: Target,
): void {
  if (!isStep(nodes[node] as KernelNode) || !isDirect(tiling, layout, memory.place, level)) return;
  values.computeAt(node, level, memory.slot);
}

function copied(values: NodeValues, slot: Slot): Slot {
  const copy = values.register('element');
  values.byBits(slot);
  values.elementSteps.push(({ count }) => copy.i.set(slot.i.subarray(slot.at, slot.at + count)));
  return copy;
}
