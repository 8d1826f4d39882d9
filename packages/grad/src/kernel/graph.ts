import {
  FOLD_OPS,
  type FoldOp,
  type KernelNode,
  type Level,
  NODE_OPS,
  type NodeOp,
  type ScanNode,
  type ScanOp,
  type ValueType,
} from '@concord/backend-core/kernel';

/** A node, by its place in {@link Graph.nodes}. */
export type Ref = number;

const LEVELS: readonly Level[] = ['call', 'row', 'element'];
const bits = new DataView(new ArrayBuffer(4));

/** Returns whether a level is finer than another. */
export function isFiner(a: Level, b: Level): boolean {
  return LEVELS.indexOf(a) > LEVELS.indexOf(b);
}

/** Nodes of kernels without their limits, which are for the parts that are made of them: equal ones are one. */
export class Graph {
  readonly nodes: KernelNode[] = [];
  readonly #known = new Map<string, Ref>();

  at(ref: Ref): KernelNode {
    return this.nodes[ref] as KernelNode;
  }

  add(node: KernelNode): Ref {
    const text = JSON.stringify(node, Object.keys(node).sort());
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    this.#known.set(text, this.nodes.length);
    return this.nodes.push(node) - 1;
  }

  f32(value: number): Ref {
    bits.setFloat32(0, value);
    return this.add({ kind: 'constant', type: 'f32', level: 'call', bits: bits.getUint32(0) });
  }

  constant(type: ValueType, value: number): Ref {
    return this.add({ kind: 'constant', type, level: 'call', bits: value });
  }

  input(name: string, type: ValueType, level: Level): Ref {
    return this.add({ kind: 'input', type, level, name });
  }

  op(op: NodeOp, ...operands: readonly Ref[]): Ref {
    const [a, b] = operands as [Ref, Ref];
    if (op === 'mul' && this.#isOne(a)) return b;
    if (op === 'mul' && this.#isOne(b)) return a;
    const { result } = NODE_OPS[op];
    const type = result === 'same' ? this.at(operands.at(-1) as Ref).type : result;
    return this.add({ kind: 'arithmetic', op, type, level: this.finest(operands), operands });
  }

  /** True for equal floats, and for two that are not a number. */
  same(x: Ref, y: Ref): Ref {
    return this.op('or', this.op('eq', x, y), this.op('and', this.op('isNan', x), this.op('isNan', y)));
  }

  fold(op: FoldOp, x: Ref): Ref {
    const { result } = FOLD_OPS[op];
    const type = result === 'same' ? this.at(x).type : result;
    return this.add({ kind: 'fold', op, type, level: 'row', operands: [x] });
  }

  scan(op: ScanOp, x: Ref, { exclusive, reverse }: Pick<ScanNode, 'exclusive' | 'reverse'>): Ref {
    const { type } = this.at(x);
    return this.add({ kind: 'scan', op, type, level: 'element', operands: [this.spread(x)], exclusive, reverse });
  }

  spread(x: Ref): Ref {
    const { type, level } = this.at(x);
    return level === 'element' ? x : this.add({ kind: 'spread', type, level: 'element', operands: [x] });
  }

  gather(name: string, indices: readonly Ref[], otherwise: Ref): Ref {
    const operands = [otherwise, ...indices];
    return this.add({ kind: 'gather', type: this.at(otherwise).type, level: this.finest(operands), name, operands });
  }

  finest(refs: readonly Ref[]): Level {
    return LEVELS[Math.max(0, ...refs.map((ref) => LEVELS.indexOf(this.at(ref).level)))] as Level;
  }

  #isOne(ref: Ref): boolean {
    const node = this.at(ref);
    return node.kind === 'constant' && node.type === 'f32' && node.bits === 0x3f80_0000;
  }
}
