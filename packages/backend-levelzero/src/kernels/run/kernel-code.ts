import type { AxisNode, Kernel, KernelNode, Level } from '@concord/backend-core/kernel';
import { arithmeticNode, axesOfNodes, axisOf, names, numberOf, phasesOf, placeOf, vectorAxis } from '@concord/kernel';
import type { FunctionBuilder, Type, Value } from '@concord/spirv-builder';
import { SpirvArithmetic, type Width } from '../arithmetic/spirv-arithmetic.ts';
import type { RunForm } from './form.ts';
import { gather } from './gather-code.ts';
import { OperandCode } from './operand-code.ts';

/** Values that were computed, by node. Splats are stored under `~node`. */
type Known = Map<number, Value>;

/** A point of the axes that are not folded, or neighbours there where vectors lie along them. */
export interface RowScope {
  /** Components of what varies along the vectors. */
  readonly width: Width;
  /** Of the first neighbour, along each axis that is not folded. */
  readonly coordinates: readonly Value[];
  readonly known: Known;
  /** Where the row begins in each layout, in elements. */
  readonly offsets: Map<number, Value>;
}

/** An element of a row, or neighbours. */
export interface ElementScope {
  readonly row: RowScope;
  readonly width: Width;
  /** Of the first neighbour, along each folded axis. */
  readonly coordinates: readonly Value[];
  readonly known: Known;
}

export type Scope = RowScope | ElementScope;

/** The coordinates of the point with this number, row-major; the first axis takes what is left. */
export function coordinatesOf(k: FunctionBuilder, number: Value, sizes: readonly Value[]): readonly Value[] {
  const coordinates: Value[] = [];
  let left = number;
  for (let axis = sizes.length - 1; axis > 0; axis--) {
    const size = sizes[axis] as Value;
    const quotient = k.udiv(left, size);
    coordinates.unshift(k.sub(left, k.mul(quotient, size)));
    left = quotient;
  }
  return sizes.length === 0 ? [] : [left, ...coordinates];
}

/** The code of a kernel's nodes in one function: each node is computed once in a scope, where its values are wanted. */
export class KernelCode {
  readonly k: FunctionBuilder;
  readonly form: RunForm;
  readonly kernel: Kernel;
  readonly operands: OperandCode;
  readonly args: Readonly<Record<string, Value>>;
  /** For each node, whether it differs between the neighbours of a vector. */
  readonly varies: readonly boolean[];
  readonly #call: Known = new Map();
  readonly #depths: readonly number[];

  constructor(k: FunctionBuilder, form: RunForm, args: Readonly<Record<string, Value>>) {
    this.k = k;
    this.form = form;
    this.kernel = form.kernel;
    this.args = args;
    this.operands = new OperandCode(k, form, args);
    const { layouts, inputs } = form;
    const last = vectorAxis(form);
    const axes = axesOfNodes(
      form,
      (input, axis) => axis === last && layouts[inputs[input]?.layout ?? -1] !== 'constant',
    );
    this.varies = axes.map((each) => each.has(last));
    this.#depths = phasesOf(form.kernel).depths;
    this.kernel.nodes.forEach((node, index) => {
      if (node.level === 'call') this.#call.set(index, this.#compute(node, index, undefined));
    });
  }

  /** The type of places in memory. */
  get index(): Type {
    return this.k.types.int(this.form.index === 'u32' ? 32 : 64);
  }

  /** The arithmetic on values of that many components. */
  math(width: Width): SpirvArithmetic {
    return new SpirvArithmetic(this.k, width);
  }

  /** A size, or another argument. */
  arg(name: string): Value {
    return this.args[name] as Value;
  }

  /** A row, or neighbours. Places of its operands are computed here, and may be used in loops and branches after. */
  row(coordinates: readonly Value[], width: Width): RowScope {
    const row = { width, coordinates, known: new Map(), offsets: this.operands.rowOffsets(coordinates) };
    this.computeRows(row, 0);
    return row;
  }

  /** An element of a row, or neighbours. */
  element(row: RowScope, coordinates: readonly Value[], width: Width): ElementScope {
    return { row, width, coordinates, known: new Map() };
  }

  /** Computes what is at row level and needs no more than that many folds, one after the other. */
  computeRows(row: RowScope, depth: number): void {
    this.kernel.nodes.forEach((node, index) => {
      if (node.level !== 'row' || node.kind === 'fold' || (this.#depths[index] as number) > depth) return;
      this.value(index, row);
    });
  }

  /** The value of a node: a vector where it varies along one. */
  value(index: number, scope: Scope): Value {
    const node = this.kernel.nodes[index] as KernelNode;
    const known = this.#knownAt(node.level, scope);
    let value = known.get(index);
    if (value === undefined) {
      value = this.#compute(node, index, scope);
      known.set(index, value);
    }
    return value;
  }

  /** The value of a node as that many components. */
  wide(index: number, scope: Scope, width: Width): Value {
    const value = this.value(index, scope);
    if (width === 1 || value.type.kind === 'vector') return value;
    // Not where the value itself is kept: code there may be after the end of this region.
    const made = scope.known.get(~index);
    if (made !== undefined) return made;
    const vector = this.splat(value, width);
    scope.known.set(~index, vector);
    return vector;
  }

  /** A scalar in each component. */
  splat(value: Value, width: Width): Value {
    if (width === 1) return value;
    return this.k.splat(this.k.types.vector(value.type as never, width), value);
  }

  /** The components that a node has in a scope. */
  widthOf(index: number, scope: Scope): Width {
    return this.varies[index] === true ? scope.width : 1;
  }

  /** A place as the u32 that kernels count with; `width` neighbours, if it is along the vectors. */
  position(place: Value, width: Width): Value {
    const { k } = this;
    const first = k.uconvert(place, k.types.int(32));
    if (width === 1) return first;
    const type = k.types.vector(k.types.int(32), width);
    const lanes = k.vector(type, ...Array.from({ length: width }, (_, lane) => k.constant(k.types.int(32), lane)));
    return k.add(k.splat(type, first), lanes);
  }

  #knownAt(level: Level, scope: Scope): Known {
    if (level === 'call') return this.#call;
    return level === 'row' && 'row' in scope ? scope.row.known : scope.known;
  }

  #compute(node: KernelNode, index: number, scope: Scope | undefined): Value {
    const { kernel } = this;
    const width = scope === undefined ? 1 : this.widthOf(index, scope);
    switch (node.kind) {
      case 'constant':
        return this.math(1).constant(node.type, node.bits);
      case 'parameter':
        return this.arg(names.parameter(numberOf(kernel.params, node)));
      case 'extent':
        return this.arg(names.extent(axisOf(node.axis, this.form.rank)));
      case 'index':
      case 'rowIndex':
        return this.#coordinate(node, scope as Scope, width);
      case 'input':
        return this.operands.load(numberOf(kernel.inputs, node), scope as Scope, width);
      case 'gather':
        return gather(this, node, scope as Scope, width);
      case 'spread':
        return this.wide(node.operands[0], scope as ElementScope, width);
      case 'fold':
        throw new Error(`fold ${index} is wanted before it is computed`);
      case 'arithmetic': {
        const operands = node.operands.map((operand) =>
          scope === undefined ? (this.#call.get(operand) as Value) : this.wide(operand, scope, width),
        );
        const types = node.operands.map((operand) => (kernel.nodes[operand] as KernelNode).type);
        return arithmeticNode(this.math(width), node, types, operands);
      }
    }
  }

  #coordinate(node: AxisNode, scope: Scope, width: Width): Value {
    const place = placeOf(this.form, node);
    if (place < 0) return this.k.constant(this.k.types.int(32), 0);
    const row = 'row' in scope ? scope.row : scope;
    const { rowRank } = this.form;
    const coordinate = place < rowRank ? row.coordinates[place] : (scope as ElementScope).coordinates[place - rowRank];
    return this.position(coordinate as Value, place === vectorAxis(this.form) ? width : 1);
  }
}
