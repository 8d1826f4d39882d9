import { notOffered, offered } from '../peer.ts';
import { type ByOp, shapesOf, type Work } from '../limits/cases.ts';
import type { Graph, Node } from './model.ts';

/** A work as a graph, with inputs x0, x1 and x2 and the output y. */
export function graphOf(work: Work): Graph {
  const operators = offered(OPERATORS, work);
  const { inputs, output } = shapesOf(work);
  return {
    ...operators,
    inputs: Object.fromEntries(inputs.map((shape, i) => [`x${i}`, shape])),
    output: ['y', output],
  };
}

type Operators = Pick<Graph, 'nodes' | 'constants'>;

const along =
  (operator: string) =>
  ({ axis }: { readonly axis: number }): Operators => ({
    ...one(operator, ['x0', 'axes'], { keepdims: 0 }),
    constants: { axes: BigInt64Array.of(BigInt(axis)) },
  });

const OPERATORS: Partial<ByOp<Operators>> = {
  gemm(work) {
    const { layout = 'NN', padding = 0 } = work;
    if (padding > 0) return notOffered(work, 'has no gaps between rows');
    if (layout === 'NN') return one('MatMul', ['x0', 'x1']);
    return one('Gemm', ['x0', 'x1'], { transA: layout[0] === 'T' ? 1 : 0, transB: layout[1] === 'T' ? 1 : 0 });
  },
  batched_gemm: () => one('MatMul', ['x0', 'x1']),
  conv2d({ f, stride, padding }) {
    const pads = [padding, padding, padding, padding];
    return one('Conv', ['x0', 'x1'], { strides: [stride, stride], pads, kernel_shape: [f, f] });
  },
  attention(work) {
    if (work.causal) return notOffered(work, 'has no causal attention without a mask');
    return {
      nodes: [
        { operator: 'Transpose', inputs: ['x1'], output: 'keys', attributes: { perm: [0, 2, 1] } },
        { operator: 'MatMul', inputs: ['x0', 'keys'], output: 'products' },
        { operator: 'Mul', inputs: ['products', 'scale'], output: 'scores' },
        { operator: 'Softmax', inputs: ['scores'], output: 'weights', attributes: { axis: 2 } },
        { operator: 'MatMul', inputs: ['weights', 'x2'], output: 'y' },
      ],
      constants: { scale: Float32Array.of(1 / Math.sqrt(work.headDim)) },
    };
  },
  reduce_sum: along('ReduceSum'),
  reduce_max: along('ReduceMax'),
  softmax: () => one('Softmax', ['x0'], { axis: 1 }),
  layer_norm: () => one('LayerNormalization', ['x0', 'x1', 'x2']),
  bias_gelu: () => ({
    nodes: [
      { operator: 'Add', inputs: ['x0', 'x1'], output: 'sum' },
      { operator: 'Gelu', inputs: ['sum'], output: 'y' },
    ],
  }),
  binary_add: () => one('Add', ['x0', 'x1']),
  unary_exp: () => one('Exp', ['x0']),
  unary_tanh: () => one('Tanh', ['x0']),
  unary_relu: () => one('Relu', ['x0']),
};

function one(operator: string, inputs: readonly string[], attributes: NonNullable<Node['attributes']> = {}): Operators {
  return { nodes: [{ operator, inputs, output: 'y', attributes }] };
}
