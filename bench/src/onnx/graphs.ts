import { notOffered } from '../peer.ts';
import { shapesOf, type Work } from '../limits/cases.ts';
import type { Graph, Node } from './model.ts';

/** A work as a graph, with inputs x0, x1 and x2 and the output y. */
export function graphOf(work: Work): Graph {
  const operators = operatorsOf(work);
  const { inputs, output } = shapesOf(work);
  return {
    ...operators,
    inputs: Object.fromEntries(inputs.map((shape, i) => [`x${i}`, shape])),
    output: ['y', output],
  };
}

function operatorsOf(work: Work): Pick<Graph, 'nodes' | 'constants'> {
  switch (work.op) {
    case 'gemm': {
      const { layout = 'NN', padding = 0 } = work;
      if (padding > 0) return notOffered(work, 'has no gaps between rows');
      if (layout === 'NN') return one('MatMul', ['x0', 'x1']);
      return one('Gemm', ['x0', 'x1'], { transA: layout[0] === 'T' ? 1 : 0, transB: layout[1] === 'T' ? 1 : 0 });
    }
    case 'batched_gemm':
      return one('MatMul', ['x0', 'x1']);
    case 'conv2d': {
      const { f, stride, padding } = work;
      const pads = [padding, padding, padding, padding];
      return one('Conv', ['x0', 'x1'], { strides: [stride, stride], pads, kernel_shape: [f, f] });
    }
    case 'attention':
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
    case 'reduce_sum':
    case 'reduce_max': {
      const operator = work.op === 'reduce_sum' ? 'ReduceSum' : 'ReduceMax';
      const constants = { axes: BigInt64Array.of(BigInt(work.axis)) };
      return { ...one(operator, ['x0', 'axes'], { keepdims: 0 }), constants };
    }
    case 'softmax':
      return one('Softmax', ['x0'], { axis: 1 });
    case 'layer_norm':
      return one('LayerNormalization', ['x0', 'x1', 'x2']);
    case 'bias_gelu':
      return {
        nodes: [
          { operator: 'Add', inputs: ['x0', 'x1'], output: 'sum' },
          { operator: 'Gelu', inputs: ['sum'], output: 'y' },
        ],
      };
    case 'binary_add':
      return one('Add', ['x0', 'x1']);
    case 'unary_exp':
    case 'unary_tanh':
    case 'unary_relu':
      return one({ unary_exp: 'Exp', unary_tanh: 'Tanh', unary_relu: 'Relu' }[work.op], ['x0']);
    default:
      return notOffered(work);
  }
}

function one(
  operator: string,
  inputs: readonly string[],
  attributes: NonNullable<Node['attributes']> = {},
): Pick<Graph, 'nodes'> {
  return { nodes: [{ operator, inputs, output: 'y', attributes }] };
}
