import { type FloatDType, fromF16Array, toF16Array } from '@concord/backend-core';
import type { Config } from '@concord/example-gpt';
import { noise } from '@concord/cli/bench';

/** Elements in both forms: as numbers, and as a device stores them, which is the bits of f16. */
export interface Elements {
  readonly numbers: Float32Array;
  readonly stored: Float32Array | Uint16Array;
}

/** A weight, the same for all contestants. */
export interface Weight {
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
