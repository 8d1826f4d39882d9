import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { ParameterType } from '../kernel.ts';
import { type Fold, foldParameters } from './fold.spv.ts';

/**
 * Parameters of every kernel that reduces: input `[outer, length, inner]`, output `[outer, parts, inner]`, both packed,
 * where part p covers `chunk` steps of the axis from `p * chunk` on, the last one perhaps fewer.
 */
export function partParameters(fold: Fold): Readonly<Record<string, ParameterType>> {
  return {
    input: 'f32*',
    output: 'f32*',
    items: 'u64',
    parts: 'u64',
    length: 'u64',
    chunk: 'u64',
    ...foldParameters(fold),
  };
}

/** One part of one slab: steps of the axis. */
export interface Part {
  /** Number of the first step, counted through all slabs. */
  readonly first: Value;
  readonly count: Value;
}

/** Part `index`, counted through all slabs. */
export function partOf(k: FunctionBuilder, args: Readonly<Record<string, Value>>, index: Value): Part {
  const { parts, length, chunk } = args as Readonly<Record<'parts' | 'length' | 'chunk', Value>>;
  const slab = k.udiv(index, parts);
  const start = k.mul(k.sub(index, k.mul(slab, parts)), chunk);
  const count = k.math('u_min', chunk, k.sub(length, start));
  return { first: k.add(k.mul(slab, length), start), count };
}

/** How many of `count` steps a mate has that takes every `team`-th. */
export function shareOf(k: FunctionBuilder, count: Value, mate: Value, team: Value): Value {
  const left = k.add(k.sub(count, mate), k.sub(team, 1));
  return k.select(k.ult(mate, count), k.udiv(left, team), k.constant(count.type, 0));
}
