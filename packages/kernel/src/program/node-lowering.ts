import {
  type ArithmeticNode,
  type AxisNode,
  type FoldNode,
  type GatherNode,
  type InputNode,
  type Kernel,
  type KernelNode,
  type Level,
  type NodeOp,
  operandsOf,
  type ParameterNode,
  type ScanNode,
  type ValueType,
} from '@concord/backend-core/kernel';
import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { arithmeticNode } from '../functions/arithmetic-node.ts';
import { phasesOf } from '../schedule/phases.ts';
import { missingNodes } from './form.ts';

/** The values of nodes that a backend makes itself, each with the node's number. */
export interface Leaves<V> {
  parameter(node: ParameterNode, index: number): V;
  input(node: InputNode, index: number): V;
  axis(node: AxisNode, index: number): V;
  /** Reads a gather input; `outside` is the value for indices outside of it. */
  gather(node: GatherNode, index: number, outside: V, indices: readonly V[]): V;
  /** The finished result of a fold, or that of a scan at this element. */
  fold(node: FoldNode | ScanNode, index: number): V;
  /** Computes an arithmetic node whose operands are known; default: as {@link arithmeticNode} does. */
  arithmetic?(node: ArithmeticNode, index: number, types: readonly ValueType[]): V;
}

/** Whose float32 results may be regrouped with a sum that they feed. */
const SUMMANDS: ReadonlySet<NodeOp> = new Set(['add', 'sub', 'mul']);
/** Operations on float32 that do not look at bits: sums and products, and copies. */
const PLAIN: ReadonlySet<NodeOp> = new Set(['add', 'sub', 'mul', 'neg', 'abs', 'select']);
/** Operations whose result a compiler knows nothing of that it could hold against NaN. */
const EXACT: ReadonlySet<NodeOp> = new Set(['neg', 'abs', 'select', 'bitcastF32']);
/** Operations through which a sum or product can be seen. */
const TRANSPARENT: ReadonlySet<NodeOp> = new Set(['neg', 'abs', 'select']);

/**
 * Computes the nodes of a graph on an {@link Arithmetic}, each once, when it is asked for. It hides from compilers that
 * regroup, and that take NaN and infinity for impossible, what they must not see: a result of add, sub or mul that feeds
 * another add or sub, what was computed and is now told by its bits, and one side of an operation of a value and itself.
 *
 * What is known in one scope is known in those inside it, not the other way round: code of a loop's body makes its own
 * lowering, with that around the loop as `outer`.
 */
export class NodeLowering<V> {
  readonly #a: Arithmetic<V>;
  readonly #kernel: Kernel;
  readonly #nodes: readonly KernelNode[];
  readonly #leaves: Leaves<V>;
  readonly #outer: NodeLowering<V> | undefined;
  readonly #values: Map<number, V> = new Map();
  readonly #hidden: Map<number, V> = new Map();

  /** @param outer - whose values may be used, those of an enclosing scope */
  constructor(a: Arithmetic<V>, kernel: Kernel, leaves: Leaves<V>, outer?: NodeLowering<V>) {
    this.#a = a;
    this.#kernel = kernel;
    this.#nodes = kernel.nodes;
    this.#leaves = leaves;
    this.#outer = outer;
  }

  /** The value of a node. */
  value(index: number): V {
    const known = this.#known(index);
    if (known !== undefined) return known;
    const missing = missingNodes(this.#kernel, [index], (node) => this.#known(node) !== undefined);
    for (const each of missing) this.#values.set(each, this.#compute(each));
    return this.#values.get(index) as V;
  }

  /** Computes what belongs to some levels and needs no more than so many folds one after the other, for scopes inside. */
  hoist(levels: readonly Level[], depth: number = Infinity): void {
    const { depths } = phasesOf(this.#kernel);
    for (const [index, { level, kind }] of this.#nodes.entries()) {
      if (kind !== 'fold' && levels.includes(level) && (depths[index] as number) <= depth) this.value(index);
    }
  }

  /** The value of the operand of a fold or scan, as that may take it. */
  folded(node: FoldNode | ScanNode): V {
    const [operand] = node.operands;
    if (this.#nodes[operand]?.type !== 'f32') return this.value(operand);
    return node.op === 'sum' ? this.#summand(operand) : this.#ofBits(operand);
  }

  #known(index: number): V | undefined {
    const value = this.#values.get(index);
    return value === undefined && this.#outer !== undefined ? this.#outer.#known(index) : value;
  }

  #compute(index: number): V {
    const node = this.#nodes[index] as KernelNode;
    switch (node.kind) {
      case 'constant':
        return this.#a.constant(node.type, node.bits);
      case 'parameter':
        return this.#leaves.parameter(node, index);
      case 'input':
        return this.#leaves.input(node, index);
      case 'index':
      case 'rowIndex':
      case 'extent':
        return this.#leaves.axis(node, index);
      case 'spread':
        return this.value(node.operands[0]);
      case 'fold':
      case 'scan':
        return this.#leaves.fold(node, index);
      case 'gather': {
        const [outside, ...indices] = node.operands.map((operand) => this.value(operand));
        return this.#leaves.gather(node, index, outside as V, indices);
      }
      case 'arithmetic':
        return this.#arithmetic(node, index);
    }
  }

  #arithmetic(node: ArithmeticNode, index: number): V {
    const types = node.operands.map((operand) => (this.#nodes[operand] as KernelNode).type);
    if (this.#leaves.arithmetic !== undefined) return this.#leaves.arithmetic(node, index, types);
    const operands = node.operands.map((operand, place) => this.#operand(node.op, operand, types[place] === 'f32'));
    const [first, second] = node.operands;
    if (node.operands.length === 2 && types[0] === 'f32' && first === second) {
      operands[1] = this.#a.opaque(operands[1] as V);
    }
    return arithmeticNode(this.#a, node, types, operands);
  }

  #operand(op: NodeOp, operand: number, isFloat: boolean): V {
    if (!isFloat) return this.value(operand);
    if (op === 'add' || op === 'sub') return this.#summand(operand);
    return PLAIN.has(op) ? this.value(operand) : this.#ofBits(operand);
  }

  /** A value whose bits are going to be looked at. */
  #ofBits(operand: number): V {
    return this.#has(operand, isComputed) ? this.#opaque(operand) : this.value(operand);
  }

  /** A value that is going to be added. */
  #summand(operand: number): V {
    return this.#has(operand, isSummand) ? this.#opaque(operand) : this.value(operand);
  }

  #opaque(operand: number): V {
    const known = this.#knownHidden(operand);
    if (known !== undefined) return known;
    const hidden = this.#a.opaque(this.value(operand));
    this.#hidden.set(operand, hidden);
    return hidden;
  }

  #knownHidden(operand: number): V | undefined {
    const value = this.#hidden.get(operand);
    return value === undefined && this.#outer !== undefined ? this.#outer.#knownHidden(operand) : value;
  }

  /** Returns whether a node is of a kind, or one that can be seen through spreads, signs and selects. */
  #has(index: number, isOfKind: (node: KernelNode) => boolean): boolean {
    const stack = [index];
    const seen = new Set<number>();
    while (stack.length > 0) {
      const at = stack.pop() as number;
      if (seen.has(at)) continue;
      seen.add(at);
      const node = this.#nodes[at] as KernelNode;
      if (isOfKind(node)) return true;
      if (node.kind === 'spread' || (node.kind === 'arithmetic' && TRANSPARENT.has(node.op))) {
        stack.push(...operandsOf(node));
      }
    }
    return false;
  }
}

function isComputed(node: KernelNode): boolean {
  return node.type === 'f32' && (isFolded(node) || (node.kind === 'arithmetic' && !EXACT.has(node.op)));
}

function isSummand(node: KernelNode): boolean {
  if (node.type !== 'f32') return false;
  return isFolded(node) || (node.kind === 'arithmetic' && SUMMANDS.has(node.op));
}

function isFolded({ kind }: KernelNode): boolean {
  return kind === 'fold' || kind === 'scan';
}
