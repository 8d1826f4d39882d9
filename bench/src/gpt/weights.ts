import { type FloatDType, fromF16Array, toF16Array } from '@concord/backend-core';
import type { Config } from '@concord/example-gpt';
import { materialize, noiseArray } from '../limits/noise-array.ts';

/** A weight that everybody gets alike. */
export interface Weight {
  /** As in GPT-2's files. */
  readonly name: string;
  readonly shape: readonly number[];
  /** Its elements, made anew; of f16 those that it can hold. */
  readonly values: (dtype: FloatDType) => Float32Array;
}

/** Noise in [-1, 1) times this has the standard deviation that GPT-2's weights are drawn with, 0.02. */
const SPREAD = 0.035;
/** Seeds of the caches, away from those of the weights. */
const CACHE_SEED = 1000;

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
  return shapes.map(([name, shape], seed) => {
    // The factors of a norm are around 1.
    const center = /ln_\w\.weight$/.test(name) ? 1 : 0;
    return { name, shape, values: (dtype) => rounded(random(sizeOf(shape), seed + 1, center), dtype) };
  });
}

/** Queries, keys and values of a text's first tokens in a layer, `[cached, 3 width]`, random. */
export function cachedRows({ n_embd }: Config, layer: number, cached: number, dtype: FloatDType): Float32Array {
  return rounded(materialize(noiseArray(cached * 3 * n_embd, CACHE_SEED + layer)), dtype);
}

/** Elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((all, each) => all * each, 1);
}

function random(length: number, seed: number, center: number): Float32Array {
  return materialize(noiseArray(length, seed)).map((value) => center + SPREAD * value);
}

function rounded(values: Float32Array, dtype: FloatDType): Float32Array {
  return dtype === 'f16' ? fromF16Array(toF16Array(values)) : values;
}
