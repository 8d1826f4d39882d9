import type { ComputeBackend } from '@concord/backend-core';
import { argmax, cast, crossEntropy, equal, linear, mean, randomNormal, type Tensor, tidy, zeros } from '@concord/ops';

/** The weights of two layers: `relu(x w1^T + b1) w2^T + b2`. */
export interface Network {
  /** `[hidden, in]` */
  readonly w1: Tensor;
  /** `[hidden]` */
  readonly b1: Tensor;
  /** `[classes, hidden]` */
  readonly w2: Tensor;
  /** `[classes]` */
  readonly b2: Tensor;
}

/** Weights of a normal distribution whose deviation keeps the size of what goes through (He et al., 2015). */
export function newNetwork(
  backend: ComputeBackend,
  inputs: number,
  hidden: number,
  classes: number,
  seed: number,
): Network {
  return tidy(() => ({
    w1: randomNormal(backend, [hidden, inputs], { seed, std: Math.sqrt(2 / inputs) }),
    b1: zeros(backend, [hidden]),
    w2: randomNormal(backend, [classes, hidden], { seed: seed + 1, std: Math.sqrt(2 / hidden) }),
    b2: zeros(backend, [classes]),
  }));
}

/** The scores of each class, `[batch, classes]`. */
function scoresOf({ w1, b1, w2, b2 }: Network, x: Tensor): Tensor {
  return linear(linear(x, w1, { bias: b1, activation: 'relu' }), w2, { bias: b2 });
}

/**
 * The mean cross entropy of a batch, one number.
 *
 * @param x - `[batch, in]`
 * @param classes - u32 `[batch]`
 */
export function lossOf(network: Network, x: Tensor, classes: Tensor): Tensor {
  return crossEntropy(scoresOf(network, x), classes);
}

/** The share of points whose class the network finds, one number. */
export function accuracy(network: Network, x: Tensor, classes: Tensor): Tensor {
  return tidy(() => mean(cast(equal(argmax(scoresOf(network, x), { axis: -1 }), classes), 'f32')));
}
