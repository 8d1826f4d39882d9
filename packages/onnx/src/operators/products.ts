import { linear, matmul, reshape, type Tensor, transpose } from '@concord/ops';
import type { Call } from '../run/call.ts';
import { elements } from './elements.ts';
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
  const isRow = c !== undefined && c.size === n && (c.shape.at(-1) ?? 1) === n && beta === 1 && alpha === 1;
  const product = linear(a, weight, isRow ? { bias: reshape(c, [n]) } : {});
  const scaled =
    alpha === 1 ? product : elements(`Scale ${alpha}`, (k, x) => k.mul(x, alpha), [product], product.dtype);
  if (c === undefined || isRow) return scaled;
  return elements(`Plus ${beta}`, (k, x, y) => k.add(x, k.mul(y, beta)), [scaled, c], product.dtype);
}

/** Products. */
export const PRODUCTS: Operators = {
  MatMul: {
    run: (call) => {
      call.floats(0, 1);
      return matmul(call.x(0), call.x(1));
    },
  },
  Gemm: { run: gemm },
  Einsum: { run: einsum },
};
