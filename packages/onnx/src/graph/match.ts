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

  /** The node that gives a value, if it is of one of these operators, which are of ONNX's own or have their domain's name. */
  giver(name: string | undefined, ...ops: readonly string[]): Node | undefined {
    const node = name === undefined ? undefined : this.#givers.get(name);
    return node && ops.includes(node.domain === '' ? node.op : `${node.domain}.${node.op}`) ? node : undefined;
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

  /** The other one of a node's two operands. */
  other({ inputs: [a, b] }: Node, name: string | undefined): string | undefined {
    return a === name ? b : b === name ? a : undefined;
  }
}

/** What matched: nodes, and the names of values by the keys of a pattern. */
export interface Found {
  readonly nodes: readonly Node[];
  readonly names: Readonly<Record<string, string>>;
}

/** Says whether a value is computed in a way, from the values found before, and with what is found then. */
export type Pattern = (uses: Uses, name: string | undefined, found: Found) => Found | undefined;

/** Any value, the same one wherever the key is. */
export function value(key: string): Pattern {
  return (_, name, found) => {
    if (name === undefined || (found.names[key] ?? name) !== name) return undefined;
    return { ...found, names: { ...found.names, [key]: name } };
  };
}

/** A constant number, of any value where that is a key; else the same up to float32. */
export function number(wanted: number | string): Pattern {
  return (uses, name, found) => {
    const given = uses.number(name);
    if (given === undefined) return undefined;
    if (typeof wanted === 'string') return value(wanted)(uses, name, found);
    return Math.abs(given - wanted) <= 1e-5 * Math.abs(wanted) ? found : undefined;
  };
}

/** The first of several patterns that matches. */
export function either(...patterns: readonly Pattern[]): Pattern {
  return (uses, name, found) => {
    for (const pattern of patterns) {
      const more = pattern(uses, name, found);
      if (more !== undefined) return more;
    }
    return undefined;
  };
}

/** The result of an operator on inputs, of sums and products in any order. */
export function result(
  op: string,
  inputs: readonly Pattern[],
  fits: (node: Node, uses: Uses) => boolean = ({ inputs: given }) => given.length === inputs.length,
): Pattern {
  return (uses, name, found) => {
    const node = uses.giver(name, op);
    if (node === undefined || !fits(node, uses)) return undefined;
    const start: Found | undefined = { ...found, nodes: [...found.nodes, node] };
    const inOrder = (names: readonly string[]): Found | undefined =>
      inputs.reduce<Found | undefined>((more, pattern, i) => more && pattern(uses, names[i], more), start);
    return inOrder(node.inputs) ?? (op === 'Add' || op === 'Mul' ? inOrder([...node.inputs].reverse()) : undefined);
  };
}

/** What a node matches, where nothing else reads what is computed on the way. */
export function match(node: Node, pattern: Pattern, uses: Uses): Found | undefined {
  const found = pattern(uses, node.outputs[0], { nodes: [], names: {} });
  const isInside = (each: Node): boolean => {
    const readers = uses.readers(each);
    return readers.length > 0 && readers.every((reader) => found?.nodes.includes(reader));
  };
  return found?.nodes.every((each) => each === node || isInside(each)) === true ? found : undefined;
}
