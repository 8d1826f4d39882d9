import type { NibbleDType } from '../contract/element-types.ts';
import { declareKernel } from './declare-kernel.ts';
import { finishKernel } from './finish-kernel.ts';
import type { InputSpec, Kernel, KernelInput, KernelNode, OutputSpec } from './graph.ts';
import type { GraphBuilder } from './graph-builder.ts';
import { replayNode } from './kernel-json.ts';
import type { NodeValue } from './kernel-symbol.ts';
import { arithmeticNode, axisNode, foldNode, gatherNode, scatterHandle, spreadNode } from './symbolic-builder.ts';

/** The place of the elements of a 4-bit input, in halves of bytes. */
export interface NibbleLayout {
  readonly dtype: NibbleDType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** A place beyond every byte. */
const NOWHERE = 0xffff_ffff;

/**
 * The same kernel of inputs whose bytes hold two elements each: it reads the bytes by index, and takes the half.
 *
 * @param layouts - of these inputs, by name
 */
export function withBytes(kernel: Kernel, layouts: ReadonlyMap<string, NibbleLayout>): Kernel {
  const inputs = kernel.inputs.map((input) => [input.name, layouts.has(input.name) ? BYTES : specOf(input)]);
  const scattered = kernel.outputs.flatMap(({ name, type, scatter }): [string, OutputSpec][] => {
    if (scatter === undefined) return [];
    return [[name, { type, access: 'scatter', rank: scatter.indices.length as 1, mode: scatter.mode }]];
  });
  const declared = declareKernel(
    kernel.name,
    Object.fromEntries(inputs) as Record<string, InputSpec>,
    Object.fromEntries(kernel.params.map(({ name, type }) => [name, type])),
    Object.fromEntries(scattered),
  );
  const { graph, symbols } = declared;
  const values: NodeValue[] = [];
  for (const [index, node] of kernel.nodes.entries()) {
    const layout = 'name' in node ? layouts.get(node.name) : undefined;
    const value =
      layout === undefined
        ? replayNode(graph, symbols, node, values)
        : read(graph, symbols[(node as { name: string }).name], layout, node, values);
    const label = kernel.labels[index];
    if (label !== undefined) graph.labels.set(value.node, label);
    values.push(value);
  }
  const at = (node: number): NodeValue => values[node] as NodeValue;
  const outputs = kernel.outputs.map(({ name, node, scatter }) => {
    return [name, scatter === undefined ? at(node) : scatterHandle(graph, at(node), scatter.indices.map(at))];
  });
  return finishKernel(kernel.name, declared, Object.fromEntries(outputs));
}

const BYTES: InputSpec = { type: 'u32', access: 'gather', rank: 1 };

function specOf({ type, access, rank }: KernelInput): InputSpec {
  if (access === 'gather') return { type, access, rank: rank as 1 };
  return access === 'row' ? { type, level: 'row' } : type;
}

/** The element that a node reads. */
function read(
  graph: GraphBuilder,
  bytes: unknown,
  layout: NibbleLayout,
  node: KernelNode,
  values: readonly NodeValue[],
): NodeValue {
  if (node.kind === 'gather') {
    const [otherwise, ...indices] = node.operands.map((operand) => values[operand] as NodeValue);
    const words = indices.map((index) => (index.type === 'u32' ? index : arithmeticNode(graph, 'bitcastU32', [index])));
    const inside = words
      .map((word, axis) => arithmeticNode(graph, 'lt', [word, graph.constant('u32', layout.shape[axis])]))
      .reduce((all, each) => arithmeticNode(graph, 'and', [all, each]));
    return arithmeticNode(graph, 'select', [inside, half(graph, bytes, layout, words, inside), otherwise]);
  }
  const isRow = node.level === 'row';
  const indices = layout.shape.map((_, axis) => axisNode(graph, isRow ? 'rowIndex' : 'index', axis));
  const value = half(graph, bytes, layout, indices);
  if (!isRow) return spreadNode(graph, value);
  // Without axes it is one value a call.
  return value.level === 'row' ? value : foldNode(graph, 'max', spreadNode(graph, value));
}

function half(
  graph: GraphBuilder,
  bytes: unknown,
  { dtype, strides }: NibbleLayout,
  indices: readonly NodeValue[],
  inside?: NodeValue,
): NodeValue {
  const node = (op: Parameters<typeof arithmeticNode>[1], ...operands: (NodeValue | number)[]): NodeValue =>
    arithmeticNode(graph, op, operands);
  const terms = indices.flatMap((index, axis) => {
    const stride = strides[axis] as number;
    return stride === 0 ? [] : [stride === 1 ? index : node('mul', index, stride)];
  });
  const at = terms.length === 0 ? graph.constant('u32', 0) : terms.reduce((sum, term) => node('add', sum, term));
  const place = node('shr', at, 1);
  const byte = gatherNode(graph, bytes, [inside === undefined ? place : node('select', inside, place, NOWHERE)], 0);
  const bits = node('and', node('shr', byte, node('mul', node('and', at, 1), 4)), 15);
  return dtype === 'u4' ? bits : node('sub', node('toI32', node('xor', bits, 8)), 8);
}
