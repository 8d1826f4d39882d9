import type { ResolvedTopK } from '@concord/backend-core/implement';
import type { Family } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, Recorder } from '../recorder.ts';
import { type From, type Into, topKTables } from './tables.ts';

/** Largest k that kernels have room for. */
export const MAX_K = 256;

/** topK. */
export const topKFamily: Family<'topK', DeviceMemory, Recorder, Kernel> = {
  kernel: 'topK',
  dtypes: ['f32'],
  plan: planTopK,
  tables: [topKTables],
};

/**
 * Selects in passes: each takes the k best of each part of a row, in order, until there is one part. A part is twice as long
 * as k at least, so the list gets shorter.
 */
export function planTopK(call: ResolvedTopK<DeviceMemory>, recorder: Recorder): void {
  const { rows, columns, k, largest, input, values, indices } = call;
  let from: From = { input };
  let length = columns;
  for (;;) {
    const lists = { rows, length, k };
    const variant = topKTables.choose(lists, recorder);
    const parts = Math.ceil(length / variant.chunk);
    const isLast = parts === 1;
    const results = (parts - 1) * k + Math.min(k, length - (parts - 1) * variant.chunk);
    const bytes = rows * results * 4;
    const into: Into = isLast
      ? { values, indices }
      : { values: recorder.scratch(bytes), indices: recorder.scratch(bytes) };
    topKTables.launch({ pass: { largest, results }, lists, from, into }, variant, recorder);
    if (isLast) return;
    from = { input: into.values, places: into.indices };
    length = results;
  }
}
