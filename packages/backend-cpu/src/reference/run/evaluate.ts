import type { ArithmeticNode, AxisNode, CheckedRun, GatherNode, KernelNode } from '@concord/backend-core/kernel';
import { operandsOf } from '@concord/backend-core/kernel';
import { operationOf } from './arithmetic.ts';
import { square, withNan } from './float-arithmetic.ts';
import { flushed, inFloat32 } from './float32.ts';
import { foldOf, scanOf } from './folds.ts';
import { gathered, type Operands } from './operands.ts';
import { hull, type Interval, point } from './interval.ts';

/** A run of points that are evaluated together: one row where the kernel has rows. */
export interface Chunk {
  readonly row: number;
  /** The first point, row-major in the domain. */
  readonly first: number;
  readonly count: number;
}

/** The values of each node in a chunk, by its index: one an element, or a single one; gone after the last use. */
export type NodeValues = (readonly Interval[] | undefined)[];

/** The evaluation of a kernel, node by node. */
export class Evaluation {
  readonly #geometry: CheckedRun;
  readonly #operands: Operands;
  readonly #flush: boolean;
  readonly #lastUses: readonly number[];
  readonly #products: readonly boolean[];

  constructor(geometry: CheckedRun, operands: Operands, flush: boolean) {
    this.#geometry = geometry;
    this.#operands = operands;
    this.#flush = flush;
    this.#lastUses = lastUsesOf(geometry);
    this.#products = productsOf(geometry);
  }

  /** The values of the nodes that outputs store. */
  evaluate(chunk: Chunk): NodeValues {
    const { nodes } = this.#geometry.kernel;
    const values: NodeValues = [];
    for (const [index, node] of nodes.entries()) {
      values.push(this.#valuesOf(node, chunk, values));
      for (const operand of operandsOf(node)) if (this.#lastUses[operand] === index) values[operand] = undefined;
    }
    return values;
  }

  #valuesOf(node: KernelNode, chunk: Chunk, values: NodeValues): readonly Interval[] {
    if (node.kind === 'fold') {
      const [operand] = node.operands;
      const read = this.#reader(values, operand, node);
      const terms = Array.from({ length: chunk.count }, (_, index) => read(index));
      return [this.#computed(node, foldOf(node.op, this.#node(operand).type, terms))];
    }
    if (node.kind === 'scan') {
      const [operand] = node.operands;
      const read = this.#reader(values, operand, node);
      const terms = Array.from({ length: chunk.count }, (_, index) => read(index));
      return scanOf(node, terms).map((value) => this.#computed(node, value));
    }
    const compute = this.#pointwise(node, chunk, values);
    const count = node.level === 'element' ? chunk.count : 1;
    return Array.from({ length: count }, (_, index) => compute(index));
  }

  /** The value of a node at an element of the chunk. */
  #pointwise(
    node: Exclude<KernelNode, { kind: 'fold' | 'scan' }>,
    chunk: Chunk,
    values: NodeValues,
  ): (index: number) => Interval {
    const { first, row } = chunk;
    switch (node.kind) {
      case 'constant':
      case 'parameter': {
        const value = node.kind === 'constant' ? this.#operands.constant(node) : this.#operands.parameter(node.name);
        return () => value;
      }
      case 'input':
        return (index) => this.#operands.element(node.name, node.level === 'row' ? row : first + index);
      case 'index':
      case 'rowIndex':
      case 'extent': {
        const coordinate = coordinateOf(node, this.#geometry);
        return (index) => point(coordinate(node.kind === 'rowIndex' ? row : first + index));
      }
      case 'spread':
        return this.#reader(values, node.operands[0]);
      case 'gather':
        return this.#gather(node, values);
      case 'arithmetic':
        return node.op === 'select' ? this.#select(node, values) : this.#arithmetic(node, values);
    }
  }

  #arithmetic(node: ArithmeticNode, values: NodeValues): (index: number) => Interval {
    const [first, second] = node.operands as [number, number?];
    const { type } = this.#node(first);
    const isSquare = node.op === 'mul' && type === 'f32' && first === second;
    const operation = isSquare ? squareOf : operationOf(node.op, type);
    // The bits of what was read are as they were.
    const takesBits = node.op === 'bitcastI32' || node.op === 'bitcastU32';
    const readers = node.operands.map((operand) => this.#reader(values, operand, takesBits ? undefined : node));
    return (index) => this.#computed(node, operation(readers.map((read) => read(index))));
  }

  #select(node: ArithmeticNode, values: NodeValues): (index: number) => Interval {
    const [condition, a, b] = node.operands.map((operand) => this.#reader(values, operand)) as [Reader, Reader, Reader];
    return (index) => {
      const { lo, hi } = condition(index);
      if (lo === 1) return a(index);
      return hi === 0 ? b(index) : this.#computed(node, hull(a(index), b(index)));
    };
  }

  #gather(node: GatherNode, values: NodeValues): (index: number) => Interval {
    const readers = node.operands.map((operand) => this.#reader(values, operand));
    const [otherwise, ...indices] = readers as [Reader, ...Reader[]];
    const input = this.#operands.gatherInput(node.name);
    return (index) => {
      const value = gathered(
        input,
        indices.map((read) => read(index)),
        otherwise(index),
      );
      return value.copy === undefined ? this.#computed(node, value) : value;
    };
  }

  /** The value of an operand at an element, as `user` sees it where one is given; a coarser one is the same at each. */
  #reader(values: NodeValues, operand: number, user?: KernelNode): Reader {
    const { level, type } = this.#node(operand);
    const known = values[operand] as readonly Interval[];
    const read: Reader = (index) => known[level === 'element' ? index : 0] as Interval;
    if (user === undefined || type !== 'f32') return read;
    const isContracted = this.#isContracted(user, operand);
    return (index) => {
      const value = this.#flush ? flushed(read(index)) : read(index);
      return isContracted ? value : inFloat32(value);
    };
  }

  /** Returns whether a device may add a product without rounding it first, so that it cannot overflow by itself. */
  #isContracted(user: KernelNode, operand: number): boolean {
    const isAdded = (user.kind === 'arithmetic' || user.kind === 'fold' || user.kind === 'scan') && ADDING.has(user.op);
    return isAdded && (this.#products[operand] as boolean);
  }

  #computed({ type }: Pick<KernelNode, 'type'>, value: Interval): Interval {
    return type === 'f32' && this.#flush ? flushed(value) : value;
  }

  #node(index: number): KernelNode {
    return this.#geometry.kernel.nodes[index] as KernelNode;
  }
}

/** Negation in between changes nothing. */
const ADDING: ReadonlySet<string> = new Set(['add', 'sub', 'neg', 'sum', 'mean']);

type Reader = (index: number) => Interval;

function squareOf(operands: readonly Interval[]): Interval {
  return withNan(square, operands);
}

/**
 * Returns a function from a point or row, counted row-major, to its coordinate along the axis of a node, or to the
 * axis's size.
 */
function coordinateOf({ kind, axis }: AxisNode, { shape, folded }: CheckedRun): (at: number) => number {
  const sizes = kind === 'rowIndex' ? shape.slice(0, shape.length - folded) : shape;
  const own = axis < 0 ? axis + sizes.length : axis;
  const size = sizes[own] as number;
  const inner = sizes.slice(own + 1).reduce((product, other) => product * other, 1);
  return kind === 'extent' ? () => size : (at) => Math.floor(at / inner) % size;
}

/** Returns, for each node, the last one that uses it; none for what is stored. */
function lastUsesOf({ kernel: { nodes, outputs } }: CheckedRun): readonly number[] {
  const uses = nodes.map(() => -1);
  for (const [index, node] of nodes.entries()) for (const operand of operandsOf(node)) uses[operand] = index;
  for (const { node, scatter } of outputs)
    for (const kept of [node, ...(scatter?.indices ?? [])]) uses[kept] = Infinity;
  return uses;
}

/** Returns, for each node, whether it is a product, but for its sign, or one of several. */
function productsOf({ kernel: { nodes } }: CheckedRun): readonly boolean[] {
  const products: boolean[] = [];
  for (const node of nodes) {
    const passes =
      node.kind === 'spread' || (node.kind === 'arithmetic' && (node.op === 'neg' || node.op === 'select'));
    const isProduct = node.kind === 'arithmetic' && node.op === 'mul';
    products.push(isProduct || (passes && node.operands.some((operand) => products[operand])));
  }
  return products;
}
