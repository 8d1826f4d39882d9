import { type Activation, attention, linear, matmul, reshape, softmax, type Tensor, transpose } from '@concord/ops';
import type { Call } from '../run/call.ts';
import { activationOf } from './convolution.ts';
import { elements, type Formula } from './elements.ts';
import { einsum } from './einsum.ts';
import type { Operators } from './operator.ts';

/** `alpha A B + beta C`, in one launch where C is a row and the factors are 1. */
function gemm(call: Call): Tensor {
  call.floats(0, 1, 2);
  const [alpha, beta] = [call.float('alpha', 1), call.float('beta', 1)];
  const a = call.int('transA', 0) === 1 ? transpose(call.x(0)) : call.x(0);
  const weight = call.int('transB', 0) === 1 ? call.x(1) : transpose(call.x(1));
  const c = call.maybe(2);
  const n = weight.shape[0] as number;
  const { activation } = activationOf(call);
  const isRow = c !== undefined && c.size === n && (c.shape.at(-1) ?? 1) === n && beta === 1 && alpha === 1;
  const product = linear(
    a,
    weight,
    isRow || c === undefined ? { bias: c && reshape(c, [n]), ...(alpha === 1 && { activation }) } : {},
  );
  const scaled =
    alpha === 1 ? product : elements(`Scale ${alpha}`, (k, x) => k.mul(x, alpha), [product], product.dtype);
  if (c === undefined || isRow) return alpha === 1 ? scaled : activated(scaled, activation);
  const result = elements(`Plus ${beta}`, (k, x, y) => k.add(x, k.mul(y, beta)), [scaled, c], product.dtype);
  return activated(result, activation);
}

/** A function of a result that no product could apply. */
function activated(x: Tensor, activation: Activation | undefined): Tensor {
  if (activation === undefined) return x;
  const formula: Formula = (k, v) => (activation === 'relu' ? k.max(v, 0) : k[activation](v));
  return elements(activation, formula, [x], x.dtype);
}

/** What a pass made of two products and a softmax. */
function fusedAttention(call: Call): Tensor {
  call.floats(0, 1, 2);
  const [q, k, v, mask] = [call.x(0), call.x(1), call.x(2), call.maybe(3)];
  const scale = call.float('scale');
  const { maxHeadDim } = call.backend.capabilities.limits;
  const isKernel =
    [q, k, v].every(({ rank, dtype }) => rank === 4 && dtype === q.dtype) &&
    Math.max(q.shape[3] ?? 0, v.shape[3] ?? 0) <= maxHeadDim;
  const heads = [q, k, v].every(({ shape }) => shape[0] === q.shape[0] && shape[1] === q.shape[1]);
  const fits =
    mask === undefined ||
    (mask.rank <= 4 &&
      [mask].every(({ shape }) =>
        shape.every(
          (size, axis) =>
            size === 1 || size === [q.shape[0], q.shape[1], q.shape[2], k.shape[3]][axis + 4 - shape.length],
        ),
      ));
  if (isKernel && heads && fits && (mask?.dtype ?? 'f32') !== 'u8')
    return attention(q, transpose(k), v, { scale, mask });
  const scores = elements(`Scale ${scale}`, (b, x) => b.mul(x, scale), [matmul(q, k)], q.dtype);
  const masked = mask ? elements('Add', (b, x, y) => b.add(x, y), [scores, mask], q.dtype) : scores;
  return matmul(softmax(masked), v);
}

/** Products. */
export const PRODUCTS: Operators = {
  MatMul: {
    run: (call) => {
      call.floats(0, 1);
      const [a, b] = [call.x(0), call.x(1)];
      // What passes made of a node has a bias, or ends in a function.
      const { activation } = activationOf(call);
      const bias = call.maybe(2);
      if (b.rank === 2 && a.rank >= 2) return linear(a, transpose(b), { bias, activation });
      const product = matmul(a, b);
      return activated(
        bias ? elements('Add', (k, x, y) => k.add(x, y), [product, bias], a.dtype) : product,
        activation,
      );
    },
  },
  Gemm: { run: gemm },
  'concord.Attention': { run: fusedAttention },
  Einsum: { run: einsum },
};
