import { defineKernel } from '@concord/backend-core/kernel';
import { run, type Tensor, tidy, zeros } from '@concord/ops';

/** Options of {@link AdamW}, with PyTorch's defaults. */
export interface AdamWOptions {
  /** Default 1e-3. */
  readonly learningRate?: number;
  /** Default [0.9, 0.999]. */
  readonly betas?: readonly [number, number];
  /** Default 1e-8. */
  readonly eps?: number;
  /** Default 0.01. */
  readonly weightDecay?: number;
}

/**
 * One step for one element, in one launch: `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g^2`, `w = w (1 - rate decay) -
 * rate m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)`.
 */
const step = defineKernel(
  'adamw',
  {
    inputs: { w: 'f32', g: 'f32', m: 'f32', v: 'f32' },
    params: { beta1: 'f32', beta2: 'f32', rate: 'f32', shrink: 'f32', scale: 'f32', eps: 'f32' },
  },
  ({ w, g, m, v, beta1, beta2, rate, shrink, scale, eps }, k) => {
    const newM = k.add(k.mul(beta1, m), k.mul(k.sub(1, beta1), g));
    const newV = k.add(k.mul(beta2, v), k.mul(k.sub(1, beta2), k.mul(g, g)));
    const change = k.div(newM, k.add(k.mul(k.sqrt(newV), scale), eps));
    return { newM, newV, newW: k.sub(k.mul(w, shrink), k.mul(rate, change)) };
  },
);

/** Loshchilov, Hutter, Decoupled weight decay regularization, 2019: weights are changed in place. */
export class AdamW implements Disposable {
  readonly #weights: readonly Tensor[];
  readonly #moments: readonly { readonly m: Tensor; readonly v: Tensor }[];
  readonly #options: Required<AdamWOptions>;
  #steps = 0;

  constructor(weights: readonly Tensor[], options: AdamWOptions = {}) {
    this.#weights = weights;
    this.#options = { learningRate: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0.01, ...options };
    this.#moments = tidy(() =>
      weights.map(({ backend, shape }) => ({ m: zeros(backend, shape), v: zeros(backend, shape) })),
    );
  }

  /** @param gradients - of each weight, in their order */
  step(gradients: readonly Tensor[]): void {
    const { learningRate, betas, eps, weightDecay } = this.#options;
    const [beta1, beta2] = betas;
    this.#steps++;
    const params = {
      ...{ beta1, beta2, eps },
      rate: learningRate / (1 - beta1 ** this.#steps),
      shrink: 1 - learningRate * weightDecay,
      scale: 1 / Math.sqrt(1 - beta2 ** this.#steps),
    };
    for (const [index, w] of this.#weights.entries()) {
      const { m, v } = this.#moments[index] as { m: Tensor; v: Tensor };
      run(step, { w, g: gradients[index] as Tensor, m, v }, { params, out: { newW: w, newM: m, newV: v } });
    }
  }

  dispose(): void {
    for (const { m, v } of this.#moments) {
      m.dispose();
      v.dispose();
    }
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
