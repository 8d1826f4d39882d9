import type { ElementType, HostTensor } from './host-tensor.ts';

/** The value of an attribute; integers are bigints. */
export type Attribute =
  | number
  | bigint
  | string
  | HostTensor
  | Graph
  | readonly number[]
  | readonly bigint[]
  | readonly string[];

/** An operator of a graph, and which values it reads and gives; `''` is none. */
export interface Node {
  readonly name: string;
  readonly op: string;
  /** `''` for ONNX's own. */
  readonly domain: string;
  /** The version of the domain's operator set. */
  readonly version: number;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, Attribute>;
}

/** A model's description of an input or output; a size that is free has a name, or null. */
export interface ValueInfo {
  readonly name: string;
  readonly type: ElementType;
  readonly dims?: readonly (number | string | null)[] | undefined;
}

/** Nodes in an order in which they can run. */
export interface Graph {
  readonly nodes: readonly Node[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly constants: ReadonlyMap<string, HostTensor>;
}

/** A model that was read. */
export interface Model {
  readonly graph: Graph;
  readonly producer: string;
  readonly metadata: ReadonlyMap<string, string>;
}

/** The graphs in the attributes of a node. */
export function graphsOf({ attributes }: Node): Graph[] {
  return [...attributes.values()].filter(
    (value): value is Graph => typeof value === 'object' && !Array.isArray(value) && 'nodes' in value,
  );
}

/** The names that a node reads, those that the graphs in it read from outside among them. */
export function readsOf(node: Node): string[] {
  const inner = graphsOf(node).flatMap((graph) => {
    const own = new Set([...graph.inputs.map(({ name }) => name), ...graph.constants.keys()]);
    for (const each of graph.nodes) for (const name of each.outputs) own.add(name);
    return [...graph.nodes.flatMap(readsOf), ...graph.outputs.map(({ name }) => name)].filter((name) => !own.has(name));
  });
  return [...node.inputs, ...inner].filter((name) => name !== '');
}
