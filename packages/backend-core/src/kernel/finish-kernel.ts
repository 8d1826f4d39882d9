import { describe } from '../contract/checks.ts';
import { deepFreeze } from '../contract/deep-freeze.ts';
import type { DeclaredKernel } from './declare-kernel.ts';
import type { Kernel, KernelInput, KernelNode, KernelOutput, OutputSpec, ScanNode } from './graph.ts';
import { type GraphBuilder, nodeText } from './graph-builder.ts';
import { noteKernel } from './known-kernels.ts';

/** A WebGPU device that was asked for nothing binds 8 buffers; a kernel with rows needs one of them as scratch. */
export const MAX_OPERANDS = 8;
export const MAX_PARAMETERS = 16;
export const MAX_NODES = 256;

const UNUSED_HINT =
  'only the functions of k compute: JavaScript takes c ? a : b, a === b and a && b of the objects, so write k.select(c, a, b), k.eq(a, b), k.and(a, b)';

/**
 * Keeps the nodes that the outputs need, in the order in which they need them, so that equal computations are equal
 * data.
 */
export function finishKernel(
  name: string,
  { graph, inputs, params, outputs: scattered }: Omit<DeclaredKernel, 'symbols'>,
  outputs: unknown,
): Kernel {
  if (typeof outputs !== 'object' || outputs === null || Object.keys(outputs).length === 0) {
    throw graph.invalid(`the function must return its outputs by name, got ${describe(outputs)}`);
  }
  const order = new Map<number, number>();
  for (const output of Object.keys(scattered)) {
    if (!Object.hasOwn(outputs, output)) throw graph.invalid(`output ${output} is declared but not returned`);
  }
  const kept = Object.entries(outputs).map(([output, value]) => {
    graph.checkName(output);
    const spec = Object.hasOwn(scattered, output) ? scattered[output] : undefined;
    const { type, level, node, ...place } =
      spec === undefined ? graph.value(`output ${output}`, value) : placed(graph, output, spec, value);
    if (type === 'bool') throw graph.invalid(`output ${output} is a bool, which cannot be stored`);
    if (level === 'call') throw graph.invalid(`output ${output} is one value a call; k.spread makes it one an element`);
    checkInPlace(graph, inputs, output, spec === undefined && level === 'element' ? type : undefined);
    visit(graph, node, order);
    const { scatter } = place as Pick<KernelOutput, 'scatter'>;
    for (const index of scatter?.indices ?? []) visit(graph, index, order);
    return { name: output, type, level, node, ...(scatter === undefined ? {} : { scatter }) };
  });
  const nodes = [...order.keys()].map((node) => renumbered(graph.nodes[node] as KernelNode, order));
  checkUsed(graph, nodes, [...inputs, ...params]);
  checkScans(graph, nodes);

  const numberOf = (node: number): number => order.get(node) as number;
  const final = kept.map(({ scatter, ...output }): KernelOutput => {
    const own = { ...output, node: numberOf(output.node) };
    return scatter === undefined ? own : { ...own, scatter: { ...scatter, indices: scatter.indices.map(numberOf) } };
  });
  const hasRows =
    nodes.some(({ level, kind }) => level === 'row' || kind === 'scan') ||
    inputs.some(({ access }) => access === 'row') ||
    final.some(({ level }) => level === 'row');
  const { size } = new Set([...inputs, ...final].map((operand) => operand.name));
  checkLimits(graph, [size, MAX_OPERANDS - (hasRows ? 1 : 0)], params.length, nodes.length);
  const labels = [...graph.labels].flatMap(([node, label]) => {
    const index = order.get(node);
    return index === undefined ? [] : [[index, label]];
  });
  const text = nodes.map(nodeText).join();
  const kernel = deepFreeze({
    name,
    key: JSON.stringify([inputs, params, final]) + text,
    inputs,
    params,
    outputs: final,
    nodes,
    hasRows,
    labels: Object.fromEntries(labels),
  });
  noteKernel(kernel, kernel);
  return kernel;
}

/** An output with the name of an input takes its place, element by element. */
function checkInPlace(
  graph: GraphBuilder,
  inputs: readonly KernelInput[],
  output: string,
  type: KernelOutput['type'] | undefined,
): void {
  const input = inputs.find(({ name }) => name === output);
  if (input === undefined || (input.access === 'element' && input.type === type)) return;
  throw graph.invalid(`${output} is an input and an output, which must be elements of one type then`);
}

/** The value and place of an output that is written by index. */
function placed(graph: GraphBuilder, output: string, { type, rank, mode }: OutputSpec, value: unknown) {
  const { scattered, level, node, indices } = graph.scattered(output, value);
  if (scattered !== type) throw graph.invalid(`output ${output} is declared as ${type}, its scatter is ${scattered}`);
  if (indices.length !== rank) {
    throw graph.invalid(`output ${output} is declared with rank ${rank}, its scatter has ${indices.length} indices`);
  }
  return { type, level, node, scatter: { mode, indices } };
}

/** Operands before what uses them; without recursion, which a chain of 10,000 nodes would exhaust. */
function visit(graph: GraphBuilder, root: number, order: Map<number, number>): void {
  const stack = [root];
  while (stack.length > 0) {
    const node = stack.at(-1) as number;
    const missing = operandsOf(graph.nodes[node] as KernelNode).find((operand) => !order.has(operand));
    if (missing !== undefined) {
      stack.push(missing);
      continue;
    }
    stack.pop();
    if (!order.has(node)) order.set(node, order.size);
  }
}

/** The operands of a node; none of a leaf. */
export function operandsOf(node: KernelNode): readonly number[] {
  return 'operands' in node ? node.operands : [];
}

function renumbered(node: KernelNode, order: ReadonlyMap<number, number>): KernelNode {
  if (!('operands' in node)) return node;
  return { ...node, operands: node.operands.map((operand) => order.get(operand) as number) } as KernelNode;
}

function checkLimits(
  graph: GraphBuilder,
  operands: readonly [count: number, limit: number],
  parameters: number,
  nodes: number,
): void {
  const limits = [
    [...operands, 'inputs and outputs'],
    [parameters, MAX_PARAMETERS, 'parameters'],
    [nodes, MAX_NODES, 'nodes'],
  ] as const;
  for (const [count, limit, what] of limits) {
    if (count > limit) throw graph.invalid(`${count} ${what} exceed the limit of ${limit}`);
  }
}

/** Scans are computed as a row is stored, in one walk along it: nothing can be folded after them. */
function checkScans(graph: GraphBuilder, nodes: readonly KernelNode[]): void {
  const scanned: boolean[] = [];
  let first: ScanNode | undefined;
  for (const node of nodes) {
    const isAfter = operandsOf(node).some((operand) => scanned[operand]);
    if (isAfter && (node.kind === 'scan' || node.kind === 'fold')) {
      throw graph.invalid(`${node.kind} ${node.op} takes nothing that depends on a scan: use two kernels`);
    }
    if (node.kind === 'scan' && (first ??= node).reverse !== node.reverse) {
      throw graph.invalid('scans of both directions take two kernels');
    }
    scanned.push(isAfter || node.kind === 'scan');
  }
}

function checkUsed(graph: GraphBuilder, nodes: readonly KernelNode[], declared: readonly { name: string }[]): void {
  const used = new Set(nodes.map((node) => ('name' in node ? node.name : undefined)));
  for (const { name } of declared) {
    if (!used.has(name)) throw graph.invalid(`${name} is declared but no output depends on it`, { hint: UNUSED_HINT });
  }
}
