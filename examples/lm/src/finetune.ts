import type { ComputeBackend } from '@concord/backend-core';
import { adamW, clipByNorm, valueAndGrad } from '@concord/grad';
import {
  add,
  cast,
  copy,
  crossEntropy,
  matmul,
  QuantizedTensor,
  randomNormal,
  reshape,
  slice,
  tensor,
  type Tensor,
  tidy,
  transpose,
  zeros,
} from '@concord/ops';
import { UserError } from '@concord/example-command/user-error';
import type { Config } from './config.ts';
import { logitsOf } from './logits.ts';
import { type NamedWeights, weightsOf } from './weights.ts';

/**
 * What finetuning adds to weights, as PEFT names it: `NAME.lora_A.weight`, `[rank, in]`, and `NAME.lora_B.weight`, `[out, rank]`. Their
 * product is added as it is: `lora_alpha` is the rank. Hu et al., LoRA, 2021.
 */
export type Adapter = Readonly<Record<string, Tensor>>;

/** The weights that have adapters: PEFT's choice for GPT-2 and Llama. */
const ADAPTED = /(?:^|\.)(?:c_attn|q_proj|v_proj)\.weight$/;

const namesOf = (name: string): [a: string, b: string] => {
  const own = `base_model.model.${name.replace(/\.weight$/, '')}`;
  return [`${own}.lora_A.weight`, `${own}.lora_B.weight`];
};

/** GPT-2 stores its products `[in, out]`. */
const isTurned = (name: string): boolean => name.includes('c_attn');

/** An adapter that adds nothing yet. */
export function newAdapter(backend: ComputeBackend, named: NamedWeights, rank: number, seed: number): Adapter {
  return tidy(() => {
    const pairs = Object.entries(named).filter(([name]) => ADAPTED.test(name));
    return Object.fromEntries(
      pairs.flatMap(([name, { shape }], index) => {
        const [rows = 0, columns = 0] = shape;
        const [to, from] = isTurned(name) ? [columns, rows] : [rows, columns];
        const [a, b] = namesOf(name);
        const std = 1 / Math.sqrt(from);
        return [
          [a, randomNormal(backend, [rank, from], { seed: seed + index, std })],
          [b, zeros(backend, [to, rank])],
        ];
      }),
    );
  });
}

/**
 * Weights with an adapter: new ones, or other handles of the same.
 *
 * @throws {UserError} BAD_ADAPTER for one of other weights, and beside quantized ones
 */
export function adapted(named: NamedWeights, adapter: Adapter): NamedWeights {
  let used = 0;
  const entries = Object.entries(named).map(([name, weight]) => {
    const [a, b] = namesOf(name).map((each) => adapter[each]);
    if (a === undefined || b === undefined)
      return [name, weight instanceof QuantizedTensor ? weight : reshape(weight, weight.shape)];
    used += 2;
    if (weight instanceof QuantizedTensor) throw new UserError('BAD_ADAPTER', `${name} is quantized`);
    const product = isTurned(name) ? matmul(transpose(a), transpose(b)) : matmul(b, a);
    if (product.shape.join() !== weight.shape.join())
      throw new UserError('BAD_ADAPTER', `${name} is [${weight.shape.join()}], its adapter [${product.shape.join()}]`);
    return [name, add(weight, weight.dtype === 'f32' ? product : cast(product, weight.dtype))];
  });
  if (used < Object.keys(adapter).length) throw new UserError('BAD_ADAPTER', 'the adapter is of another model');
  return Object.fromEntries(entries) as NamedWeights;
}

/** The mean loss of each token of texts after its first, `[batch, length + 1]`, with an adapter. */
export function adapterLoss(adapter: Adapter, named: NamedWeights, config: Config, texts: Tensor): Tensor {
  const [batch = 1, length = 1] = texts.shape;
  const weights = weightsOf(adapted(named, adapter), config);
  const part = (first: number): Tensor => copy(slice(texts, [null, [first, first + length - 1]]));
  const logits = logitsOf(config, weights, part(0));
  weights.dispose();
  return crossEntropy(reshape(logits, [batch * (length - 1), -1]), reshape(part(1), [-1]));
}

/** Options of {@link finetune}. */
export interface FinetuneOptions {
  readonly steps: number;
  readonly rank: number;
  readonly rate: number;
  /** Parts of the text in each step, and tokens of each. */
  readonly batch: number;
  readonly length: number;
  readonly seed: number;
  readonly signal?: AbortSignal;
  readonly onStep?: (step: number, loss: number) => void;
}

/**
 * An adapter that was fitted to a text, with the loss of each step.
 *
 * @param named - floats
 * @throws {UserError} TOO_SHORT for a text of fewer tokens than a part has, BAD_ADAPTER for a model without weights to adapt
 */
export async function finetune(
  backend: ComputeBackend,
  config: Config,
  named: NamedWeights,
  ids: readonly number[],
  { steps, rank, rate, batch, length, seed, signal, onStep }: FinetuneOptions,
): Promise<{ readonly adapter: Adapter; readonly losses: readonly number[] }> {
  const whole = Math.min(length, config.context) + 1;
  if (ids.length < whole)
    throw new UserError('TOO_SHORT', `the text has ${ids.length} tokens, a part of it ${whole}`, { hint: 'give more' });
  const adapter = newAdapter(backend, named, rank, seed);
  if (Object.keys(adapter).length === 0) throw new UserError('BAD_ADAPTER', 'the model has no weights to adapt');
  using optimizer = adamW(adapter, { rate, decay: 0 });
  const lossAndGradient = valueAndGrad((own: Adapter, texts: Tensor) => adapterLoss(own, named, config, texts));
  const losses: number[] = [];
  for (let step = 0; step < steps; step++) {
    signal?.throwIfAborted();
    // Multiples of the golden ratio are spread evenly, however many there are.
    const starts = Array.from(
      { length: batch },
      (_, part) => (((step * batch + part + seed) * 0.618_033_988_75) % 1) * (ids.length - whole + 1),
    );
    const texts = Uint32Array.from(starts.flatMap((start) => ids.slice(Math.floor(start), Math.floor(start) + whole)));
    using loss = tidy(() => {
      const { value, gradient } = lossAndGradient(adapter, tensor(backend, texts, [batch, whole]));
      clipByNorm(gradient, 1);
      optimizer.step(gradient);
      return value;
    });
    losses.push(await loss.item());
    onStep?.(step + 1, losses.at(-1) as number);
  }
  return { adapter, losses };
}
