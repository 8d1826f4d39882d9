import type { Graph, Node } from './graph.ts';
import { type HostTensor, numbersOf, sizeOf } from './host-tensor.ts';

/** Who gives and who reads the values of a graph. */
export class Uses {
  readonly #graph: Graph;
  readonly #givers = new Map<string, Node>();
  readonly #readers = new Map<string, Node[]>();
  readonly #kept: ReadonlySet<string>;

  /** @param reads - all that a node reads, in the graphs within it too */
  constructor(graph: Graph, reads: (node: Node) => readonly string[]) {
    this.#graph = graph;
    this.#kept = new Set(graph.outputs.map(({ name }) => name));
    for (const node of graph.nodes) {
      for (const name of node.outputs) this.#givers.set(name, node);
      for (const name of reads(node)) this.#readers.set(name, [...(this.#readers.get(name) ?? []), node]);
    }
  }

  /** The node that gives a value, if it is of one of these operators of ONNX's own. */
  giver(name: string | undefined, ...ops: readonly string[]): Node | undefined {
    const node = name === undefined ? undefined : this.#givers.get(name);
    return node?.domain === '' && ops.includes(node.op) ? node : undefined;
  }

  /** The only reader of a node's only output, if there is one, of one of these operators. */
  next(node: Node | undefined, ...ops: readonly string[]): Node | undefined {
    const readers = this.readers(node);
    const [reader] = readers;
    return readers.length === 1 && reader?.domain === '' && ops.includes(reader.op) ? reader : undefined;
  }

  /** The readers of a node's first output, none where it is one of the graph's. */
  readers(node: Node | undefined): readonly Node[] {
    const [name] = node?.outputs ?? [];
    return name === undefined || this.#kept.has(name) ? [] : (this.#readers.get(name) ?? []);
  }

  /** The nodes that read a value, one of the graph's outputs or not. */
  readersOf(name: string): readonly Node[] {
    return this.#readers.get(name) ?? [];
  }

  constant(name: string | undefined): HostTensor | undefined {
    return name === undefined ? undefined : this.#graph.constants.get(name);
  }

  /** The number of a constant of one element, whose shape makes no result's larger. */
  number(name: string | undefined): number | undefined {
    const constant = this.constant(name);
    return constant === undefined ||
      constant.type === 'string' ||
      sizeOf(constant.dims) !== 1 ||
      constant.dims.length > 1
      ? undefined
      : numbersOf(constant)[0];
  }

  /** Returns a constant number among the two operands of a node, and the name of the other one. */
  withNumber({ inputs: [a, b] }: Node): readonly [number, string] | undefined {
    const [x, y] = [this.number(a), this.number(b)];
    return y !== undefined ? [y, a as string] : x !== undefined ? [x, b as string] : undefined;
  }

  /** The other one of a node's two operands. */
  other({ inputs: [a, b] }: Node, name: string | undefined): string | undefined {
    return a === name ? b : b === name ? a : undefined;
  }
}

/** Returns whether two numbers are the same up to float32. */
export function near(a: number | undefined, b: number): boolean {
  return a !== undefined && Math.abs(a - b) <= 1e-5 * Math.abs(b);
}
