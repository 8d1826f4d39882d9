import { describe } from '../contract/checks.ts';
import { reading } from '../errors/reading.ts';
import { declareKernel } from './declare-kernel.ts';
import { finishKernel } from './finish-kernel.ts';
import type { ConstantNode, InputSpec, Kernel, KernelInput, KernelNode, KernelOutput, OutputSpec } from './graph.ts';
import type { GraphBuilder } from './graph-builder.ts';
import type { NodeValue } from './kernel-symbol.ts';
import { NODE_OPS } from './node-ops.ts';
import { readDocument } from './read-document.ts';
import {
  arithmeticNode,
  axisNode,
  foldNode,
  gatherNode,
  scanNode,
  scatterHandle,
  spreadNode,
} from './symbolic-builder.ts';

/** Greatest bits of a constant of each type; of anything else that a document may say, none. */
const MAX_BITS: Readonly<Record<string, number>> = { f32: 2 ** 32 - 1, i32: 2 ** 32 - 1, u32: 2 ** 32 - 1, bool: 1 };

/**
 * The kernel that `JSON.stringify` wrote, from what `JSON.parse` gives. All of it is checked as `defineKernel` checks.
 *
 * @throws {BackendError} INVALID_ARGUMENT where the value is not a kernel
 */
export function kernelFromJson(value: unknown): Kernel {
  const { name, inputs, params, nodes, outputs, labels } = reading('the kernel', () => readDocument(value));
  const { symbols, ...declared } = declareKernel(
    name,
    Object.fromEntries(inputs.map((input) => [input.name, specOf(input)])),
    Object.fromEntries(params.map((parameter) => [parameter.name, parameter.type])),
    Object.fromEntries(outputs.flatMap((output) => outputSpecOf(output))),
  );
  const { graph } = declared;
  const values = replay(graph, symbols, nodes, labels);
  for (const [index, node] of nodes.entries()) checkClaim(graph, `node ${index}`, values[index] as NodeValue, node);
  const results = Object.fromEntries(
    outputs.map((output) => {
      const value = operand(graph, values, output.node);
      const indices = output.scatter?.indices.map((index) => operand(graph, values, index));
      const result = indices === undefined ? value : scatterHandle(graph, value, indices);
      checkClaim(graph, `output ${output.name}`, { type: value.type, level: result.level }, output);
      return [output.name, result];
    }),
  );
  return finishKernel(name, declared, results);
}

/**
 * Adds a kernel's nodes to another graph.
 *
 * @param symbols - what stands for each input and parameter
 * @returns the value of each node
 * @throws {BackendError} INVALID_ARGUMENT where the nodes are no sound graph
 */
export function replay(
  graph: GraphBuilder,
  symbols: Readonly<Record<string, unknown>>,
  nodes: readonly KernelNode[],
  labels: Readonly<Record<number, string>>,
): NodeValue[] {
  const values: NodeValue[] = [];
  for (const [index, node] of nodes.entries()) {
    const added = replayNode(graph, symbols, node, values);
    if (typeof labels[index] === 'string') graph.labels.set(added.node, labels[index]);
    values.push(added);
  }
  return values;
}

/** The value of one node of a graph that is made anew. */
export function replayNode(
  graph: GraphBuilder,
  symbols: Readonly<Record<string, unknown>>,
  node: KernelNode,
  values: readonly NodeValue[],
): NodeValue {
  const operands = 'operands' in node ? node.operands.map((at) => operand(graph, values, at)) : [];
  switch (node.kind) {
    case 'constant':
      return constantNode(graph, node);
    case 'parameter':
    case 'input':
      return graph.value(node.name, symbols[node.name]);
    case 'index':
    case 'rowIndex':
    case 'extent':
      return axisNode(graph, node.kind, node.axis);
    case 'gather':
      return gatherNode(graph, symbols[node.name], operands.slice(1), operands[0]);
    case 'arithmetic':
      if (!Object.hasOwn(NODE_OPS, node.op)) throw graph.invalid(`there is no operation ${describe(node.op)}`);
      return arithmeticNode(graph, node.op, operands);
    case 'fold':
      return foldNode(graph, node.op, operands[0]);
    case 'scan':
      return scanNode(graph, node.op, operands[0], { exclusive: node.exclusive, reverse: node.reverse });
    case 'spread':
      return spreadNode(graph, operands[0]);
    default:
      throw graph.invalid(`there is no node of kind ${describe((node as { kind: unknown }).kind)}`);
  }
}

/** The document's statement about a value must be the one that follows from its operands. */
function checkClaim(
  graph: GraphBuilder,
  what: string,
  { type, level }: Pick<NodeValue, 'type' | 'level'>,
  claimed: { readonly type: unknown; readonly level: unknown },
): void {
  if (type === claimed.type && level === claimed.level) return;
  const shown = `${describe(claimed.type)} of level ${describe(claimed.level)}`;
  throw graph.invalid(`${what} is ${type} of level ${level}, not ${shown}`);
}

/** A constant by its bits: as a number, NaN would lose its own and -0 its sign. */
function constantNode(graph: GraphBuilder, { type, bits }: ConstantNode): NodeValue {
  const last = Object.hasOwn(MAX_BITS, type) ? MAX_BITS[type] : undefined;
  if (last === undefined) throw graph.invalid(`a constant must be f32, i32, u32 or bool, got ${describe(type)}`);
  if (!Number.isInteger(bits) || bits < 0 || bits > last) {
    throw graph.invalid(`the bits of a constant ${type} must be an integer from 0 to ${last}, got ${describe(bits)}`);
  }
  return graph.add({ kind: 'constant', type, level: 'call', bits });
}

function operand(graph: GraphBuilder, values: readonly NodeValue[], at: number): NodeValue {
  const value = Number.isInteger(at) ? values[at] : undefined;
  if (value === undefined) throw graph.invalid(`operand ${describe(at)} is not a node before its user`);
  return value;
}

function outputSpecOf({ name, type, scatter }: KernelOutput): [string, OutputSpec][] {
  if (scatter === undefined) return [];
  const { mode, indices } = scatter;
  return [[name, { type, access: 'scatter', rank: indices.length as 1, mode }]];
}

function specOf({ type, access, rank }: KernelInput): InputSpec {
  if (access === 'element') return type;
  return access === 'row' ? { type, level: 'row' } : { type, access, rank: rank as 1 };
}
