import type { ComputeBackend } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { type Block, logitsOf, parseConfig, type Weights } from '@concord/example-lm';
import {
  add,
  conv2d,
  crossEntropy,
  globalAveragePool,
  linear,
  maxPool,
  relu,
  reshape,
  run,
  tensor,
  type Tensor,
} from '@concord/ops';
import { GPT_SIZES, sizeOf } from '../gpt/cases.ts';

/** A network that is trained: parameters, and the loss of a batch. */
export interface Work<Params = unknown> {
  readonly op: string;
  readonly name: string;
  /** Bytes of the parameters, their gradients and the optimiser's two moments. */
  readonly traffic: number;
  readonly params: Params;
  readonly batch: readonly Tensor[];
  lossOf(params: Params, ...batch: readonly Tensor[]): Tensor;
}

/** Puts a work on a backend. */
export type NewWork = (backend: ComputeBackend, size: TrainSize) => Work;

/** Values of `--size`; the second one is for a software device. limits/torch_train.py has the same. */
export type TrainSize = 'whole' | 'tiny';

/** What is trained, by names. All numbers are those of {@link seededNumbers}, so that PyTorch has the same. */
export const WORKS: Readonly<Record<string, NewWork>> = {
  mlp: mlpWork,
  resnet: resnetWork,
  gpt: gptWork,
};

/**
 * Numbers that look random, spread evenly from -bound to bound: a hash of each index, whose 24 upper bits are a multiple of 2^-23, times the
 * bound. `limits/torch_train.py` makes the same, bit for bit.
 */
function seededNumbers(length: number, seed: number, bound: number): Float32Array {
  const start = Math.imul(seed, 0x9e3779b9);
  return Float32Array.from({ length }, (_, index) => {
    let bits = (start + index) | 0;
    bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
    bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
    bits ^= bits >>> 16;
    return ((bits >>> 8) / 2 ** 23 - 1) * bound;
  });
}

/** A product's weight, `[out, in]`, and bias. */
interface Dense {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/** Parameters one after the other, each seeded by its place. */
class Params {
  readonly #backend: ComputeBackend;
  count = 0;
  bytes = 0;

  constructor(backend: ComputeBackend) {
    this.#backend = backend;
  }

  random(shape: readonly number[], bound: number, about = 0): Tensor {
    const numbers = seededNumbers(sizeOf(shape), ++this.count, bound);
    this.bytes += numbers.byteLength;
    return tensor(this.#backend, about === 0 ? numbers : numbers.map((each) => each + about), shape);
  }

  layer(to: number, from: number): Dense {
    return { weight: this.random([to, from], Math.sqrt(6 / from)), bias: this.random([to], 0.125) };
  }
}

/** Classes, or tokens, from one place of their sequence on. */
function classNumbers(count: number, classes: number, first = 0): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => ((i + first) * 7919 + 5) % classes);
}

function classesOf(backend: ComputeBackend, count: number, classes: number, first = 0): Tensor {
  return tensor(backend, classNumbers(count, classes, first));
}

/** The MLP's parameters and batch, which peers train too. */
export interface MlpNumbers {
  readonly batch: number;
  readonly widths: readonly number[];
  readonly layers: readonly { weight: Float32Array; bias: Float32Array; shape: [out: number, from: number] }[];
  readonly x: Float32Array;
  readonly classes: Uint32Array;
}

/** AdamW's options: the rate of limits/torch_train.py, the rest as PyTorch has it unless told otherwise. */
export const ADAM_W = { rate: 1e-4, beta1: 0.9, beta2: 0.999, eps: 1e-8, decay: 0.01 } as const;

const MLP_SIZES = { whole: [128, [784, 512, 512, 10]], tiny: [8, [12, 16, 16, 10]] } as const;

export function mlpNumbers(size: TrainSize): MlpNumbers {
  const [batch, widths] = MLP_SIZES[size];
  const layers = widths.slice(1).map((to, at) => {
    const from = widths[at] as number;
    return {
      weight: seededNumbers(to * from, 2 * at + 1, Math.sqrt(6 / from)),
      bias: seededNumbers(to, 2 * at + 2, 0.125),
      shape: [to, from] as [number, number],
    };
  });
  return { batch, widths, layers, x: seededNumbers(batch * widths[0], 0, 1), classes: classNumbers(batch, 10) };
}

function mlpWork(backend: ComputeBackend, size: TrainSize): Work<readonly Dense[]> {
  const { batch, widths, layers, x, classes } = mlpNumbers(size);
  const params = layers.map(({ weight, bias, shape }) => ({
    weight: tensor(backend, weight, shape),
    bias: tensor(backend, bias),
  }));
  const numbers = layers.reduce((sum, { weight, bias }) => sum + weight.length + bias.length, 0);
  return {
    ...{ op: 'train_mlp', name: `f32 ${batch}x${widths.join('-')}`, traffic: 16 * numbers, params },
    batch: [tensor(backend, x, [batch, widths[0] as number]), tensor(backend, classes)],
    lossOf: (layers, x, classes) => {
      const scores = layers.reduce(
        (y, { weight, bias }, at) =>
          linear(y, weight, { bias, activation: at === layers.length - 1 ? undefined : 'relu' }),
        x,
      );
      return crossEntropy(scores, classes);
    },
  };
}

/** A convolution's filter, and the factors and biases of the batch norm after it. */
interface Layer {
  readonly filter: Tensor;
  readonly weight: Tensor;
  readonly bias: Tensor;
}

/** Batch norm by the batch's own statistics: rows are channels. */
const batchNorm = defineKernel(
  'batch norm',
  { inputs: { x: 'f32', weight: { type: 'f32', level: 'row' }, bias: { type: 'f32', level: 'row' } } },
  ({ x, weight, bias }, k) => {
    const deviation = k.sub(x, k.fold('mean', x));
    const scale = k.mul(weight, k.rsqrt(k.add(k.fold('mean', k.mul(deviation, deviation)), 1e-5)));
    return { y: k.add(k.mul(deviation, scale), bias) };
  },
);

function convolved(x: Tensor, { filter, weight, bias }: Layer, stride: number, padding: number): Tensor {
  return run(batchNorm, { x: conv2d(x, filter, { stride, padding }), weight, bias }, { axis: [0, 2, 3] }).y;
}

interface Resnet {
  readonly layers: Readonly<Record<string, Layer>>;
  readonly head: Dense;
}

function resnetWork(backend: ComputeBackend, size: TrainSize): Work<Resnet> {
  const [batch, pixels] = size === 'whole' ? [32, 224] : [1, 64];
  const own = new Params(backend);
  const layer = (to: number, from: number, width: number, gain: number): Layer => ({
    filter: own.random([to, from, width, width], gain * Math.sqrt(6 / (from * width * width))),
    ...{ weight: own.random([to], 0.25, 1), bias: own.random([to], 0.125) },
  });
  // As torchvision names them: two blocks a stage, and each stage but the first halves the images.
  const channels = [64, 128, 256, 512];
  const blocks = channels.flatMap((to, stage) => [
    { name: `layer${stage + 1}.0`, from: channels[Math.max(stage - 1, 0)] as number, to, stride: stage > 0 ? 2 : 1 },
    { name: `layer${stage + 1}.1`, from: to, to, stride: 1 },
  ]);
  const layers: Record<string, Layer> = { stem: layer(64, 3, 7, 1) };
  for (const { name, from, to, stride } of blocks) {
    layers[`${name} 1`] = layer(to, from, 3, 1);
    layers[`${name} 2`] = layer(to, to, 3, 1);
    if (stride === 2) layers[`${name} shortcut`] = layer(to, from, 1, 1);
  }
  const params = { layers, head: own.layer(1000, 512) };
  return {
    ...{ op: 'train_resnet18', name: `f32 ${batch}x3x${pixels}x${pixels}`, traffic: 4 * own.bytes, params },
    batch: [
      tensor(backend, seededNumbers(batch * 3 * pixels * pixels, 0, 1), [batch, 3, pixels, pixels]),
      classesOf(backend, batch, 1000),
    ],
    lossOf: ({ layers, head: { weight, bias } }, images, classes) => {
      const at = (name: string): Layer => layers[name] as Layer;
      let x = maxPool(relu(convolved(images, at('stem'), 2, 3)), 3, { stride: 2, padding: 1 });
      for (const { name, stride } of blocks) {
        const y = convolved(relu(convolved(x, at(`${name} 1`), stride, 1)), at(`${name} 2`), 1, 1);
        x = relu(add(y, stride === 1 ? x : convolved(x, at(`${name} shortcut`), stride, 0)));
      }
      return crossEntropy(linear(globalAveragePool(x), weight, { bias }), classes);
    },
  };
}

function gptWork(backend: ComputeBackend, size: TrainSize): Work<Omit<Weights, 'dispose' | 'head'>> {
  const { config } = GPT_SIZES[size === 'whole' ? 'small' : 'tiny'] as (typeof GPT_SIZES)[string];
  const [batch, length] = size === 'whole' ? [8, 512] : [2, 16];
  const width = config.n_embd;
  const own = new Params(backend);
  const norm = (): Dense => ({
    weight: own.random([width], 0.25, 1),
    bias: own.random([width], 0.125),
  });
  const product = (to: number, from: number): Dense => ({
    weight: own.random([to, from], 0.035),
    bias: own.random([to], 0.035),
  });
  const block = (): Block => ({
    ...{ norm1: norm(), qkv: [product(3 * width, width)], merge: product(width, width), norm2: norm() },
    ...{ up: product(4 * width, width), down: product(width, 4 * width) },
    ...{ qNorm: undefined, kNorm: undefined, after1: undefined, after2: undefined, gate: undefined },
  });
  const params = {
    tokens: own.random([config.vocab_size, width], 0.035),
    positions: own.random([config.n_positions, width], 0.035),
    blocks: Array.from({ length: config.n_layer }, block),
    norm: norm(),
  };
  const parsed = parseConfig({ ...config }, 'the case');
  return {
    ...{ op: 'train_gpt', name: `f32 ${batch}x${length}`, traffic: 4 * own.bytes, params },
    batch: [
      reshape(classesOf(backend, batch * length, config.vocab_size), [batch, length]),
      classesOf(backend, batch * length, config.vocab_size, 1),
    ],
    lossOf: (weights, ids, targets) => {
      const logits = logitsOf(parsed, { ...weights, head: { weight: weights.tokens } }, ids);
      return crossEntropy(reshape(logits, [batch * length, config.vocab_size]), targets);
    },
  };
}
