import type { KernelBuilder } from '@concord/backend-core/kernel';
import type { Num } from './elements.ts';

/** A function of floats, with the parameters that it has. */
export type Activated = (k: KernelBuilder, x: Num, alpha: number, beta: number) => Num;

export const softplus = (k: KernelBuilder, x: Num): Num => k.add(k.max(x, 0), k.log1p(k.exp(k.neg(k.abs(x)))));

export const hardSigmoid: Activated = (k, x, alpha, beta) => k.clamp(k.add(k.mul(x, alpha), beta), 0, 1);

export const swish = (k: KernelBuilder, x: Num, alpha: number): Num => k.mul(x, k.sigmoid(k.mul(x, alpha)));

/** Functions that are operators and end others, with the defaults of their parameters. */
export const ACTIVATIONS: Readonly<Record<string, readonly [Activated, { alpha?: number; beta?: number }]>> = {
  Relu: [(k, x) => k.max(x, 0), {}],
  Tanh: [(k, x) => k.tanh(x), {}],
  Sigmoid: [(k, x) => k.sigmoid(x), {}],
  LeakyRelu: [(k, x, alpha) => k.select(k.lt(x, 0), k.mul(x, alpha), x), { alpha: 0.01 }],
  ThresholdedRelu: [(k, x, alpha) => k.select(k.gt(x, alpha), x, 0), { alpha: 1 }],
  HardSigmoid: [hardSigmoid, { alpha: 0.2, beta: 0.5 }],
  Elu: [(k, x, alpha) => k.select(k.lt(x, 0), k.mul(k.expm1(x), alpha), x), { alpha: 1 }],
  Softsign: [(k, x) => k.div(x, k.add(k.abs(x), 1)), {}],
  Softplus: [softplus, {}],
};
