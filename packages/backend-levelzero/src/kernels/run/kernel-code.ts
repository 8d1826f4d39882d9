import type { InputNode, Kernel, KernelNode, Level } from '@concord/backend-core/kernel';
import { operandsOf } from '@concord/backend-core/kernel';
import { arithmeticNode, axisOf, phasesOf } from '@concord/kernel';
import type { FunctionBuilder, Type, Value } from '@concord/spirv-builder';
import { SpirvArithmetic, type Width } from '../arithmetic/spirv-arithmetic.ts';
import { names, type RunForm, vectorAxis } from './form.ts';
import { gather } from './gather-code.ts';
import { OperandCode } from './operand-code.ts';
import type { ElementScope, Known, RowScope } from './scopes.ts';
import { placeOf, varyingNodes } from './varies.ts';

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
    this.varies = varyingNodes(form.kernel, form);
    this.#depths = phasesOf(form.kernel).depths;
    this.kernel.nodes.forEach((node, index) => {
      if (node.level === 'call') this.#call.set(index, this.#compute(node, index, undefined));
    });
  }

  /** The type of places in memory. */
  get index(): Type {
    return this.k.types.int(this.form.index === 'u32' ? 32 : 64);
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
  value(index: number, scope: RowScope | ElementScope): Value {
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
  wide(index: number, scope: RowScope | ElementScope, width: Width): Value {
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
  widthOf(index: number, scope: RowScope | ElementScope): Width {
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

  #knownAt(level: Level, scope: RowScope | ElementScope): Known {
    if (level === 'call') return this.#call;
    return level === 'row' && 'row' in scope ? scope.row.known : scope.known;
  }

  #compute(node: KernelNode, index: number, scope: RowScope | ElementScope | undefined): Value {
    const { k, kernel } = this;
    const width = scope === undefined ? 1 : this.widthOf(index, scope);
    switch (node.kind) {
      case 'constant':
        return new SpirvArithmetic(k, 1).constant(node.type, node.bits);
      case 'parameter':
        return this.arg(names.parameter(kernel.params.findIndex(({ name }) => name === node.name)));
      case 'extent':
        return this.arg(names.extent(axisOf(node.axis, this.form.rank)));
      case 'index':
      case 'rowIndex':
        return this.#coordinate(placeOf(this.form, node.axis, node.kind), scope as RowScope | ElementScope, width);
      case 'input':
        return this.operands.load(this.#inputOf(node), scope as RowScope | ElementScope, width);
      case 'gather':
        return gather(this, node, scope as RowScope | ElementScope, width);
      case 'spread':
        return this.wide(node.operands[0], scope as ElementScope, width);
      case 'fold':
        throw new Error(`fold ${index} is wanted before it is computed`);
      case 'arithmetic': {
        const operands = operandsOf(node).map((operand) =>
          scope === undefined ? (this.#call.get(operand) as Value) : this.wide(operand, scope, width),
        );
        const types = node.operands.map((operand) => (kernel.nodes[operand] as KernelNode).type);
        return arithmeticNode(new SpirvArithmetic(k, width), node, types, operands);
      }
    }
  }

  #inputOf({ name }: InputNode): number {
    return this.kernel.inputs.findIndex((input) => input.name === name);
  }

  #coordinate(place: number, scope: RowScope | ElementScope, width: Width): Value {
    if (place < 0) return this.k.constant(this.k.types.int(32), 0);
    const row = 'row' in scope ? scope.row : scope;
    const { rowRank } = this.form;
    const coordinate = place < rowRank ? row.coordinates[place] : (scope as ElementScope).coordinates[place - rowRank];
    return this.position(coordinate as Value, place === vectorAxis(this.form) ? width : 1);
  }
}
