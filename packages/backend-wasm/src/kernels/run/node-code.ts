import { BYTES_OF } from '@concord/backend-core/implement';
import { type ArithmeticNode, type GatherNode, type KernelNode, operandsOf } from '@concord/backend-core/kernel';
import {
  arithmeticNode,
  axesOfNodes,
  axisOf,
  gathersRun,
  missingNodes,
  numberOf,
  placeOf,
  vectorAxis,
} from '@concord/kernel';
import { i32, i32x4, type Local, type Value, v128 } from '../../encoder/index.ts';
import { nativeNode } from '../arithmetic/native-nodes.ts';
import { decode, encode, loadDense, loadLanes, loadSplat, storeDense, storeLanes } from '../arithmetic/storage.ts';
import type { Vector, WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import { type Cursor, LANES } from './cursor.ts';
import { scatter } from './scatter-code.ts';
import { names, type OperandForm, type RunForm } from './form.ts';

/** The loop in which a value is computed: before all loops, for a row, for a line of points, for a block of a line. */
export type Scope = 0 | 1 | 2 | 3;

interface NodePlace {
  readonly scope: Scope;
  /** True if the neighbours of a vector may have different values. */
  readonly varies: boolean;
}

/** The scopes in which the nodes of a kernel are computed: as far outside as their operands allow. */
function placesOfNodes(form: RunForm): readonly NodePlace[] {
  const [last, vectors] = [form.rowRank + form.foldedRank - 1, vectorAxis(form)];
  const scopeOfAxis = (axis: number): Scope => {
    if (form.kind === 'rows' && axis < form.rowRank) return 1;
    return axis === last ? 3 : 2;
  };
  const axes = axesOfNodes(form, (input, axis) => form.inputs[input]?.moves[axis] === true);
  const places: NodePlace[] = [];
  for (const [index, node] of form.kernel.nodes.entries()) {
    const own = [...(axes[index] as ReadonlySet<number>)];
    const operands = operandsOf(node).map((operand) => (places[operand] as NodePlace).scope);
    const scope = node.kind === 'fold' ? 1 : (Math.max(0, ...own.map(scopeOfAxis), ...operands) as Scope);
    places.push({ scope, varies: own.includes(vectors) });
  }
  return places;
}

/** The code of a kernel's nodes: each is computed once in its scope, for each of the vectors side by side that it varies in. */
export class NodeCode {
  readonly a: WasmArithmetic;
  readonly cursor: Cursor;
  readonly form: RunForm;
  readonly #nodes: readonly KernelNode[];
  readonly #places: readonly NodePlace[];
  /** The known values by scope and node: one, or one for each vector. */
  readonly #known: Map<number, readonly Vector[]>[] = [new Map(), new Map(), new Map(), new Map()];

  constructor(a: WasmArithmetic, cursor: Cursor) {
    this.a = a;
    this.cursor = cursor;
    this.form = cursor.form;
    this.#nodes = cursor.form.kernel.nodes;
    this.#places = placesOfNodes(cursor.form);
  }

  /** Kept nodes that were stored in a pass before, and those that are in this one. */
  readonly #stored = new Set<number>();
  readonly #storing = new Set<number>();

  /** A new turn of a scope's loop: values of this scope, and of those inside it, are no longer valid. */
  enter(scope: Scope): void {
    for (let inner = scope as number; inner < this.#known.length; inner++) this.#known[inner]?.clear();
    if (scope === 1) this.#stored.clear();
  }

  /** The end of a pass over a row: the values that it kept can be read from now on. */
  endPass(): void {
    for (const index of this.#storing) this.#stored.add(index);
    this.#storing.clear();
  }

  /** Computes some nodes and the nodes that they need, as far as they belong to this scope or one around it. */
  compute(roots: readonly number[], scope: Scope, units: number): void {
    const { kernel } = this.form;
    const isStored = (index: number): boolean => this.#stored.has(index);
    for (const index of missingNodes(kernel, roots, (each) => this.#isKnown(each), isStored)) {
      const node = this.#nodes[index] as KernelNode;
      const place = this.#places[index] as NodePlace;
      if (place.scope > scope || node.kind === 'fold' || node.kind === 'scan') continue;
      const count = place.varies ? units : 1;
      const values = Array.from({ length: count }, (_, unit) => this.#computeOrKeep(node, index, unit));
      this.#known[place.scope]?.set(index, values);
    }
  }

  /** The value of a node that was computed. */
  value(index: number, unit: number): Vector {
    const { scope, varies } = this.#places[index] as NodePlace;
    const value = this.#known[scope]?.get(index)?.[varies ? unit : 0];
    if (value === undefined) throw new Error(`node ${index} is wanted before it is computed`);
    return value;
  }

  /** Gives a fold or scan its value, one for each vector where it varies. */
  setFold(index: number, values: readonly Vector[]): void {
    this.#known[(this.#places[index] as NodePlace).scope]?.set(index, values);
  }

  /** True if neighbours may differ in a node. */
  varies(index: number): boolean {
    return (this.#places[index] as NodePlace).varies;
  }

  /** Writes outputs where the cursor is. */
  store(outputs: readonly number[], units: number): void {
    const { body } = this.cursor;
    const { kernel, inputs, outputs: forms } = this.form;
    const byIndex = outputs.filter((output) => kernel.outputs[output]?.scatter !== undefined);
    const byPoint = outputs.filter((output) => !byIndex.includes(output));
    // All is rounded before any is stored: an output may be in the place of an input, not of another's value.
    const encoded = byPoint.map((output) => {
      const { node } = kernel.outputs[output] as (typeof kernel.outputs)[number];
      const form = forms[output] as OperandForm;
      const count = form.step === 'constant' ? 1 : units;
      return Array.from({ length: count }, (_, unit) => encode(this.a, form.dtype, this.value(node, unit)));
    });
    byPoint.forEach((output, at) => {
      const form = forms[output] as OperandForm;
      const operand = inputs.length + output;
      (encoded[at] as readonly Vector[]).forEach((raw, unit) => {
        if (form.step === 'dense' && this.cursor.lanes.isWhole) {
          body.emit(storeDense(form.dtype, this.#pointer(operand), raw, unit * LANES * BYTES_OF[form.dtype]));
        } else {
          body.emit(...storeLanes(form.dtype, this.#addresses(operand, form, unit), raw));
        }
      });
    });
    for (const output of byIndex) scatter(this, output, units);
  }

  #isKnown(index: number): boolean {
    return this.#known[(this.#places[index] as NodePlace).scope]?.has(index) === true;
  }

  #computeOrKeep(node: KernelNode, index: number, unit: number): Vector {
    const { a, form, cursor } = this;
    const at = form.kept.indexOf(index);
    if (at < 0) return this.#compute(node, index, unit);
    const operand = form.inputs.length + form.outputs.length + at;
    const pointer = this.#pointer(operand);
    const offset = unit * LANES * 4;
    if (this.#stored.has(index)) {
      if (cursor.lanes.isWhole || form.along === 'rows') return a.keep(v128.load(pointer, offset));
      return a.keep(loadLanes('f32', this.#lanes(operand, pointer), a.constant('u32', 0)));
    }
    const value = this.#compute(node, index, unit);
    cursor.body.emit(v128.store(pointer, value, offset));
    this.#storing.add(index);
    return value;
  }

  #compute(node: KernelNode, index: number, unit: number): Vector {
    const { a, form, cursor } = this;
    const { kernel } = form;
    switch (node.kind) {
      case 'constant':
        return a.constant(node.type, node.bits);
      case 'parameter':
        return cursor.words.vector(names.parameter(numberOf(kernel.params, node)));
      case 'extent':
        return cursor.words.vector(names.extent(axisOf(node.axis, form.rank)));
      case 'index':
      case 'rowIndex':
        return this.#index(placeOf(form, node), unit);
      case 'input':
        return this.#load(numberOf(kernel.inputs, node), unit);
      case 'gather':
        return this.#gather(node, unit);
      case 'spread':
        return this.value(node.operands[0], unit);
      case 'fold':
      case 'scan':
        throw new Error(`fold ${index} is wanted before it is computed`);
      case 'arithmetic':
        return this.#arithmetic(node, unit);
    }
  }

  #arithmetic(node: ArithmeticNode, unit: number): Vector {
    const operands = node.operands.map((operand) => this.value(operand, unit));
    const types = node.operands.map((operand) => (this.#nodes[operand] as KernelNode).type);
    return (
      nativeNode(this.a, node, types.at(-1) as KernelNode['type'], operands) ??
      arithmeticNode(this.a, node, types, operands)
    );
  }

  /** The elements of a gather input at some indices, or the first operand where one is beyond its axis. */
  #gather(node: GatherNode, unit: number): Vector {
    const { a, form, cursor } = this;
    const { body, words } = cursor;
    const [otherwise, ...indices] = node.operands as readonly [number, ...number[]];
    const outside = this.value(otherwise, unit);
    const input = numberOf(form.kernel.inputs, node);
    const operand = form.inputs[input] as OperandForm;
    if (operand.gather === 'empty') return outside;
    const values = indices.map((index) => this.value(index, unit));
    // The size of an i32's axis is a word of at most 2^31, so negative indices are beyond it.
    const isBelow = (index: Vector, axis: number): Vector => {
      const { type } = this.#nodes[indices[axis] as number] as KernelNode;
      return a.less('u32', index, words.vector(names.gatherSizeFor(input, axis, type)));
    };
    const each = (): Vector => {
      const isInside = values.map(isBelow).reduce((all, next) => a.and('bool', all, next));
      const offset = values
        .map((index, axis) => a.mul('u32', index, words.vector(names.gatherStride(input, axis))))
        .reduce((sum, term) => a.add('u32', sum, term));
      // An index outside reads the first element instead.
      const places = a.keep(v128.and(offset, isInside));
      const base = words.number(names.input(input));
      const address = (lane: number): Value<'i32'> => i32.add(base, i32x4.extractLane(places, lane));
      const raw = indices.some((index) => this.varies(index))
        ? loadLanes(operand.dtype, [0, 1, 2, 3].map(address), a.constant('u32', 0))
        : loadSplat(operand.dtype, address(0));
      return a.select(node.type, isInside, decode(a, operand.dtype, raw), outside);
    };
    const isDense = cursor.lanes.isWhole && operand.gather === 'dense';
    if (!isDense || form.isReverse || !gathersRun(form, indices, (index) => this.varies(index))) return each();
    // Four neighbours along the input's last axis, from this one on.
    const run = body.let(i32.add(cursor.coordinates[vectorAxis(form)] as Local<'i32'>, unit * LANES));
    const others = values.slice(0, -1);
    const isThere = others
      .map(isBelow)
      .reduce<Value<'i32'>>(
        (all, next) => i32.and(all, i32x4.extractLane(next, 0)),
        i32.ltU(i32.add(run, LANES - 1), words.number(names.gatherSizeFor(input, others.length, 'u32'))),
      );
    const result = body.local('v128');
    body.if(
      isThere,
      () => {
        const start = others
          .map((index, axis) => i32.mul(i32x4.extractLane(index, 0), words.number(names.gatherStride(input, axis))))
          .reduce<Value<'i32'>>((sum, term) => i32.add(sum, term), words.number(names.input(input)));
        const address = body.let(i32.add(start, i32.mul(run, BYTES_OF[operand.dtype])));
        body.set(result, decode(a, operand.dtype, loadDense(operand.dtype, address, 0)));
      },
      () => body.set(result, each()),
    );
    return result;
  }

  #index(axis: number, unit: number): Vector {
    const { a, cursor } = this;
    if (axis < 0) return a.constant('u32', 0);
    const first = i32x4.splat(cursor.coordinates[axis] as Local<'i32'>);
    const isAlong = axis === vectorAxis(this.form);
    const own = a.keep(isAlong ? i32x4.add(first, cursor.lanes.iota) : first);
    const vector = unit === 0 || !isAlong ? own : a.add('u32', own, a.constant('u32', unit * LANES));
    if (!this.form.isReverse || axis < this.form.rowRank) return vector;
    return a.keep(i32x4.sub(i32x4.splat(i32.sub(cursor.size(axis), 1)), vector));
  }

  #load(input: number, unit: number): Vector {
    const { a } = this;
    const form = this.form.inputs[input] as OperandForm;
    const pointer = this.#pointer(input);
    if (form.step === 'constant') return decode(a, form.dtype, loadSplat(form.dtype, pointer));
    if (form.step === 'dense' && this.cursor.lanes.isWhole) {
      return decode(a, form.dtype, loadDense(form.dtype, pointer, unit * LANES * BYTES_OF[form.dtype]));
    }
    return decode(a, form.dtype, loadLanes(form.dtype, this.#addresses(input, form, unit), a.constant('u32', 0)));
  }

  #pointer(operand: number): Local<'i32'> {
    return this.cursor.pointers[operand] as Local<'i32'>;
  }

  /** The address of each lane; only that of the first one if it is the same for all. */
  #addresses(operand: number, form: OperandForm, unit: number): readonly Value<'i32'>[] {
    const { cursor } = this;
    const pointer = this.#pointer(operand);
    if (form.step === 'constant') return [pointer];
    const stride = cursor.stride(operand, vectorAxis(this.form));
    const first = unit === 0 ? pointer : cursor.body.let(i32.add(pointer, i32.mul(stride, unit * LANES)));
    return this.#lanes(operand, first);
  }

  #lanes(operand: number, first: Local<'i32'>): readonly Value<'i32'>[] {
    return [first, ...this.cursor.laneOffsets(operand).map((offset) => i32.add(first, offset))];
  }
}
