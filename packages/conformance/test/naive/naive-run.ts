import type { DType } from '@concord/backend-core';
import type { Operand, ResolvedRun, RunLayout } from '@concord/backend-core/implement';
import type { Kernel, KernelNode, KernelOutput } from '@concord/backend-core/kernel';
import { bytesOf, decodeElement, placeOf } from '../../src/run/placement.ts';
import { type FoldState, type Parts, RIGHT } from './parts.ts';

type Call = ResolvedRun<ArrayBuffer>;

/** Computes a kernel point by point with one number at a time, by its definition. */
export function naiveRun(call: Call, parts: Parts = RIGHT): void {
  new NaiveRun(call, parts).run();
}

/** Operands of each node, itself included, that are of element level: what a fold computes at each element. */
function closures(kernel: Kernel): ReadonlyMap<number, readonly number[]> {
  const map = new Map<number, readonly number[]>();
  for (const [index, node] of kernel.nodes.entries()) {
    if (node.kind !== 'fold' && node.kind !== 'scan') continue;
    const seen = new Set<number>();
    const visit = (at: number): void => {
      const operand = kernel.nodes[at] as KernelNode;
      if (seen.has(at) || operand.kind === 'fold') return;
      seen.add(at);
      for (const next of operandsOf(operand)) visit(next);
    };
    visit(node.operands[0]);
    map.set(
      index,
      [...seen].sort((a, b) => a - b),
    );
  }
  return map;
}

const operandsOf = (node: KernelNode): readonly number[] => ('operands' in node ? node.operands : []);

function bitsAt(view: DataView, dtype: DType, distance: number): number {
  const size = bytesOf(dtype);
  const from = distance * size;
  return size === 4 ? view.getUint32(from, true) : size === 2 ? view.getUint16(from, true) : view.getUint8(from);
}

class NaiveRun {
  readonly #call: Call;
  readonly #parts: Parts;
  readonly #kernel: Kernel;
  readonly #inputs: readonly RunLayout[];
  readonly #outputs: readonly RunLayout[];
  readonly #views: ReadonlyMap<Operand<ArrayBuffer>, DataView> = new Map();
  readonly #values: number[] = [];
  /** The bits of what only passed through, which a NaN keeps. */
  readonly #bits: (number | undefined)[] = [];
  readonly #scans = new Map<number, readonly number[]>();
  readonly #closures: ReadonlyMap<number, readonly number[]>;
  /** Quadratic in the length of a row, and the same folds again where nothing is in place. */
  readonly #recomputesFolds: boolean;

  constructor(call: Call, parts: Parts) {
    this.#call = call;
    this.#parts = parts;
    this.#kernel = call.geometry.kernel;
    this.#inputs = call.geometry.inputs.map((layout) => parts.layout(layout, 'input', call));
    this.#outputs = call.geometry.outputs.map((layout) => parts.layout(layout, 'output', call));
    this.#closures = closures(this.#kernel);
    const inputs = new Set(call.inputs.map((input) => input?.buffer));
    this.#recomputesFolds =
      parts.recomputed === 'folds' && call.outputs.some((output) => output !== undefined && inputs.has(output.buffer));
  }

  run(): void {
    const { rowCount } = this.#call.geometry;
    for (let row = 0; row < rowCount; row++) if (this.#parts.computesRow(row, this.#call)) this.#row(row);
  }

  #row(row: number): void {
    const { outputs } = this.#kernel;
    const { rowLength } = this.#call.geometry;
    this.#computeRow(row);
    this.#storeOutputs('row', row, 0);
    if (outputs.every(({ level }) => level === 'row')) return;
    this.#scanRow(row);
    for (let element = 0; element < rowLength; element++) {
      if (element > 0 && this.#recomputesFolds) this.#computeRow(row);
      this.#computeElement(row, element);
      this.#storeOutputs('element', row, element);
    }
  }

  #computeRow(row: number): void {
    for (const [index, node] of this.#kernel.nodes.entries()) {
      if (node.kind === 'fold') this.#fold(index, node, row);
      else if (node.level !== 'element') this.#compute(index, row, 0);
    }
  }

  #computeElement(row: number, element: number): void {
    for (const [index, node] of this.#kernel.nodes.entries()) {
      if (node.level === 'element') this.#compute(index, row, element);
    }
  }

  #fold(index: number, { op, operands }: KernelNode & { kind: 'fold' }, row: number): void {
    const [operand] = operands;
    const { type } = this.#kernel.nodes[operand] as KernelNode;
    const { rowLength } = this.#call.geometry;
    const state: FoldState = { value: this.#parts.foldStart(op, type), place: 0, count: 0 };
    const length = this.#parts.foldLength(rowLength, index, this.#call);
    for (let element = 0; element < length; element++) {
      for (const node of this.#closures.get(index) ?? []) this.#compute(node, row, element);
      this.#parts.foldStep(op, type, state, this.#values[operand] as number, element);
    }
    this.#values[index] = this.#parts.foldEnd(op, type, state, rowLength);
    this.#bits[index] = undefined;
  }

  /** The values of the scans at each element of a row. */
  #scanRow(row: number): void {
    const { rowLength } = this.#call.geometry;
    for (const [index, node] of this.#kernel.nodes.entries()) {
      if (node.kind !== 'scan') continue;
      const { op, type, operands } = node;
      const state: FoldState = { value: this.#parts.foldStart(op, type), place: 0, count: 0 };
      const values: number[] = [];
      this.#scans.set(index, values);
      for (let step = 0; step < rowLength; step++) {
        const element = this.#parts.scanPlace(step, rowLength, node);
        for (const each of this.#closures.get(index) ?? []) this.#compute(each, row, element);
        const x = this.#values[operands[0]] as number;
        const before = this.#parts.foldEnd(op, type, state, step);
        this.#parts.scanStep(op, type, state, x, step);
        values[element] = this.#parts.scanValue(node, before, this.#parts.foldEnd(op, type, state, step + 1), x);
      }
    }
  }

  #compute(index: number, row: number, element: number): void {
    const node = this.#kernel.nodes[index] as KernelNode;
    this.#bits[index] = undefined;
    this.#values[index] = this.#valueOf(index, node, row, element);
  }

  #valueOf(index: number, node: KernelNode, row: number, element: number): number {
    const operands = operandsOf(node).map((operand) => this.#values[operand] as number);
    const { shape } = this.#call.geometry;
    switch (node.kind) {
      case 'constant':
        return decodeElement(node.type === 'bool' ? 'u32' : node.type, node.bits);
      case 'parameter':
        return this.#parts.params(this.#call)[
          this.#kernel.params.findIndex(({ name }) => name === node.name)
        ] as number;
      case 'input':
        return this.#load(index, node, this.#parts.rowOf(row, node, this.#call), element);
      case 'gather':
        return this.#gather(index, node, operands);
      case 'index': {
        const axis = node.axis < 0 ? shape.length + node.axis : node.axis;
        return this.#parts.index(this.#place(row, element)[axis] as number, axis, this.#call);
      }
      case 'rowIndex': {
        const rowRank = shape.length - this.#call.geometry.folded;
        return this.#place(row, 0)[node.axis < 0 ? rowRank + node.axis : node.axis] as number;
      }
      case 'extent':
        return shape[node.axis < 0 ? shape.length + node.axis : node.axis] as number;
      case 'arithmetic': {
        const operandType = (this.#kernel.nodes[node.operands.at(-1) as number] as KernelNode).type;
        if (node.op === 'select') this.#bits[index] = this.#bits[node.operands[operands[0] === 1 ? 1 : 2] as number];
        return this.#parts.apply(node.op, node.type, operandType, operands);
      }
      case 'spread':
        this.#bits[index] = this.#bits[node.operands[0]];
        return operands[0] as number;
      case 'fold':
        return this.#values[index] as number;
      case 'scan':
        return this.#scans.get(index)?.[element] as number;
    }
  }

  /** The point along each axis. */
  #place(row: number, element: number): number[] {
    const { shape, folded } = this.#call.geometry;
    const rowRank = shape.length - folded;
    return [...placeOf(row, shape.slice(0, rowRank)), ...placeOf(element, shape.slice(rowRank))];
  }

  #distance(layout: RunLayout, row: number, element: number): number {
    const place = this.#place(row, element);
    return layout.strides.reduce((sum, stride, axis) => sum + stride * (place[axis] as number), 0);
  }

  #load(index: number, node: KernelNode & { kind: 'input' }, row: number, element: number): number {
    const at = this.#kernel.inputs.findIndex(({ name }) => name === node.name);
    const layout = this.#inputs[at] as RunLayout;
    return this.#read(index, at, this.#distance(layout, row, element));
  }

  #gather(index: number, node: KernelNode & { kind: 'gather' }, operands: readonly number[]): number {
    const at = this.#kernel.inputs.findIndex(({ name }) => name === node.name);
    const layout = this.#inputs[at] as RunLayout;
    let distance = 0;
    for (const [axis, size] of layout.shape.entries()) {
      const place = this.#parts.gatherIndex(operands[axis + 1] as number, size, axis, layout);
      if (place === undefined) return operands[0] as number;
      distance += place * (layout.strides[axis] as number);
    }
    return this.#read(index, at, distance);
  }

  #read(index: number, at: number, distance: number): number {
    const { dtype } = this.#inputs[at] as RunLayout;
    const view = this.#viewOf(this.#call.inputs[at] as Operand<ArrayBuffer>);
    const bits = bitsAt(view, dtype, distance);
    this.#bits[index] = bits;
    return this.#parts.decode(dtype, bits);
  }

  #storeOutputs(level: 'row' | 'element', row: number, element: number): void {
    for (const [at, output] of this.#kernel.outputs.entries()) {
      if (output.level !== level) continue;
      if (at > 0 && level === 'element' && this.#parts.recomputed === 'elements') this.#computeElement(row, element);
      const layout = this.#outputs[at] as RunLayout;
      const operand = this.#call.outputs[at];
      if (operand === undefined) continue;
      const kept =
        this.#parts.keepsBits && this.#dtypeOfBits(output.node) === layout.dtype ? this.#bits[output.node] : undefined;
      const view = this.#viewOf(operand);
      if (output.scatter !== undefined) {
        this.#scatter(view, layout, output.scatter, this.#values[output.node] as number, kept);
        continue;
      }
      const bits = kept ?? this.#parts.encode(layout.dtype, this.#values[output.node] as number);
      this.#parts.write(view, layout, this.#distance(layout, row, element), bits);
    }
  }

  #scatter(
    view: DataView,
    layout: RunLayout,
    { mode, indices }: NonNullable<KernelOutput['scatter']>,
    value: number,
    kept: number | undefined,
  ): void {
    let distance = 0;
    for (const [axis, size] of layout.shape.entries()) {
      const place = this.#parts.gatherIndex(this.#values[indices[axis] as number] as number, size, axis, layout);
      if (place === undefined) return;
      distance += place * (layout.strides[axis] as number);
    }
    if (mode === 'set') {
      this.#parts.write(view, layout, distance, kept ?? this.#parts.encode(layout.dtype, value));
      return;
    }
    const old = this.#parts.decode(layout.dtype, bitsAt(view, layout.dtype, distance));
    const combined = this.#parts.apply(mode, layout.type, layout.type, [old, value]);
    this.#parts.write(view, layout, distance, this.#parts.encode(layout.dtype, combined));
  }

  /** The dtype that kept bits have: that of the input they came from. */
  #dtypeOfBits(node: number): DType | undefined {
    const from = this.#kernel.nodes[node] as KernelNode;
    if (from.kind === 'input' || from.kind === 'gather') {
      return this.#inputs[this.#kernel.inputs.findIndex(({ name }) => name === from.name)]?.dtype;
    }
    if (from.kind === 'spread') return this.#dtypeOfBits(from.operands[0]);
    if (from.kind !== 'arithmetic' || from.op !== 'select') return undefined;
    const [a, b] = from.operands.slice(1).map((operand) => this.#dtypeOfBits(operand));
    return a === b ? a : undefined;
  }

  #viewOf(operand: Operand<ArrayBuffer>): DataView {
    const known = this.#views.get(operand);
    if (known !== undefined) return known;
    const view = new DataView(operand.buffer, operand.byteOffset);
    (this.#views as Map<Operand<ArrayBuffer>, DataView>).set(operand, view);
    return view;
  }
}
