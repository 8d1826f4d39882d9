import type { ResolvedTopK } from '@concord/backend-core/implement';
import { type Family, pickVariant } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, Recorder } from '../recorder.ts';
import { allKernels, type From, type Into, launchPass } from './launch.ts';
import { VARIANT_IDS, variantsFor } from './variant.ts';

export { MAX_K } from './variant.ts';

/** topK. */
export const topKFamily: Family<'topK', DeviceMemory, Recorder, Kernel> = {
  kernel: 'topK',
  dtypes: ['f32'],
  plan: planTopK,
  tables: [{ ids: VARIANT_IDS, kernelsFor: allKernels }],
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
    const variant = pickVariant(recorder, variantsFor(lists, recorder.traits));
    const parts = Math.ceil(length / variant.chunk);
    const isLast = parts === 1;
    const results = (parts - 1) * k + Math.min(k, length - (parts - 1) * variant.chunk);
    const bytes = rows * results * 4;
    const into: Into = isLast
      ? { values, indices }
      : { values: recorder.scratch(bytes), indices: recorder.scratch(bytes) };
    launchPass({ variant, largest, results }, lists, from, into, recorder);
    if (isLast) return;
    from = { input: into.values, places: into.indices };
    length = results;
  }
}
