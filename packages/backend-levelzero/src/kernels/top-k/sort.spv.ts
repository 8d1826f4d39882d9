import type { Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { elementOf, entryOf, keyOf, type Part, passParameters, type Source, wholeRow } from './pass.spv.ts';
import { SORT_GROUP, sortEntries } from './sort-entries.ts';

/** Elements in the memory of a group. */
export const SORT_ENTRIES = 1024;
/** Elements that are sorted together: one row has room in it. */
export const SORT_ROOMS: readonly number[] = [16, 64, 256, 1024];

/** Selects the best of short rows, of one part each: a group sorts as many of them as its memory has room for. For GPUs. */
export const sort: (params: { source: Source; room: number }) => Kernel = variants(({ source, room }) =>
  defineKernel<string>({
    name: `top-k/sort ${source} ${room}`,
    parameters: passParameters(source),
    groupSize: [SORT_GROUP, 1, 1],
    write: (k, { args }) => {
      const [u32, u64] = [k.types.int(32), k.types.int(64)];
      const entries = k.localArray(u64, SORT_ENTRIES);
      const self = k.uconvert(k.localId(0), u32);
      const first = k.mul(groupIndex(k), SORT_ENTRIES / room);
      // Unrolled, the addresses of all slots would be kept through the sorting, in more registers than there are.
      const slots = { from: self, to: k.constant(u32, SORT_ENTRIES), step: SORT_GROUP, unroll: 'dont-unroll' } as const;
      const forEachSlot = (visit: (place: Value, part: Part, rank: Value) => void): void => {
        k.forLoop(slots, [], (slot) => {
          const row = k.add(first, k.uconvert(k.lshr(slot, Math.log2(room)), u64));
          visit(k.at(entries, k.uconvert(slot, u64)), wholeRow(k, source, args, row), k.and(slot, room - 1));
        });
      };
      forEachSlot((place, { count, input }, rank) => {
        const [entry] = k.ifElse(
          k.ult(rank, count),
          () => {
            const key = keyOf(k, k.load(k.at(input, k.uconvert(rank, u64))), args['flip'] as Value);
            return [entryOf(k, key, rank)];
          },
          () => [k.constant(u64, 0)],
        );
        k.store(place, entry as Value);
      });
      sortEntries(k, entries, self, SORT_ENTRIES, room);
      forEachSlot((place, { size, store }, rank) => {
        k.when(k.ult(rank, size), () => store(rank, elementOf(k, k.load(place))));
      });
    },
  }),
);
