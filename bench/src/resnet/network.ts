import { conv2d, globalAveragePool, linear, maxPool, relu, type Tensor, tensor, tidy } from '@concord/ops';
import type { ComputeBackend } from '@concord/backend-core';
import { type Architecture, type Block, blocksOf, parametersOf } from './architecture.ts';

/** The tensors of a network by name. */
export type Weights = Readonly<Record<string, Tensor>>;

/** Untrained weights, the same in every run; the caller disposes them. */
export function untrainedWeights(backend: ComputeBackend, architecture: Architecture): Weights {
  return tidy(() =>
    Object.fromEntries(
      parametersOf(architecture).map(({ name, shape, bound }, index) => {
        const length = shape.reduce((product, each) => product * each, 1);
        return [name, tensor(backend, seededNumbers(length, index + 1, bound), shape)];
      }),
    ),
  );
}

/** Images that show nothing, the same in every run. */
export function noiseImages(backend: ComputeBackend, batch: number, size: number): Tensor {
  return tensor(backend, seededNumbers(batch * 3 * size * size, 0, 1), [batch, 3, size, size]);
}

/** The scores of each class, `[n, classes]`, of images `[n, 3, h, w]`. */
export function classify(architecture: Architecture, weights: Weights, images: Tensor): Tensor {
  return tidy(() => {
    let y = stem(weights, images);
    for (const block of blocksOf(architecture)) {
      const next = residualBlock(weights, block, y);
      // So that the device holds two blocks at a time, not all.
      y.dispose();
      y = next;
    }
    return linear(globalAveragePool(y), of(weights, 'fc.weight'), { bias: of(weights, 'fc.bias') });
  });
}

function stem(weights: Weights, images: Tensor): Tensor {
  return tidy(() => {
    const w = of(weights, 'conv1.weight');
    const y = conv2d(images, w, { bias: of(weights, 'conv1.bias'), activation: 'relu', stride: 2, padding: 3 });
    return maxPool(y, 3, { stride: 2, padding: 1 });
  });
}

function residualBlock(weights: Weights, { name, stride }: Block, x: Tensor): Tensor {
  const convolve = (layer: string, input: Tensor, options: Parameters<typeof conv2d>[2]): Tensor => {
    const bias = of(weights, `${name}.${layer}.bias`);
    return conv2d(input, of(weights, `${name}.${layer}.weight`), { bias, ...options });
  };
  return tidy(() => {
    const residual = stride === 1 ? x : convolve('downsample', x, { stride });
    const y = convolve('conv1', x, { activation: 'relu', stride, padding: 1 });
    const sum = convolve('conv2', y, { residual, padding: 1 });
    return relu(sum, { out: sum });
  });
}

function of(weights: Weights, name: string): Tensor {
  const found = weights[name];
  if (found === undefined) throw new Error(`the weights have no ${name}`);
  return found;
}

/**
 * Numbers that look random, spread evenly from -bound to bound: a hash of each index, whose 24 upper bits are a multiple of 2^-23, times the
 * bound. `limits/resnet_reference.py` makes the same, bit for bit.
 */
export function seededNumbers(length: number, seed: number, bound: number): Float32Array {
  const start = Math.imul(seed, 0x9e3779b9);
  return Float32Array.from({ length }, (_, index) => {
    let bits = (start + index) | 0;
    bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
    bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
    bits ^= bits >>> 16;
    return ((bits >>> 8) / 2 ** 23 - 1) * bound;
  });
}
