import type { ComputeBackend } from '@concord/backend-core';
import {
  argmax,
  crossEntropy,
  div,
  equal,
  greater,
  linear,
  matmul,
  mean,
  cast,
  mul,
  oneHot,
  randomNormal,
  softmax,
  sub,
  sum,
  type Tensor,
  tidy,
  transpose,
  zeros,
} from '@concord/ops';

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

/** The weights in the order in which {@link lossAndGradients} gives their gradients. */
export function weightsOf({ w1, b1, w2, b2 }: Network): readonly Tensor[] {
  return [w1, b1, w2, b2];
}

/**
 * The mean cross entropy of a batch, and how it changes with each weight: the chain rule, written by hand.
 *
 * @param x - `[batch, in]`
 * @param classes - u32 `[batch]`
 */
export function lossAndGradients(
  { w1, b1, w2, b2 }: Network,
  x: Tensor,
  classes: Tensor,
): { loss: Tensor; gradients: Tensor[] } {
  return tidy(() => {
    const h = linear(x, w1, { bias: b1, activation: 'relu' });
    const logits = linear(h, w2, { bias: b2 });
    const loss = crossEntropy(logits, classes);

    const [batch = 1, kinds = 1] = logits.shape;
    const dLogits = div(sub(softmax(logits), oneHot(classes, kinds)), batch);
    const dW2 = matmul(transpose(dLogits), h);
    const dB2 = sum(dLogits, { axis: 0 });
    // Where relu gave 0 it lets nothing back.
    const dH = mul(matmul(dLogits, w2), cast(greater(h, 0), 'f32'));
    const dW1 = matmul(transpose(dH), x);
    const dB1 = sum(dH, { axis: 0 });
    return { loss, gradients: [dW1, dB1, dW2, dB2] };
  });
}

/** The share of points whose class the network finds, one number. */
export function accuracy({ w1, b1, w2, b2 }: Network, x: Tensor, classes: Tensor): Tensor {
  return tidy(() => {
    const logits = linear(linear(x, w1, { bias: b1, activation: 'relu' }), w2, { bias: b2 });
    return mean(cast(equal(argmax(logits, { axis: -1 }), classes), 'f32'));
  });
}
