import { operatorOf } from '../run/execute.ts';
import { type Graph, type Node, readsOf } from './graph.ts';
import type { HostTensor } from './host-tensor.ts';
import { Uses } from './match.ts';
import type { Pass } from './passes.ts';
import { neededOnHost } from './placement.ts';

/** The maximum number of nodes that become one kernel. */
const MAX_CHAIN = 40;

/** Constants and other values that a chain reads. */
const MAX_READS = 12;

/**
 * Puts operators that work element by element together where a value has one reader, which is such an operator too: they are
 * one node in the place of the last of them. What is computed on the host stays by itself.
 */
export function withChains(graph: Graph): Graph {
  const uses = new Uses(graph, readsOf);
  const hosted = neededOnHost(graph);
  const canJoin = (node: Node): boolean =>
    operatorOf(node)?.element !== undefined &&
    node.outputs.length === 1 &&
    node.inputs.length <= 3 &&
    node.inputs.every((name) => name !== '') &&
    !hosted.has(node.outputs[0] as string) &&
    node.inputs.some((name) => uses.constant(name) === undefined);
  const givers = new Map(graph.nodes.map((node) => [node.outputs[0] as string, node]));
  const chains = new Map<Node, Node[]>();
  for (const node of graph.nodes) {
    if (!canJoin(node)) continue;
    const own = [node];
    for (const name of new Set(node.inputs)) {
      const before = chains.get(givers.get(name) as Node);
      const last = before?.at(-1);
      if (before === undefined || last === undefined || !isOnlyReader(uses, last, node)) continue;
      const joined = [...before, ...own];
      if (joined.length > MAX_CHAIN || readsFrom(joined).length > MAX_READS) continue;
      own.unshift(...before);
      chains.delete(last);
    }
    chains.set(node, own);
  }
  const gone = new Set<Node>();
  const made = new Map<Node, Node>();
  for (const [last, nodes] of chains) {
    if (nodes.length < 2) continue;
    nodes.forEach((node) => gone.add(node));
    made.set(last, chainOf(last, nodes));
  }
  return { ...graph, nodes: graph.nodes.flatMap((node) => made.get(node) ?? (gone.has(node) ? [] : [node])) };
}

const PRODUCTS = ['Conv', 'ConvTranspose', 'Gemm', 'MatMul'];

/**
 * Joins a function that follows a product alone, and depends on nothing else, to the product: it is applied before the
 * result is stored.
 */
export const functions: Pass = (node, uses) => {
  const given = node.inputs.filter((name) => uses.number(name) === undefined);
  const product = given.length === 1 ? uses.giver(given[0], ...PRODUCTS) : undefined;
  if (product === undefined || !isOnlyReader(uses, product, node)) return undefined;
  const chain = node.op === 'Chain' ? (node.attributes.get('chain') as Graph) : elementOf(node);
  if (chain === undefined || product.inputs.length > 3 || product.attributes.has('concord.activation'))
    return undefined;
  const constants = new Map(
    node.inputs.flatMap((name) => (name === given[0] ? [] : [[name, uses.constant(name) as HostTensor] as const])),
  );
  const attributes = new Map([...product.attributes, ['concord.activation', { ...chain, constants }] as const]);
  return { gone: [product, node], node: { ...product, outputs: node.outputs, attributes } };
};

/** A node by itself as a graph of what it does to each element. */
function elementOf(node: Node): Graph | undefined {
  const isElement = operatorOf(node)?.element !== undefined && node.outputs.length === 1 && !node.inputs.includes('');
  return isElement ? (chainOf(node, [node]).attributes.get('chain') as Graph) : undefined;
}

function isOnlyReader(uses: Uses, node: Node, reader: Node): boolean {
  const readers = new Set(uses.readers(node));
  return readers.size === 1 && readers.has(reader);
}

function readsFrom(nodes: readonly Node[]): string[] {
  const own = new Set(nodes.flatMap(({ outputs }) => outputs));
  return [...new Set(nodes.flatMap(({ inputs }) => inputs))].filter((name) => !own.has(name));
}

function chainOf(last: Node, nodes: readonly Node[]): Node {
  const inputs = readsFrom(nodes);
  const value = (name: string): Graph['inputs'][number] => ({ name, type: 'float32' });
  const graph: Graph = { nodes, inputs: inputs.map(value), outputs: last.outputs.map(value), constants: new Map() };
  return { ...last, domain: 'concord', op: 'Chain', inputs, attributes: new Map([['chain', graph]]) };
}
