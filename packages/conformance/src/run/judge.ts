import type { ComputeBackend } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { type CheckedRun, checkedRun, type Kernel, type KernelNode } from '@concord/backend-core/kernel';
import {
  compareStored,
  type OutputIntervals,
  runReference,
  type StoredElements,
  type StoredMismatch,
} from '@concord/backend-cpu/reference';
import { type CaseContext, CaseFailure } from '../harness/case.ts';
import { shapeOf } from './call.ts';
import type { RunResult } from './memory.ts';
import type { PlannedOperand, RunPlan } from './plan.ts';
import { storedElements } from './storage.ts';
import { placeOf, sizeOf } from './view.ts';

/** The checked geometry of a plan, which the oracle takes. */
export function geometryOf(plan: RunPlan): CheckedRun {
  const { kernel, ...asked } = shapeOf(plan);
  return checkedRun(kernel, { inputs: {}, outputs: {}, ...asked });
}

/** The allowed contents of each output of a plan, in the order of the kernel's outputs. */
export function expectedOf(
  plan: RunPlan,
  subnormals: ComputeBackend['capabilities']['numerics']['f32Subnormals'],
): readonly OutputIntervals[] {
  const held = Object.fromEntries(
    plan.operands.flatMap((operand) => (operand.bits === undefined ? [] : [[operand.name, heldElements(operand)]])),
  );
  return runReference(geometryOf(plan), { inputs: held, outputs: held, params: plan.params }, { subnormals });
}

/** The number of elements in the outputs of a plan, and of those of which nothing useful is known. */
export function looseness(expected: readonly OutputIntervals[]): { readonly elements: number; readonly loose: number } {
  let [elements, loose] = [0, 0];
  for (const { layout, uselessShare } of expected) {
    const size = sizeOf(layout.shape);
    elements += size;
    loose += uselessShare * size;
  }
  return { elements, loose };
}

/** Counts what is known of outputs that are about to be compared. */
export function note({ tally }: Pick<CaseContext, 'tally'>, expected: readonly OutputIntervals[]): void {
  const { elements, loose } = looseness(expected);
  tally.elements += elements;
  tally.loose += loose;
}

/** @throws {CaseFailure} where an output leaves what it may hold */
export function judge(plan: RunPlan, expected: readonly OutputIntervals[], got: RunResult, when = ''): void {
  for (const [index, intervals] of expected.entries()) {
    const mismatch = compareStored(intervals, got[index] as StoredElements);
    if (mismatch !== undefined) throw failure(plan, intervals, index, mismatch, when);
  }
}

function failure(
  { kernel, folded, shape }: RunPlan,
  { layout, lo, hi }: OutputIntervals,
  output: number,
  { wrong, total, index, got, want }: StoredMismatch,
  when: string,
): CaseFailure {
  const { name, dtype } = layout;
  const place = placeOf(index, layout.shape).join(', ');
  const node = kernel.outputs[output]?.node as number;
  const domain = `[${shape.join(', ')}]${folded === 0 ? '' : `, ${folded} folded`}`;
  const [low, high] = [lo[index] as number, hi[index] as number];
  const isKnown = low <= high;
  return new CaseFailure(
    `output ${name} (${dtype}) of kernel ${kernel.name} over ${domain}${when}: ${wrong} of ${total} wrong; ` +
      `first at [${place}]: got ${got}, want ${want}; it is ${nodeText(kernel, node)}`,
    {
      ...{ what: `output ${name}`, unit: 'element', wrong, total, index, got },
      ...(isKnown ? { want: low / 2 + high / 2, bound: high / 2 - low / 2 } : { want: Number.NaN, bound: 0 }),
    },
  );
}

/** Nodes named in a message. */
const MAX_DEPTH = 3;

/** A node as a formula, with its name and those of its operands, some levels deep. */
export function nodeText({ nodes, labels }: Kernel, root: number): string {
  const text = (index: number, depth: number): string => {
    const node = nodes[index] as KernelNode;
    const label = labels[index];
    const own = label === undefined ? '' : `"${label}": `;
    return own + formula(node, (operand) => (depth === 0 ? `#${operand}` : text(operand, depth - 1)));
  };
  return `node ${root}, ${text(root, MAX_DEPTH)}`;
}

function formula(node: KernelNode, text: (operand: number) => string): string {
  switch (node.kind) {
    case 'constant':
      return `${node.type} 0x${node.bits.toString(16)}`;
    case 'parameter':
    case 'input':
      return node.name;
    case 'index':
    case 'rowIndex':
    case 'extent':
      return `${node.kind}(${node.axis})`;
    case 'gather':
      return `gather ${node.name}[${node.operands.slice(1).map(text).join(', ')}], else ${text(node.operands[0] as number)}`;
    case 'arithmetic':
      return `${node.op}(${node.operands.map(text).join(', ')})`;
    case 'fold':
      return `fold ${node.op}(${text(node.operands[0])})`;
    case 'scan':
      return `${node.exclusive ? 'exclusive ' : ''}${node.reverse ? 'reverse ' : ''}scan ${node.op}(${text(node.operands[0])})`;
    case 'spread':
      return `spread(${text(node.operands[0])})`;
  }
}

function heldElements({ dtype, bits = new Uint32Array() }: PlannedOperand): StoredElements {
  const { bytes, Stored } = ELEMENT_TYPES[dtype];
  if (bytes < 4) return Stored.from(bits);
  return storedElements(dtype, new Uint8Array(bits.slice().buffer));
}
