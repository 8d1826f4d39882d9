import type { AxisNode, Kernel } from '@concord/backend-core/kernel';
import {
  arithmeticNode,
  axesOfNodes,
  axisOf,
  type Leaves,
  names,
  NodeLowering,
  numberOf,
  placeOf,
  vectorAxis,
} from '@concord/kernel';
import type { FunctionBuilder, Type, Value } from '@concord/spirv-builder';
import { SpirvArithmetic, type Width } from '../arithmetic/spirv-arithmetic.ts';
import type { RunForm } from './form.ts';
import { gather } from './gather-code.ts';
import { storeByIndex } from './scatter-code.ts';
import { OperandCode } from './operand-code.ts';

/** The scope of values: for a call, at a point, or for neighbours. */
interface NodeScope {
  /** Components of what varies along the vectors. */
  readonly width: Width;
  /**
   * The coordinates of the first neighbour, along each axis that is not folded, or of an element along each folded one.
   */
  readonly coordinates: readonly Value[];
  readonly values: NodeLowering<Value>;
  /** Scalars in each component, by node. */
  readonly splats: Map<number, Value>;
}

/** A point of the axes that are not folded, or neighbours there where vectors lie along them. */
export interface RowScope extends NodeScope {
  /** The start of the row in each layout, in elements. */
  readonly offsets: Map<number, Value>;
  /** Values of the folds that are finished. */
  readonly folds: Map<number, Value>;
}

/** An element of a row, or neighbours. */
export interface ElementScope extends NodeScope {
  readonly row: RowScope;
  /** Values of scans at it. */
  readonly scans: Map<number, Value>;
}

export type Scope = RowScope | ElementScope;

/** A condition; undefined where it always holds. */
export type Condition = Value | undefined;

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
  /** True for each node that differs between the neighbours of a vector. */
  readonly varies: readonly boolean[];
  readonly #call: NodeScope;

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
    this.#call = this.#open({ width: 1, coordinates: [] }, undefined);
    this.#call.values.hoist(['call']);
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

  /** Sizes of so many axes from one on. */
  sizes(first: number, count: number): readonly Value[] {
    return Array.from({ length: count }, (_, axis) => this.arg(names.size(first + axis)));
  }

  /** The row-major number of a point of the axes from one on. */
  numberOf(coordinates: readonly Value[], first: number): Value {
    const sizes = this.sizes(first, coordinates.length);
    return coordinates.reduce((sum, own, axis) => this.k.add(this.k.mul(sum, sizes[axis] as Value), own));
  }

  /** A row, or neighbours. Places of its operands are computed here, and may be used in loops and branches after. */
  row(coordinates: readonly Value[], width: Width): RowScope {
    const offsets = this.operands.rowOffsets(coordinates);
    const row = this.#open({ width, coordinates, offsets, folds: new Map<number, Value>() }, this.#call);
    row.values.hoist(['row'], 0);
    return row;
  }

  /** An element of a row, or neighbours. */
  element(row: RowScope, coordinates: readonly Value[], width: Width): ElementScope {
    return this.#open({ row, width, coordinates, scans: new Map<number, Value>() }, row);
  }

  /** The value of a node as that many components. */
  wide(index: number, scope: NodeScope, width: Width): Value {
    const value = scope.values.value(index);
    if (width === 1 || value.type.kind === 'vector') return value;
    // Not where the value itself is kept: code there may be after the end of this region.
    const made = scope.splats.get(index) ?? this.splat(value, width);
    scope.splats.set(index, made);
    return made;
  }

  /** Stores outputs where all conditions hold; all are computed before any is stored, as an output may be an input. */
  store(outputs: readonly number[], scope: Scope, ...conditions: readonly Condition[]): void {
    const stores = outputs.map((output) => {
      const { node, scatter } = this.kernel.outputs[output] as Kernel['outputs'][number];
      if (scatter !== undefined) return storeByIndex(this, output, scope);
      const raw = this.operands.encode(output, this.wide(node, scope, scope.width));
      return () => this.operands.storeRaw(output, scope, raw);
    });
    this.when(conditions, () => {
      for (const store of stores) store();
    });
  }

  /** Does something where all conditions hold. */
  when(conditions: readonly Condition[], body: () => void): void {
    const known = conditions.filter((condition) => condition !== undefined);
    if (known.length === 0) body();
    else
      this.k.when(
        known.reduce((a, b) => this.k.and(a, b)),
        body,
      );
  }

  /** A scalar in each component. */
  splat(value: Value, width: Width): Value {
    if (width === 1) return value;
    return this.k.splat(this.k.types.vector(value.type as never, width), value);
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

  #open<Point extends Pick<NodeScope, 'width' | 'coordinates'>>(
    point: Point,
    outer: NodeScope | undefined,
  ): Point & NodeScope {
    const leaves = this.#leavesAt(() => scope);
    const values = new NodeLowering(this.math(1), this.kernel, leaves, outer?.values);
    const scope = { ...point, values, splats: new Map<number, Value>() };
    return scope;
  }

  #leavesAt(scopeOf: () => NodeScope): Leaves<Value> {
    const { kernel, form } = this;
    const scope = (): Scope => scopeOf() as Scope;
    const widthOf = (index: number): Width => (this.varies[index] === true ? scopeOf().width : 1);
    return {
      parameter: (node) => this.arg(names.parameter(numberOf(kernel.params, node))),
      axis: (node, index) => {
        if (node.kind === 'extent') return this.arg(names.extent(axisOf(node.axis, form.rank)));
        return this.#coordinate(node, scope(), widthOf(index));
      },
      input: (node, index) => this.operands.load(numberOf(kernel.inputs, node), scope(), widthOf(index)),
      gather: (node, index) => gather(this, node, scope(), widthOf(index)),
      fold: (_, index) => {
        const own = scope();
        if (!('row' in own)) return own.folds.get(index) as Value;
        return (own.scans.get(index) ?? own.row.folds.get(index)) as Value;
      },
      arithmetic: (node, index, types) => {
        const width = widthOf(index);
        const operands = node.operands.map((operand) => this.wide(operand, scopeOf(), width));
        return arithmeticNode(this.math(width), node, types, operands);
      },
    };
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
