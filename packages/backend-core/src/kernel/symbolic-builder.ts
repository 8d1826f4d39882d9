import { describe } from '../contract/checks.ts';
import { checkFields } from '../contract/fields.ts';
import type { AxisNode } from './graph.ts';
import { finest, type GraphBuilder } from './graph-builder.ts';
import type { KernelBuilder, ScanOptions } from './kernel-builder.ts';
import { type NodeValue, ScatterHandle } from './kernel-symbol.ts';
import { FOLD_OPS, type FoldOp, NODE_OPS, type NodeOp, SCAN_OPS, type ScanOp } from './node-ops.ts';
import type { ValueType } from './value-types.ts';

const BITCASTS = { f32: 'bitcastF32', i32: 'bitcastI32', u32: 'bitcastU32' } as const;

/** The vocabulary of a kernel in the making, which adds its nodes to `graph`. */
export function symbolicBuilder(graph: GraphBuilder): KernelBuilder {
  const arithmetic = Object.fromEntries(
    (Object.keys(NODE_OPS) as NodeOp[]).map((op) => [
      op,
      (...operands: unknown[]) => arithmeticNode(graph, op, operands),
    ]),
  );
  const max = (a: unknown, b: unknown) => arithmeticNode(graph, 'max', [a, b]);
  const min = (a: unknown, b: unknown) => arithmeticNode(graph, 'min', [a, b]);
  const builder = {
    ...arithmetic,
    f32: (value: unknown) => graph.constant('f32', value),
    i32: (value: unknown) => graph.constant('i32', value),
    u32: (value: unknown) => graph.constant('u32', value),
    bool: (value: unknown) => graph.constant('bool', value),
    index: (axis: unknown) => axisNode(graph, 'index', axis),
    rowIndex: (axis: unknown) => axisNode(graph, 'rowIndex', axis),
    extent: (axis: unknown) => axisNode(graph, 'extent', axis),
    gather: (input: unknown, indices: unknown, otherwise: unknown) => gatherNode(graph, input, indices, otherwise),
    scatter: (value: unknown, indices: unknown) => scatterHandle(graph, value, indices),
    clamp: (x: unknown, low: unknown, high: unknown) => min(max(x, low), high),
    bitcast: (type: keyof typeof BITCASTS, x: unknown) => bitcastNode(graph, type, x),
    random: (...operands: unknown[]) =>
      arithmeticNode(
        graph,
        'random',
        operands.map((operand) => (typeof operand === 'number' ? graph.constant('u32', operand) : operand)),
      ),
    fold: (op: FoldOp, x: unknown) => foldNode(graph, op, x),
    scan: (op: ScanOp, x: unknown, options?: ScanOptions) => scanNode(graph, op, x, options),
    spread: (x: unknown) => spreadNode(graph, x),
    name: (label: unknown, x: unknown) => labelled(graph, label, x),
  };
  return builder as unknown as KernelBuilder;
}

/** A node of an operation, its operands checked. */
export function arithmeticNode(graph: GraphBuilder, op: NodeOp, given: readonly unknown[]): NodeValue {
  const rule = NODE_OPS[op];
  if (given.length !== rule.operands) {
    throw graph.invalid(`${op} takes ${rule.operands} operands, got ${given.length}`);
  }
  const condition = op === 'select' ? [graph.value('the condition of select', given[0])] : [];
  const operands = graph.operands(op, given.slice(condition.length));
  if (condition[0] !== undefined && condition[0].type !== 'bool') {
    throw graph.invalid(`the condition of select must be a bool, got ${condition[0].type}`);
  }
  const type = sameType(graph, op, operands);
  if (!rule.types.includes(type)) throw graph.invalid(`${op} takes ${rule.types.join(' or ')}, got ${type}`);
  const all = [...condition, ...operands];
  return graph.add({
    kind: 'arithmetic',
    op,
    type: rule.result === 'same' ? type : rule.result,
    level: finest(all),
    operands: all.map(({ node }) => node),
  });
}

/** A node of an axis's index or size. */
export function axisNode(graph: GraphBuilder, kind: AxisNode['kind'], axis: unknown): NodeValue {
  if (!Number.isInteger(axis) || (axis as number) < -8 || (axis as number) > 7) {
    throw graph.invalid(`${kind} takes an axis from -8 to 7, got ${describe(axis)}`);
  }
  const level = kind === 'index' ? 'element' : kind === 'rowIndex' ? 'row' : 'call';
  return graph.add({ kind, type: 'u32', level, axis: axis as number });
}

/** A node that reads a gather input, its indices checked. */
export function gatherNode(graph: GraphBuilder, handle: unknown, indices: unknown, otherwise: unknown): NodeValue {
  const { name, type, rank } = graph.gatherInput(handle).input;
  const values = indexValues(graph, `gather of ${name}`, name, indices, rank);
  const outside = typeof otherwise === 'number' ? graph.constant(type, otherwise) : graph.value('otherwise', otherwise);
  if (outside.type !== type) throw graph.invalid(`gather of ${name} is ${type}, otherwise is ${outside.type}`);
  const all = [outside, ...values];
  return graph.add({ kind: 'gather', type, level: finest(all), name, operands: all.map(({ node }) => node) });
}

/** A value with the place where an output stores it, its indices checked. */
export function scatterHandle(graph: GraphBuilder, value: unknown, indices: unknown): ScatterHandle {
  const stored = graph.value('the value of scatter', value);
  const places = indexValues(graph, 'scatter', 'scatter', indices);
  const nodes = Object.freeze(places.map(({ node }) => node));
  return new ScatterHandle(graph, stored, nodes, finest([stored, ...places]));
}

function indexValues(graph: GraphBuilder, what: string, name: string, indices: unknown, rank?: number): NodeValue[] {
  if (!Array.isArray(indices) || indices.length !== (rank ?? indices.length) || indices.length === 0) {
    throw graph.invalid(`${what} takes ${rank ?? '1 to 4'} indices, got ${describe(indices)}`);
  }
  return indices.map((index: unknown) => {
    const value = graph.value(`an index of ${name}`, index);
    if (value.type === 'u32' || value.type === 'i32') return value;
    throw graph.invalid(`an index of ${name} must be a u32 or i32, got ${value.type}`);
  });
}

/** A fold of a value. */
export function foldNode(graph: GraphBuilder, op: FoldOp, x: unknown): NodeValue {
  const rule = typeof op === 'string' && Object.hasOwn(FOLD_OPS, op) ? FOLD_OPS[op] : undefined;
  if (rule === undefined) {
    throw graph.invalid(`fold takes one of ${Object.keys(FOLD_OPS).join(', ')}, got ${describe(op)}`);
  }
  const value = graph.value(`the operand of fold ${op}`, x);
  if (!rule.types.includes(value.type)) {
    throw graph.invalid(`fold ${op} takes ${rule.types.join(' or ')}, got ${value.type}`);
  }
  const type = rule.result === 'same' ? value.type : rule.result;
  return graph.add({ kind: 'fold', op, type, level: 'row', operands: [value.node] });
}

/** A scan of a value. */
export function scanNode(graph: GraphBuilder, op: ScanOp, x: unknown, options: ScanOptions = {}): NodeValue {
  if (!SCAN_OPS.includes(op)) throw graph.invalid(`scan takes one of ${SCAN_OPS.join(', ')}, got ${describe(op)}`);
  if (typeof options !== 'object' || options === null) {
    throw graph.invalid(`the options of scan must be an object, got ${describe(options)}`);
  }
  checkFields('the options of scan', options, ['exclusive', 'reverse']);
  const { exclusive = false, reverse = false } = options;
  for (const option of [exclusive, reverse]) {
    if (typeof option !== 'boolean') throw graph.invalid(`the options of scan are bools, got ${describe(option)}`);
  }
  const value = graph.value(`the operand of scan ${op}`, x);
  if (value.type === 'bool') throw graph.invalid(`scan ${op} takes f32 or i32 or u32, got bool`);
  const operands = [spreadNode(graph, value).node] as const;
  return graph.add({ kind: 'scan', op, type: value.type, level: 'element', operands, exclusive, reverse });
}

/** A value at each element. */
export function spreadNode(graph: GraphBuilder, x: unknown): NodeValue {
  const value = graph.value('the operand of spread', x);
  if (value.level === 'element') return value;
  return graph.add({ kind: 'spread', type: value.type, level: 'element', operands: [value.node] });
}

function bitcastNode(graph: GraphBuilder, type: keyof typeof BITCASTS, x: unknown): NodeValue {
  const op = typeof type === 'string' && Object.hasOwn(BITCASTS, type) ? BITCASTS[type] : undefined;
  if (op === undefined) throw graph.invalid(`bitcast takes f32, i32 or u32, got ${describe(type)}`);
  const value = graph.value('the operand of bitcast', x);
  return value.type === type ? value : arithmeticNode(graph, op, [value]);
}

function labelled(graph: GraphBuilder, label: unknown, x: unknown): NodeValue {
  const text = graph.checkLabel(label);
  const value = graph.value(`what is named ${text}`, x);
  if (!graph.labels.has(value.node)) graph.labels.set(value.node, text);
  return value;
}

function sameType(graph: GraphBuilder, op: string, operands: readonly NodeValue[]): ValueType {
  const [first, ...others] = operands as [NodeValue, ...NodeValue[]];
  const other = others.find(({ type }) => type !== first.type);
  if (other !== undefined) throw graph.invalid(`${op} takes operands of one type, got ${first.type} and ${other.type}`);
  return first.type;
}
