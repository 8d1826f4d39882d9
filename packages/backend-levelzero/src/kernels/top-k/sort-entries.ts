import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/** Work-items of a group. */
export const SORT_GROUP = 256;

/**
 * Of `size` entries in workgroup memory, sorts each `room` neighbours, the greatest first (K. E. Batcher, "Sorting networks
 * and their applications", AFIPS 1968: the bitonic network, in the form in which the first step of each size compares mirror
 * images, so that all runs are in one direction). Barriers come before each step and at the end.
 *
 * @param entries - an array of u64
 * @param self - the number of the work-item in its group, u32
 */
export function sortEntries(k: FunctionBuilder, entries: Value, self: Value, size: number, room: number): void {
  const u32 = k.types.int(32);
  const pairs = size / 2;
  k.whileLoop(
    [k.constant(u32, 2)],
    ([run]) => k.ule(run as Value, room),
    ([run]) => {
      k.whileLoop(
        [k.lshr(run as Value, 1)],
        ([stride]) => k.ne(stride as Value, 0),
        ([stride]) => {
          k.barrier();
          for (let first = 0; first < pairs; first += SORT_GROUP) {
            const pair = k.add(self, first);
            const step = (): void => comparePair(k, entries, pair, run as Value, stride as Value);
            if (first + SORT_GROUP > pairs) k.when(k.ult(pair, pairs), step);
            else step();
          }
          return [k.lshr(stride as Value, 1)];
        },
      );
      return [k.shl(run as Value, 1)];
    },
  );
  k.barrier();
}

function comparePair(k: FunctionBuilder, entries: Value, pair: Value, run: Value, stride: Value): void {
  const u64 = k.types.int(64);
  const a = k.sub(k.shl(pair, 1), k.and(pair, k.sub(stride, 1)));
  const isMirrored = k.eq(k.shl(stride, 1), run);
  const b = k.select(isMirrored, k.xor(a, k.sub(run, 1)), k.add(a, stride));
  const [placeOfA, placeOfB] = [k.at(entries, k.uconvert(a, u64)), k.at(entries, k.uconvert(b, u64))];
  const [x, y] = [k.load(placeOfA), k.load(placeOfB)];
  k.when(k.ugt(y, x), () => {
    k.store(placeOfA, y);
    k.store(placeOfB, x);
  });
}
