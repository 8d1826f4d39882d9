import { type FloatDType, fromF16Array, toF16Array } from '@concord/backend-core';
import { noise } from '@concord/cli/bench';
import type { PreparedModel } from '../models.ts';
import type { ContestantResult } from '../results.ts';

/** The sizes of a GPT-2, by the names of its `config.json`. */
export interface Config {
  readonly vocab_size: number;
  readonly n_positions: number;
  readonly n_embd: number;
  readonly n_layer: number;
  readonly n_head: number;
  readonly layer_norm_epsilon: number;
}

/** A model and the work that it is timed with. */
export interface GptSize {
  readonly config: Config;
  /** Tokens in the cache before the one that is decoded. */
  readonly cached: number;
  /** Texts, and tokens of each, that are understood at once. */
  readonly prefills: readonly (readonly [batch: number, length: number])[];
}

/**
 * Values of `--size`: GPT-2 of 124 million weights; the model that `examples/lm` trains, of 2 million; one for a software
 * device, whose numbers mean nothing.
 */
export const GPT_SIZES: Readonly<Record<string, GptSize>> = {
  small: {
    config: { vocab_size: 50257, n_positions: 1024, n_embd: 768, n_layer: 12, n_head: 12, layer_norm_epsilon: 1e-5 },
    cached: 512,
    prefills: [
      [1, 1024],
      [8, 1024],
    ],
  },
  example: {
    config: { vocab_size: 1024, n_positions: 256, n_embd: 192, n_layer: 4, n_head: 6, layer_norm_epsilon: 1e-5 },
    cached: 128,
    prefills: [[1, 256]],
  },
  tiny: {
    config: { vocab_size: 256, n_positions: 64, n_embd: 64, n_layer: 2, n_head: 4, layer_norm_epsilon: 1e-5 },
    cached: 32,
    prefills: [
      [1, 64],
      [2, 64],
    ],
  },
};

/**
 * Steps follow each other without a wait; each after 4 bytes of the one before were read; or as text is generated, where
 * the likeliest token of a step is the input of the next one, on the device, and the cache grows.
 */
type GptMode = 'pipelined' | 'read each' | 'generating';

/** One work of a model. */
export interface GptCase {
  readonly op: 'gpt_decode' | 'gpt_prefill';
  readonly name: string;
  /** The case of PyTorch's that does the same work. */
  readonly limitName: string;
  readonly config: Config;
  readonly dtype: FloatDType;
  readonly batch: number;
  /** New tokens of each text. */
  readonly length: number;
  /** Tokens before them. */
  readonly cached: number;
  readonly mode: GptMode;
}

/** All work of a size. */
export function gptCases({ config, cached, prefills }: GptSize, dtypes: readonly FloatDType[]): GptCase[] {
  return dtypes.flatMap((dtype) => {
    const token = { op: 'gpt_decode', config, dtype, batch: 1, length: 1, cached, limitName: `${dtype} at ${cached}` };
    return [
      { ...token, name: `${dtype} at ${cached}`, mode: 'pipelined' },
      { ...token, name: `${dtype} at ${cached}, read each`, mode: 'read each' },
      { ...token, name: `${dtype} from ${cached} on`, mode: 'generating' },
      ...prefills.map(([batch, length]) => {
        const name = `${dtype} ${batch}x${length}`;
        return { op: 'gpt_prefill', name, limitName: name, config, dtype, batch, length, cached: 0, mode: 'pipelined' };
      }),
    ] as GptCase[];
  });
}

/** The new tokens of a case, row-major. */
export function tokensOf({ batch, length, config }: GptCase): Uint32Array {
  return Uint32Array.from({ length: batch * length }, (_, i) => (i * 7919 + 5) % config.vocab_size);
}

/** A model on a device. */
export interface GptModel {
  /** Its outputs are the logits `[batch, vocabulary]`. @throws {NotOffered} where it has nothing for this work */
  prepare(gptCase: GptCase): Promise<PreparedModel>;
  close(): Promise<void>;
}

/** A contestant that runs the model. */
export interface GptContestant extends ContestantResult {
  /** Puts the weights of that type on the device. @throws {NotOffered} where it has no such type */
  readonly load: (config: GptCase['config'], dtype: FloatDType) => Promise<GptModel>;
}

/** Elements in both forms: as numbers, and as a device stores them, which is the bits of f16. */
interface Elements {
  readonly numbers: Float32Array;
  readonly stored: Float32Array | Uint16Array;
}

/** A weight, the same for all contestants. */
interface Weight {
  /** As in GPT-2's files. */
  readonly name: string;
  readonly shape: readonly number[];
  /** Its elements, made anew: of f16 those that it can hold. */
  readonly elements: (dtype: FloatDType) => Elements;
}

/** Noise in [-1, 1) times this has the standard deviation that GPT-2's weights are drawn with, 0.02. */
const SPREAD = 0.035;
/** Twice a prime, so that no matrix has rows that repeat with it. A weight is this much noise again and again. */
const BLOCK = 2 * 2_097_143;
/** From where in the noise one weight begins to where the next one does. */
const STRIDE = 1_299_709;
/** Places of the caches' noise, away from those of the weights. */
const FIRST_CACHE = 1000;

/** All weights of a model, random. */
export function gptWeights({ n_embd: d, n_layer, vocab_size, n_positions }: Config): Weight[] {
  const norm = (name: string): [string, number[]][] => [
    [`${name}.weight`, [d]],
    [`${name}.bias`, [d]],
  ];
  const product = (name: string, from: number, to: number): [string, number[]][] => [
    [`${name}.weight`, [from, to]],
    [`${name}.bias`, [to]],
  ];
  const shapes: [string, number[]][] = [
    ['wte.weight', [vocab_size, d]],
    ['wpe.weight', [n_positions, d]],
    ...Array.from({ length: n_layer }, (_, layer) => [
      ...norm(`h.${layer}.ln_1`),
      ...product(`h.${layer}.attn.c_attn`, d, 3 * d),
      ...product(`h.${layer}.attn.c_proj`, d, d),
      ...norm(`h.${layer}.ln_2`),
      ...product(`h.${layer}.mlp.c_fc`, d, 4 * d),
      ...product(`h.${layer}.mlp.c_proj`, 4 * d, d),
    ]).flat(),
    ...norm('ln_f'),
  ];
  return shapes.map(([name, shape], place) => {
    // The factors of a norm are around 1.
    const range: Range = /ln_\w\.weight$/.test(name) ? 'factors' : 'weights';
    return { name, shape, elements: (dtype) => random(sizeOf(shape), place, range, dtype) };
  });
}

/** Queries, keys and values of a text's first tokens in a layer, `[cached, 3 width]`, random in [-1, 1). */
export function cachedRows({ n_embd }: Config, layer: number, cached: number, dtype: FloatDType): Elements {
  return random(cached * 3 * n_embd, FIRST_CACHE + layer, 'rows', dtype);
}

/** Elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((all, each) => all * each, 1);
}

const RANGES = {
  weights: (value: number) => SPREAD * value,
  factors: (value: number) => 1 + SPREAD * value,
  rows: (value: number) => value,
} as const;

type Range = keyof typeof RANGES;

function random(length: number, place: number, range: Range, dtype: FloatDType): Elements {
  const block = blockOf(range, dtype);
  const first = (place * STRIDE) % BLOCK;
  const numbers = repeat(block.numbers, new Float32Array(length), first);
  return { numbers, stored: dtype === 'f16' ? repeat(block.stored, new Uint16Array(length), first) : numbers };
}

const blocks = new Map<string, Elements>();

/** Rounded once: all weights of a model one by one take minutes. */
function blockOf(range: Range, dtype: FloatDType): Elements {
  const key = `${range} ${dtype}`;
  let block = blocks.get(key);
  if (block === undefined) {
    const numbers = noise(BLOCK, 1).map(RANGES[range]);
    const bits = dtype === 'f16' ? toF16Array(numbers) : undefined;
    block = bits === undefined ? { numbers, stored: numbers } : { numbers: fromF16Array(bits), stored: bits };
    blocks.set(key, block);
  }
  return block;
}

/** Fills `into` with a block again and again, which begins at `first`. */
function repeat<T extends Float32Array | Uint16Array>(block: Elements['stored'], into: T, first: number): T {
  for (let done = 0, from = first; done < into.length; from = 0) {
    const part = block.subarray(from, from + into.length - done);
    into.set(part, done);
    done += part.length;
  }
  return into;
}
