import { operatorOf } from '../run/execute.ts';
import { type Graph, graphsOf, type Node, readsOf } from './graph.ts';
import { arrayOf, type HostTensor, int64s, isFloat, sizeOf } from './host-tensor.ts';
import { functions, withChains } from './chains.ts';
import { either, match, number, type Pattern, result, Uses, value } from './match.ts';

/** A change of nodes: one in the place of the last of them, or several in that of the first, the rest gone. */
interface Rewrite {
  readonly gone: readonly Node[];
  readonly node: Node | readonly Node[];
  readonly constants?: ReadonlyMap<string, HostTensor>;
}

/** Looks at one node and its neighbours. */
export type Pass = (node: Node, uses: Uses) => Rewrite | undefined;

/** A graph in which a pass did what it could, as often as it could. */
function apply(graph: Graph, pass: Pass): Graph {
  let current = graph;
  for (;;) {
    const uses = new Uses(current, readsOf);
    const places = new Map(current.nodes.map((node, place) => [node, place]));
    const gone = new Set<Node>();
    const made = new Map<number, Rewrite['node']>();
    const constants = new Map(current.constants);
    for (const node of current.nodes) {
      const rewrite = pass(node, uses);
      // What meets another one is done in the next round.
      if (rewrite === undefined || rewrite.gone.some((each) => gone.has(each))) continue;
      for (const each of rewrite.gone) gone.add(each);
      for (const [name, value] of rewrite.constants ?? []) constants.set(name, value);
      const at = rewrite.gone.map((each) => places.get(each) as number);
      made.set(Array.isArray(rewrite.node) ? Math.min(...at) : Math.max(...at), rewrite.node);
    }
    if (made.size === 0) return current;
    const nodes = current.nodes.flatMap((node, place) => made.get(place) ?? (gone.has(node) ? [] : [node]));
    current = { ...current, nodes, constants };
  }
}

function withAttribute(node: Node, name: string, value: string | number | bigint, outputs: readonly string[]): Node {
  return { ...node, outputs, attributes: new Map([...node.attributes, [name, value]]) };
}

const ACTIVATIONS: Readonly<Record<string, string>> = { Relu: 'relu', Sigmoid: 'sigmoid', Tanh: 'tanh', Gelu: 'gelu' };

/** A product's activation, or that of a norm, is applied before it is stored. */
const activation: Pass = (node, uses) => {
  if (!['Conv', 'ConvTranspose', 'Gemm', 'MatMul'].includes(node.op) || node.domain !== '') return undefined;
  if (node.attributes.has('concord.activation')) return undefined;
  const next = uses.next(node, ...Object.keys(ACTIVATIONS));
  if (next !== undefined) {
    const isTanh = next.op === 'Gelu' && next.attributes.get('approximate') === 'tanh';
    const name = isTanh ? 'geluTanh' : (ACTIVATIONS[next.op] as string);
    return { gone: [node, next], node: withAttribute(node, 'concord.activation', name, next.outputs) };
  }
  // x sigmoid(x)
  const readers = uses.readers(node);
  const [sigmoid] = readers.filter(({ op, domain }) => op === 'Sigmoid' && domain === '');
  const product = uses.next(sigmoid, 'Mul');
  if (readers.length !== 2 || sigmoid === undefined || product === undefined || !readers.includes(product))
    return undefined;
  if (uses.other(product, sigmoid.outputs[0]) !== node.outputs[0]) return undefined;
  return { gone: [node, sigmoid, product], node: withAttribute(node, 'concord.activation', 'silu', product.outputs) };
};

/** Makes what is added to each row of a product with a constant matrix its bias. */
const bias: Pass = (node, uses) => {
  if (node.op !== 'MatMul' || node.domain !== '' || node.inputs.length > 2) return undefined;
  const add = uses.next(node, 'Add');
  const matrix = uses.constant(node.inputs[1]);
  const row = add && uses.other(add, node.outputs[0]);
  const given = uses.constant(row);
  if (add === undefined || matrix?.dims.length !== 2 || given?.dims.length !== 1 || given.type !== matrix.type)
    return undefined;
  if (given.dims[0] !== matrix.dims[1]) return undefined;
  return { gone: [node, add], node: { ...node, inputs: [...node.inputs, row as string], outputs: add.outputs } };
};

/**
 * Makes what is added to a product at the end, of its shape or not, its fourth operand, unless a function follows: with that the
 * addition is one launch.
 */
const residual: Pass = (node, uses) => {
  if (!['Conv', 'Gemm', 'MatMul'].includes(node.op) || node.domain !== '' || node.inputs.length > 3) return undefined;
  const add = uses.next(node, 'Add');
  const other = add && uses.other(add, node.outputs[0]);
  if (add === undefined || other === undefined || other === node.outputs[0] || uses.constant(other)) return undefined;
  const [after, ...more] = uses.readers(add);
  if (after !== undefined && more.length === 0 && operatorOf(after)?.element !== undefined) return undefined;
  const [a, b, c = ''] = node.inputs as [string, string, string?];
  return { gone: [node, add], node: { ...node, inputs: [a, b, c, other], outputs: add.outputs } };
};

/** The constant matrix of a product that nothing but a bias went into. */
function plainMatrix({ op, domain, inputs, attributes }: Node, uses: Uses): HostTensor | undefined {
  if (op !== 'MatMul' || domain !== '' || inputs.length > 3 || attributes.has('concord.activation')) return undefined;
  const matrix = uses.constant(inputs[1]);
  const isKnown = inputs[2] === undefined || uses.constant(inputs[2]) !== undefined;
  return matrix?.dims.length === 2 && isFloat(matrix.type) && isKnown ? matrix : undefined;
}

/** Products of one operand, such as queries, keys and values, are one product and its parts. */
const siblings: Pass = (node, uses) => {
  const own = plainMatrix(node, uses);
  const [x] = node.inputs as [string];
  if (own === undefined) return undefined;
  const all = uses.readersOf(x).filter((each) => {
    const matrix = plainMatrix(each, uses);
    const isAlike = each.inputs.length === node.inputs.length && each.inputs[0] === x && matrix?.type === own.type;
    return isAlike && matrix?.dims[0] === own.dims[0];
  });
  if (all.length < 2 || all[0] !== node) return undefined;
  const name = `${node.outputs[0]} and others`;
  const beside = (input: number): HostTensor =>
    sideBySide(all.map(({ inputs }) => uses.constant(inputs[input]) as HostTensor));
  const matrix = beside(1);
  const constants = new Map([[`${name} matrix`, matrix]]);
  if (node.inputs.length === 3) constants.set(`${name} bias`, beside(2));
  constants.set(`${name} sizes`, int64s(all.map(({ inputs }) => uses.constant(inputs[1])?.dims[1] as number)));
  const product = { ...node, inputs: [x, ...[...constants.keys()].slice(0, -1)], outputs: [name] };
  const outputs = all.map((each) => each.outputs[0] as string);
  const parts = { ...node, op: 'Split', version: 13, inputs: [name, `${name} sizes`], outputs };
  return { gone: all, node: [product, { ...parts, attributes: new Map([['axis', -1n]]) }], constants };
};

/** Matrices of as many rows, or rows, as one. */
function sideBySide(all: readonly HostTensor[]): HostTensor {
  const [first] = all as [HostTensor];
  const widths = all.map(({ dims }) => dims.at(-1) as number);
  const width = widths.reduce((sum, each) => sum + each, 0);
  const dims = [...first.dims.slice(0, -1), width];
  const data = new (arrayOf(first.type as 'float32'))(
    new ArrayBuffer(sizeOf(dims) * arrayOf(first.type as 'float32').BYTES_PER_ELEMENT),
  );
  let from = 0;
  for (const [i, each] of all.entries()) {
    const [source, own] = [each.data as Float32Array, widths[i] as number];
    for (let row = 0; row * own < source.length; row++)
      (data as Float32Array).set(source.subarray(row * own, (row + 1) * own), row * width + from);
    from += own;
  }
  return { type: first.type, dims, data };
}

/** A batch normalization after a convolution is one of the convolution's filters and bias. */
const batchNorm: Pass = (node, uses) => {
  if (node.op !== 'Conv' || node.domain !== '' || node.attributes.has('concord.activation')) return undefined;
  const norm = uses.next(node, 'BatchNormalization');
  if (norm?.inputs.length !== 5 || norm.outputs.length > 1 || norm.attributes.get('training_mode') === 1n)
    return undefined;
  const w = uses.constant(node.inputs[1]);
  const bias = node.inputs[2] ? [node.inputs[2]] : [];
  const known = [...norm.inputs.slice(1), ...bias].map((each) => uses.constant(each));
  const fits = known.every((each) => each?.type === 'float32' && each.dims.join() === String(w?.dims[0]));
  if (w?.type !== 'float32' || !fits) return undefined;
  const at = (which: number, i: number): number => (known[which]?.data[i] as number | undefined) ?? 0;
  const eps = Number(norm.attributes.get('epsilon') ?? 1e-5);
  const [scale, shift, mean, variance, before] = [0, 1, 2, 3, 4] as const;
  const factors = Float32Array.from(
    { length: w.dims[0] as number },
    (_, i) => at(scale, i) / Math.sqrt(at(variance, i) + eps),
  );
  const each = sizeOf(w.dims.slice(1));
  const filters = (w.data as Float32Array).map((value, i) => value * (factors[Math.floor(i / each)] as number));
  const offsets = factors.map((factor, i) => at(shift, i) + (at(before, i) - at(mean, i)) * factor);
  const [name] = norm.outputs;
  const names = [`${name} filters`, `${name} bias`] as const;
  const constants = new Map<string, HostTensor>([
    [names[0], { ...w, data: filters }],
    [names[1], { type: 'float32', dims: [factors.length], data: offsets }],
  ]);
  return {
    gone: [node, norm],
    node: { ...node, inputs: [node.inputs[0] as string, ...names], outputs: norm.outputs },
    constants,
  };
};

const [x, half] = [value('x'), number(0.5)];
const times = (a: Pattern, b: Pattern): Pattern => result('Mul', [a, b]);
const root = either(result('Div', [x, number(Math.SQRT2)]), times(x, number(Math.SQRT1_2)));
const bump = result('Add', [result('Erf', [root]), number(1)]);
const GELU = either(times(times(x, bump), half), times(times(bump, half), x), times(times(x, half), bump));

/** x (1 + erf(x / sqrt 2)) / 2, in the orders in which exporters write it. */
const gelu: Pass = (node, uses) => {
  const { nodes: gone, names } = match(node, GELU, uses) ?? {};
  return gone && { gone, node: { ...node, op: 'Gelu', inputs: [names?.['x'] as string], attributes: new Map() } };
};

/** Whether a ReduceMean is of the last axis, which it keeps. */
function isOfRows({ attributes, inputs }: Node, uses: Uses): boolean {
  const axes = (attributes.get('axes') ?? uses.constant(inputs[1])?.data) as ArrayLike<bigint> | undefined;
  return axes?.length === 1 && axes[0] === -1n && (attributes.get('keepdims') ?? 1n) === 1n;
}

const mean = (of: Pattern): Pattern => result('ReduceMean', [of], isOfRows);
const centred = result('Sub', [x, mean(x)]);
const variance = mean(either(result('Pow', [centred, number(2)]), times(centred, centred)));
const deviation = result('Sqrt', [result('Add', [variance, number('eps')])]);
const NORM = times(result('Div', [centred, deviation]), value('weight'));

/** (x - mean) / sqrt(mean((x - mean)^2) + eps) weight + bias, over the last axis. */
const layerNorm: Pass = (node, uses) => {
  const found = match(node, NORM, uses);
  const { x: input = '', eps, weight = '' } = found?.names ?? {};
  if (found === undefined || uses.constant(weight)?.dims.length !== 1) return undefined;
  const add = uses.next(node, 'Add');
  const offset = add && uses.other(add, node.outputs[0]);
  const shift = offset !== undefined && uses.constant(offset)?.dims.length === 1 ? { add, offset } : undefined;
  const attributes = new Map<string, number | bigint>([
    ['axis', -1n],
    ['epsilon', uses.number(eps) as number],
  ]);
  return {
    gone: [...found.nodes, ...(shift ? [shift.add as Node] : [])],
    node: {
      ...{ ...node, op: 'LayerNormalization', attributes },
      inputs: [input, weight, ...(shift ? [shift.offset] : [])],
      outputs: (shift?.add ?? node).outputs,
    },
  };
};

const isPlain = ({ inputs, attributes }: Node): boolean => inputs.length === 2 && attributes.size === 0;
const isLast = ({ version, attributes }: Node): boolean => version >= 13 && (attributes.get('axis') ?? -1n) === -1n;

const scores = result('MatMul', [value('q'), value('k')], isPlain);
const scaled = either(times(scores, number('factor')), result('Div', [scores, number('divisor')]), scores);
const masked = either(result('Add', [scaled, value('mask')]), scaled);
const ATTENTION = result('MatMul', [result('Softmax', [masked], isLast), value('v')]);

/** softmax(scale Q K^T + mask) V, where K^T is one matrix for each head. */
const attention: Pass = (node, uses) => {
  const found = match(node, ATTENTION, uses);
  if (found === undefined) return undefined;
  const { q = '', k = '', v = '', mask = '', factor, divisor } = found.names;
  const scale = uses.number(factor) ?? 1 / (uses.number(divisor) ?? 1);
  const attributes = new Map([['scale', scale]]);
  const inputs = [q, k, v, mask];
  return { gone: found.nodes, node: { ...node, domain: 'concord', op: 'Attention', inputs, attributes } };
};

/** A product of weights in blocks without a bias, as a value of its own name. */
const inBlocks = (key: string): Pattern => {
  const product = result('com.microsoft.MatMulNBits', [x], ({ inputs }) => inputs.length < 6);
  return (uses, name, found) => {
    const named = value(key)(uses, name, found);
    return named && product(uses, name, named);
  };
};
const gate = inBlocks('gate');
const GATED = times(times(gate, result('Sigmoid', [gate])), inBlocks('up'));

/** silu(x gate) (x up), of two weights of one kind. */
const gated: Pass = (node, uses) => {
  const found = match(node, GATED, uses);
  const [first, second] = ['gate', 'up'].map((key) => uses.giver(found?.names[key], 'com.microsoft.MatMulNBits'));
  if (found === undefined || first === undefined || second === undefined) return undefined;
  const { attributes } = first;
  const areAlike = [...attributes, ...second.attributes].every(
    ([name]) => attributes.get(name) === second.attributes.get(name),
  );
  if (!areAlike) return undefined;
  const weights = [first, second].flatMap(({ inputs: [, b = '', scales = '', zeros = ''] }) => [b, scales, zeros]);
  const inputs = [first.inputs[0] as string, ...weights];
  return { gone: found.nodes, node: { ...node, domain: 'concord', op: 'Gated', inputs, attributes } };
};

/** Leaves out nodes whose results nothing reads, in the graphs within nodes too. */
export function withoutDead(graph: Graph): Graph {
  const read = new Set(graph.outputs.map(({ name }) => name));
  const nodes: Node[] = [];
  for (const node of [...graph.nodes].reverse()) {
    if (!node.outputs.some((name) => read.has(name))) continue;
    const live = inGraphs(node, withoutDead);
    nodes.unshift(live);
    for (const name of readsOf(live)) read.add(name);
  }
  const constants = new Map([...graph.constants].filter(([name]) => read.has(name)));
  return { ...graph, nodes, constants };
}

/** A node with the graphs in its attributes changed. */
function inGraphs(node: Node, change: (graph: Graph) => Graph): Node {
  if (graphsOf(node).length === 0) return node;
  const isGraph = (value: unknown): value is Graph => typeof value === 'object' && value !== null && 'nodes' in value;
  const attributes = [...node.attributes].map(
    ([name, value]) => [name, isGraph(value) ? change(value) : value] as const,
  );
  return { ...node, attributes: new Map(attributes) };
}

/** In this order: an activation goes into a product that has its bias. */
const PASSES: readonly Pass[] = [batchNorm, gelu, layerNorm, attention, gated, bias, activation, residual, siblings];

/** A graph that gives the same with fewer launches. What graphs in it read from outside stays. */
export function optimise(graph: Graph): Graph {
  const nodes = graph.nodes.map((node) => inGraphs(node, optimise));
  return apply(withChains(withoutDead(PASSES.reduce(apply, withoutDead({ ...graph, nodes })))), functions);
}
