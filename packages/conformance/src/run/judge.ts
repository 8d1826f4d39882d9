import { type ComputeBackend, type DevicePtr, offsetPtr } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { checkedRun, type CheckedRun, type Kernel, type KernelNode } from '@concord/backend-core/kernel';
import {
  compareStored,
  type OutputIntervals,
  runReference,
  type StoredElements,
  type StoredMismatch,
} from '@concord/backend-cpu/reference';
import { compareBytes } from '../checks/compare.ts';
import { type CaseContext, CaseFailure } from '../harness/case.ts';
import { poison } from '../harness/workspace.ts';
import { bytesOf, eachElement, extentOf, placeOf, sizeOf, storedElements, writeBits } from './placement.ts';
import { type Place, type PlannedOperand, type RunPlan, shapeOf } from './plan.ts';

/** Poison after the last operand of an allocation. */
const GUARD_BYTES = 64;

/** Each output's extent after a call, in the order of the kernel's outputs. */
export type RunResult = readonly StoredElements[];

/** The device memory of one plan, which several calls may use. */
export class RunMemory {
  readonly #backend: ComputeBackend;
  readonly #plan: RunPlan;
  #images: readonly Uint8Array[];
  readonly #bases: DevicePtr[] = [];

  constructor(backend: ComputeBackend, plan: RunPlan) {
    this.#backend = backend;
    this.#plan = plan;
    this.#images = imagesOf(plan);
    try {
      for (const image of this.#images) this.#bases.push(backend.alloc(image.length, { label: 'conformance' }));
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** The address of an operand. */
  ptrOf(operand: number): DevicePtr {
    const { buffer, byteOffset } = this.#plan.places[operand] as Place;
    return offsetPtr(this.#bases[buffer] as DevicePtr, byteOffset);
  }

  /**
   * Puts the inputs in their places and poison everywhere else.
   *
   * @param filled - a plan of the same layout, whose values are taken
   */
  upload(filled: RunPlan = this.#plan): void {
    this.#images = imagesOf(filled);
    for (const [index, image] of this.#images.entries()) {
      if (image.length > 0) this.#backend.copyHtod(this.#bases[index] as DevicePtr, image);
    }
  }

  /**
   * The outputs after a call.
   *
   * @throws {CaseFailure} when a byte that belongs to no element of an output has changed
   */
  async download(): Promise<RunResult> {
    const after: Uint8Array[] = [];
    for (const [index, image] of this.#images.entries()) {
      const bytes = new Uint8Array(image.length);
      await this.#backend.copyDtoh(bytes, this.#bases[index] as DevicePtr);
      after.push(bytes);
    }
    const { operands, places } = this.#plan;
    const owned = this.#images.map((image) => new Uint8Array(image.length));
    const results: StoredElements[] = [];
    for (const [index, { isOutput, shape, strides, dtype }] of operands.entries()) {
      if (!isOutput) continue;
      const { buffer, byteOffset } = places[index] as Place;
      const size = bytesOf(dtype);
      const own = owned[buffer] as Uint8Array;
      eachElement(shape, strides, (_, distance) =>
        own.fill(1, byteOffset + distance * size, byteOffset + (distance + 1) * size),
      );
      const bytes = (after[buffer] as Uint8Array).slice(byteOffset, byteOffset + extentOf(shape, strides) * size);
      results.push(storedElements(dtype, bytes));
    }
    for (const [buffer, image] of this.#images.entries()) {
      this.#checkUntouched(buffer, image, after[buffer] as Uint8Array, owned[buffer] as Uint8Array);
    }
    return results;
  }

  /** @throws {CaseFailure} when any byte has changed */
  async expectUntouched(): Promise<void> {
    for (const [index, image] of this.#images.entries()) {
      const after = new Uint8Array(image.length);
      await this.#backend.copyDtoh(after, this.#bases[index] as DevicePtr);
      compareBytes('operands after a call that does nothing', after, image);
    }
  }

  /** Gives the memory back. */
  free(): void {
    for (const base of this.#bases.splice(0)) this.#backend.free(base);
  }

  #checkUntouched(buffer: number, image: Uint8Array, after: Uint8Array, owned: Uint8Array): void {
    let at = 0;
    while (at < image.length && (owned[at] === 1 || after[at] === image[at])) at++;
    if (at === image.length) return;
    let wrong = 0;
    for (let i = at; i < image.length; i++) if (owned[i] === 0 && after[i] !== image[i]) wrong++;
    const [got, want] = [after[at] as number, image[at] as number];
    throw new CaseFailure(
      `${placeText(this.#plan, buffer, at)}: byte ${at} of allocation ${buffer} is ${got}, want ${want}: ` +
        `${wrong} bytes were written that belong to no output`,
      { what: 'untouched bytes', unit: 'byte', wrong, total: image.length, index: at, got, want, bound: 0 },
    );
  }
}

/** The bytes of each allocation before the call. */
function imagesOf({ operands, places }: RunPlan): Uint8Array[] {
  const ends: number[] = [];
  for (const [index, { buffer, byteOffset }] of places.entries()) {
    const { shape, strides, dtype } = operands[index] as PlannedOperand;
    ends[buffer] = Math.max(ends[buffer] ?? 0, byteOffset + extentOf(shape, strides) * bytesOf(dtype));
  }
  // Of an allocation that no operand is in any more nothing but the guard is left.
  const images = Array.from({ length: ends.length }, (_, buffer) =>
    poison(4 * Math.ceil(((ends[buffer] ?? 0) + GUARD_BYTES) / 4)),
  );
  for (const [index, { bits, shape, strides, dtype }] of operands.entries()) {
    if (bits === undefined) continue;
    const { buffer, byteOffset } = places[index] as Place;
    const data = new DataView((images[buffer] as Uint8Array).buffer);
    const size = bytesOf(dtype);
    eachElement(shape, strides, (_, distance) =>
      writeBits(data, dtype, byteOffset + distance * size, bits[distance] as number),
    );
  }
  return images;
}

/** Names the operand that lies at, or before, a byte. */
function placeText({ operands, places }: RunPlan, buffer: number, at: number): string {
  const before = places
    .map((place, index) => ({ ...place, operand: operands[index] as PlannedOperand }))
    .filter((place) => place.buffer === buffer && place.byteOffset <= at)
    .sort((a, b) => b.byteOffset - a.byteOffset)[0];
  if (before === undefined) return 'before the first operand';
  const { shape, strides, dtype, name, isOutput } = before.operand;
  const end = before.byteOffset + extentOf(shape, strides) * bytesOf(dtype);
  const role = isOutput ? 'output' : 'input';
  return at < end ? `between the elements of ${role} ${name}` : `after ${role} ${name}`;
}

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
