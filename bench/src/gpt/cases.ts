import type { FloatDType } from '@concord/backend-core';
import type { Config } from '@concord/example-gpt';
import type { PreparedModel } from '../models/measure.ts';
import type { ContestantResult } from '../results.ts';

/** A model and the work that it is timed with. */
export interface GptSize {
  readonly config: Config;
  /** Tokens in the cache before the one that is decoded. */
  readonly cached: number;
  /** Texts, and tokens of each, that are understood at once. */
  readonly prefills: readonly (readonly [batch: number, length: number])[];
}

/**
 * Values of `--size`: GPT-2 of 124 million weights; the model that `examples/gpt` trains, of 2 million; one for a software
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
export type GptMode = 'pipelined' | 'read each' | 'growing';

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
      { ...token, name: `${dtype} from ${cached} on`, mode: 'growing' },
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
