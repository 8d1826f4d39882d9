import { type Activation, attention, linear, mul, reshape, softmax, type Tensor, transpose } from '@concord/ops';
import { broadcastShapes } from '@concord/ops/listen';
import type { Call } from '../run/call.ts';
import { activationOf } from './convolution.ts';
import { elements, type Formula } from './elements.ts';
import { einsum, productOf } from './einsum.ts';
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
  if (isRow || (c === undefined && alpha === 1)) return atOnce(call, a, weight, c && reshape(c, [n]));
  const product = linear(a, weight);
  const term = c === undefined || beta === 1 ? c : mul(c, beta);
  return inSteps(call, alpha === 1 ? product : mul(product, alpha), term);
}

/** What passes made of a product has a bias, ends in a function, or has something added to it. */
function atOnce(call: Call, a: Tensor, weight: Tensor, bias: Tensor | undefined): Tensor {
  const residual = fitting(call, [...a.shape.slice(0, -1), weight.shape[0] as number]);
  const product = linear(a, weight, { bias, ...activationOf(call), residual });
  return residual ? product : plus(product, call.maybe(3));
}

/** The same after a product that could apply nothing of it. */
function inSteps(call: Call, product: Tensor, bias: Tensor | undefined): Tensor {
  return plus(activated(plus(product, bias), activationOf(call).activation), call.maybe(3));
}

/** A sum, of what broadcasts; of nothing more x itself. */
export function plus(x: Tensor, y: Tensor | undefined): Tensor {
  return y === undefined ? x : elements('Add', (k, a, b) => k.add(a, b), [x, y]);
}

/** Returns what is added to a product at the end, if it has the product's shape. */
export function fitting(call: Call, shape: readonly number[]): Tensor | undefined {
  const residual = call.maybe(3);
  const fits = residual?.shape.length === shape.length && shape.every((size, axis) => residual.shape[axis] === size);
  return fits && residual.dtype === call.x(0).dtype ? residual : undefined;
}

/** A function of a result that no product could apply. */
function activated(x: Tensor, activation: Activation | undefined): Tensor {
  if (activation === undefined) return x;
  if (typeof activation === 'function') return elements(activation.name, activation, [x]);
  const formula: Formula = (k, v) => (activation === 'relu' ? k.max(v, 0) : k[activation](v));
  return elements(activation, formula, [x]);
}

/** Computes what a pass made of two products and a softmax. */
function fusedAttention(call: Call): Tensor {
  call.floats(0, 1, 2);
  const [q, k, v, mask] = [call.x(0), call.x(1), call.x(2), call.maybe(3)];
  const scale = call.float('scale');
  const { maxHeadDim } = call.backend.capabilities.limits;
  const isKernel =
    [q, k, v].every(({ rank, dtype }) => rank === 4 && dtype === q.dtype && dtype !== 'bf16') &&
    Math.max(q.shape[3] ?? 0, v.shape[3] ?? 0) <= maxHeadDim;
  const heads = [q, k, v].every(({ shape }) => shape[0] === q.shape[0] && shape[1] === q.shape[1]);
  const all = [...q.shape.slice(0, 3), k.shape[3] as number];
  const fits = mask === undefined || broadcastShapes(mask.shape, all)?.join() === all.join();
  if (isKernel && heads && fits && (mask?.dtype ?? 'f32') !== 'u8')
    return attention(q, transpose(k), v, { scale, mask });
  return productOf(softmax(plus(mul(productOf(q, k), scale), mask)), v);
}

/** Products. */
export const PRODUCTS: Operators = {
  MatMul: (call) => {
    call.floats(0, 1);
    const [a, b] = [call.x(0), call.x(1)];
    const isLinear = b.rank === 2 && a.rank >= 2 && a.dtype !== 'bf16';
    return isLinear ? atOnce(call, a, transpose(b), call.maybe(2)) : inSteps(call, productOf(a, b), call.maybe(2));
  },
  Gemm: gemm,
  'concord.Attention': fusedAttention,
  Einsum: einsum,
};
