import { type FloatDType, fromF16Array, toF16Array } from '@concord/backend-core';
import { noise } from '../noise.ts';

/** Twice a prime: no matrix has rows that repeat with it, and of any type it is whole words. */
const BLOCK = 2 * 2_097_143;
const blocks = new Map<string, Float32Array>();

/** An operand: one block of noise again and again, so that it may be larger than what the host would hold. */
export interface NoiseArray {
  readonly length: number;
  readonly dtype: FloatDType;
  /** The block, or its beginning where it is longer than the array. f16 is rounded to what it can be. */
  readonly block: Float32Array;
  at(index: number): number;
}

/** The operand that a length, a seed and a type stand for, always the same one. */
export function noiseArray(length: number, seed: number, dtype: FloatDType = 'f32'): NoiseArray {
  const block = blockOf(Math.min(length, BLOCK), seed, dtype);
  return { length, dtype, block, at: (index) => block[index % BLOCK] as number };
}

/** All of an operand in one array, for peers that take it so. */
export function materialize({ length, block }: NoiseArray): Float32Array {
  if (length === block.length) return block;
  const all = new Float32Array(length);
  for (let at = 0; at < length; at += block.length) all.set(block.subarray(0, length - at), at);
  return all;
}

function blockOf(length: number, seed: number, dtype: FloatDType): Float32Array {
  const key = `${seed} ${dtype}`;
  let block = blocks.get(key);
  if (block === undefined || block.length < length) {
    block = noise(length, seed);
    if (dtype === 'f16') block = fromF16Array(toF16Array(block));
    blocks.set(key, block);
  }
  return block.subarray(0, length);
}
