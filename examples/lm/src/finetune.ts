import { readFile } from 'node:fs/promises';
import type { ComputeBackend } from '@concord/backend-core';
import {
  type CommandContext,
  deviceText,
  EXIT,
  factLines,
  progressOn,
  UserError,
  withBackend,
  writeResult,
} from '@concord/example-command';
import { adamW, clipByNorm, valueAndGrad } from '@concord/grad';
import * as o from '@concord/ops';
import { QuantizedTensor, type Tensor, tidy } from '@concord/ops';
import { fileSource, saveSafetensors } from '@concord/ops/node';
import type { Config } from './config.ts';
import { logitsOf } from './logits.ts';
import type { ModelFiles } from './model.ts';
import type { Options } from './program.ts';
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
const isTransposed = (name: string): boolean => name.includes('c_attn');

/** An adapter that adds nothing yet. */
export function newAdapter(backend: ComputeBackend, named: NamedWeights, rank: number, seed: number): Adapter {
  return tidy(() => {
    const pairs = Object.entries(named).filter(([name]) => ADAPTED.test(name));
    return Object.fromEntries(
      pairs.flatMap(([name, { shape }], index) => {
        const [rows = 0, columns = 0] = shape;
        const [to, from] = isTransposed(name) ? [columns, rows] : [rows, columns];
        const [a, b] = namesOf(name);
        const std = 1 / Math.sqrt(from);
        return [
          [a, o.randomNormal(backend, [rank, from], { seed: seed + index, std })],
          [b, o.zeros(backend, [to, rank])],
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
      return [name, weight instanceof QuantizedTensor ? weight : o.reshape(weight, weight.shape)];
    used += 2;
    if (weight instanceof QuantizedTensor) throw new UserError('BAD_ADAPTER', `${name} is quantized`);
    const product = isTransposed(name) ? o.matmul(o.transpose(a), o.transpose(b)) : o.matmul(b, a);
    if (product.shape.join() !== weight.shape.join())
      throw new UserError('BAD_ADAPTER', `${name} is [${weight.shape.join()}], its adapter [${product.shape.join()}]`);
    return [name, o.add(weight, weight.dtype === 'f32' ? product : o.cast(product, weight.dtype))];
  });
  if (used < Object.keys(adapter).length) throw new UserError('BAD_ADAPTER', 'the adapter is of another model');
  return Object.fromEntries(entries) as NamedWeights;
}

/** The mean loss of each token of texts after its first, `[batch, length + 1]`, with an adapter. */
export function adapterLoss(adapter: Adapter, named: NamedWeights, config: Config, texts: Tensor): Tensor {
  const [batch = 1, length = 1] = texts.shape;
  const weights = weightsOf(adapted(named, adapter), config);
  const part = (first: number): Tensor => o.copy(o.slice(texts, [null, [first, first + length - 1]]));
  const logits = logitsOf(config, weights, part(0));
  weights.dispose();
  return o.crossEntropy(o.reshape(logits, [batch * (length - 1), -1]), o.reshape(part(1), [-1]));
}

/** What adds an adapter of a file to weights, and disposes both. */
export async function adapterOf(backend: ComputeBackend, path: string): Promise<(named: NamedWeights) => NamedWeights> {
  // A plain object: that of a file throws for names that it lacks.
  const adapter: Adapter = { ...(await o.loadSafetensors(backend, fileSource(path))) };
  return (named) => {
    const own = adapted(named, adapter);
    const done = Object.values(named).filter((each) => !(each instanceof QuantizedTensor));
    for (const each of [...Object.values(adapter), ...done]) each.dispose();
    return own;
  };
}

/** Of each step: parts of the text, and tokens of each. */
const SHAPE = { rank: 8, rate: 5e-3, batch: 4, length: 64 };

/**
 * Fits an adapter to a text, and writes it.
 *
 * @throws {UserError} NO_ADAPTER, NO_TEXT; BAD_ADAPTER for a model without weights of floats to adapt
 */
export async function finetune(
  path: string,
  { tokenizer, config, read }: ModelFiles,
  { backend: wanted, adapter: to, steps, seed, json = false }: Options,
  { stdout, stderr, signal }: CommandContext,
): Promise<number> {
  if (to === undefined) throw new UserError('NO_ADAPTER', '--finetune needs --adapter, the file to write');
  const text = await readFile(path, 'utf8').catch(() => '');
  const { ids } = tokenizer.encode(text, { add_special_tokens: false });
  const { rank, rate, batch } = SHAPE;
  const whole = Math.min(SHAPE.length, config.context) + 1;
  if (ids.length < whole) throw new UserError('NO_TEXT', `${path} has ${ids.length} tokens, a step takes ${whole}`);
  return withBackend(wanted, [{ op: 'gemm' }, { op: 'attention' }, { op: 'run' }], async (backend) => {
    const stored = await read(backend, { signal, onProgress: () => undefined });
    const wide = Object.entries(stored).map(([name, x]) => [name, x instanceof QuantizedTensor ? x : o.cast(x, 'f32')]);
    const named = Object.fromEntries(wide) as NamedWeights;
    const adapter = newAdapter(backend, named, rank, seed);
    if (Object.keys(adapter).length === 0) throw new UserError('BAD_ADAPTER', 'the model has no weights to adapt');
    using optimizer = adamW(adapter, { rate, decay: 0 });
    const lossAndGradient = valueAndGrad((own: Adapter, texts: Tensor) => adapterLoss(own, named, config, texts));
    const progress = progressOn(stderr, 'steps');
    const losses: number[] = [];
    // Multiples of the golden ratio are spread evenly, however many there are.
    const part = (at: number): number[] => {
      const start = Math.floor(((at * 0.618_033_988_75) % 1) * (ids.length - whole + 1));
      return ids.slice(start, start + whole);
    };
    for (let step = 0; step < steps; step++) {
      signal.throwIfAborted();
      const parts = Array.from({ length: batch }, (_, index) => part(step * batch + index + seed));
      using loss = tidy(() => {
        const texts = o.tensor(backend, Uint32Array.from(parts.flat()), [batch, whole]);
        const { value, gradient } = lossAndGradient(adapter, texts);
        clipByNorm(gradient, 1);
        optimizer.step(gradient);
        return value;
      });
      losses.push(await loss.item());
      progress.update(step + 1, steps, `loss ${losses.at(-1)?.toFixed(4)}`);
    }
    progress.stop();
    await saveSafetensors(to, adapter);
    for (const each of new Set([adapter, stored, named].flatMap((all) => Object.values(all)))) each.dispose();
    writeResult(stdout, json, { adapter: to, ...SHAPE, steps, seed, tokens: ids.length, losses }, () =>
      factLines({
        Loss: `${losses[0]?.toFixed(3)} to ${losses.at(-1)?.toFixed(3)} in ${steps} steps over ${ids.length} tokens`,
        Adapter: to,
        Backend: deviceText(backend),
      }),
    );
    return EXIT.ok;
  });
}
