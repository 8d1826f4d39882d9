import { notOffered } from '../peer.ts';
import { type AttentionWork, outputSize, type Work } from '../work.ts';
import type { Graph } from './model.ts';

/** A work as a graph, with inputs x0, x1 and x2 and the output y. */
export function graphOf(work: Work): Graph {
  switch (work.op) {
    case 'gemm': {
      const { m, n, k, layout = 'NN', padding = 0 } = work;
      if (padding > 0) return notOffered(work, 'has no gaps between rows');
      const [transA, transB] = [layout[0] === 'T' ? 1 : 0, layout[1] === 'T' ? 1 : 0];
      const inputs = { x0: transA ? [k, m] : [m, k], x1: transB ? [n, k] : [k, n] };
      const operator = layout === 'NN' ? 'MatMul' : 'Gemm';
      const attributes = layout === 'NN' ? {} : { transA, transB };
      return { nodes: [{ operator, inputs: ['x0', 'x1'], output: 'y', attributes }], inputs, output: ['y', [m, n]] };
    }
    case 'batched_gemm': {
      const { batch, m, n, k } = work;
      const inputs = { x0: [batch, m, k], x1: [batch, k, n] };
      return one('MatMul', inputs, [batch, m, n]);
    }
    case 'conv2d': {
      const { n, c, hw, k, f, stride, padding } = work;
      const out = outputSize(work);
      const inputs = { x0: [n, c, hw, hw], x1: [k, c, f, f] };
      const attributes = {
        strides: [stride, stride],
        pads: [padding, padding, padding, padding],
        kernel_shape: [f, f],
      };
      const node = { operator: 'Conv', inputs: ['x0', 'x1'], output: 'y', attributes };
      return { nodes: [node], inputs, output: ['y', [n, k, out, out]] };
    }
    case 'attention':
      return attention(work);
    case 'reduce_sum':
    case 'reduce_max': {
      const { op, shape, axis } = work;
      const operator = op === 'reduce_sum' ? 'ReduceSum' : 'ReduceMax';
      return {
        nodes: [{ operator, inputs: ['x0', 'axes'], output: 'y', attributes: { keepdims: 0 } }],
        inputs: { x0: shape },
        output: ['y', shape.filter((_, i) => i !== axis)],
        constants: { axes: BigInt64Array.of(BigInt(axis)) },
      };
    }
    case 'softmax':
      return one('Softmax', { x0: [work.rows, work.columns] }, [work.rows, work.columns], { axis: 1 });
    case 'layer_norm': {
      const { rows, columns } = work;
      return one('LayerNormalization', { x0: [rows, columns], x1: [columns], x2: [columns] }, [rows, columns]);
    }
    case 'bias_gelu': {
      const { rows, columns } = work;
      return {
        nodes: [
          { operator: 'Add', inputs: ['x0', 'x1'], output: 'sum' },
          { operator: 'Gelu', inputs: ['sum'], output: 'y' },
        ],
        inputs: { x0: [rows, columns], x1: [columns] },
        output: ['y', [rows, columns]],
      };
    }
    case 'binary_add':
      return one('Add', { x0: [work.n], x1: [work.n] }, [work.n]);
    case 'unary_exp':
    case 'unary_tanh':
    case 'unary_relu': {
      const operator = { unary_exp: 'Exp', unary_tanh: 'Tanh', unary_relu: 'Relu' }[work.op];
      return one(operator, { x0: [work.n] }, [work.n]);
    }
    default:
      return notOffered(work);
  }
}

function one(
  operator: string,
  inputs: Graph['inputs'],
  shape: readonly number[],
  attributes: Readonly<Record<string, number>> = {},
): Graph {
  const node = { operator, inputs: Object.keys(inputs), output: 'y', attributes };
  return { nodes: [node], inputs, output: ['y', shape] };
}

function attention(work: AttentionWork): Graph {
  const { batch, heads, seqQ, seqKv, headDim, causal } = work;
  if (causal) return notOffered(work, 'has no causal attention without a mask');
  return {
    nodes: [
      { operator: 'Transpose', inputs: ['x1'], output: 'keys', attributes: { perm: [0, 2, 1] } },
      { operator: 'MatMul', inputs: ['x0', 'keys'], output: 'products' },
      { operator: 'Mul', inputs: ['products', 'scale'], output: 'scores' },
      { operator: 'Softmax', inputs: ['scores'], output: 'weights', attributes: { axis: 2 } },
      { operator: 'MatMul', inputs: ['weights', 'x2'], output: 'y' },
    ],
    inputs: {
      x0: [batch * heads, seqQ, headDim],
      x1: [batch * heads, seqKv, headDim],
      x2: [batch * heads, seqKv, headDim],
    },
    output: ['y', [batch * heads, seqQ, headDim]],
    constants: { scale: Float32Array.of(1 / Math.sqrt(headDim)) },
  };
}
