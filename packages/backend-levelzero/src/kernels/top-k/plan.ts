import type { ResolvedTopK } from '@concord/backend-core/implement';
import { type Family, MAX_CHUNK, TOP_K_SOURCES, type TopKInput, type TopKOutput, topKTables } from '@concord/variants';
import { gridOf, MIN_RUN, RUNS_PER_THREAD } from '../work.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, Recorder } from '../recorder.ts';
import { lane } from './lane.spv.ts';
import { select, sort } from './select.spv.ts';

/** Groups that keep a core of a GPU busy. */
const GROUPS_PER_UNIT = 8;

/** Kernels that select: by a work-item for each part on processors, by groups on GPUs. */
const tables = topKTables<DeviceMemory, Recorder, Kernel>(
  {
    id: 'top-k/lane',
    kernelsFor: ({ isCpuLike }) => (isCpuLike ? TOP_K_SOURCES.map((source) => lane({ source })) : []),
    offer: ({ rows, length, k }, { isCpuLike, computeUnits }) => {
      if (!isCpuLike) return undefined;
      const wanted = Math.ceil((rows * length) / (computeUnits * RUNS_PER_THREAD));
      return { chunk: Math.min(length, MAX_CHUNK, Math.max(wanted, MIN_RUN, 2 * k)) };
    },
    kernelOf: (_chunk, _k, source) => ({ kernel: lane({ source }), perGroup: 1 }),
  },
  { sort, select, groupsOf: ({ isCpuLike, computeUnits }) => (isCpuLike ? 0 : GROUPS_PER_UNIT * computeUnits) },
  ({ from, into }, { kernel, groups, variant, numbers }, recorder) =>
    recorder.launch({
      kernel,
      args: { ...from, ...into, ...numbers },
      groups: gridOf(groups, recorder.traits),
      variant,
    }),
);

/** Largest k that kernels have room for. */
export const MAX_K = 256;

/** topK. */
export const topKFamily: Family<'topK', DeviceMemory, Recorder, Kernel> = {
  kernel: 'topK',
  dtypes: ['f32'],
  plan: planTopK,
  tables: [tables],
};

/**
 * Selects in passes: each takes the k best of each part of a row, in order, until there is one part. A part is twice as long
 * as k at least, so the list gets shorter.
 */
export function planTopK(call: ResolvedTopK<DeviceMemory>, recorder: Recorder): void {
  const { rows, columns, k, largest, input, values, indices } = call;
  let from: TopKInput<DeviceMemory> = { input };
  let length = columns;
  for (;;) {
    const lists = { rows, length, k };
    const variant = tables.choose(lists, recorder);
    const parts = Math.ceil(length / variant.chunk);
    const isLast = parts === 1;
    const results = (parts - 1) * k + Math.min(k, length - (parts - 1) * variant.chunk);
    const bytes = rows * results * 4;
    const into: TopKOutput<DeviceMemory> = isLast
      ? { values, indices }
      : { values: recorder.scratch(bytes), indices: recorder.scratch(bytes) };
    tables.launch({ lists, largest, results, base: 0, from, into }, variant, recorder);
    if (isLast) return;
    from = { input: into.values, places: into.indices };
    length = results;
  }
}
