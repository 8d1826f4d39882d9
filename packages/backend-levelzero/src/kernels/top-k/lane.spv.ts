import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { acrossLanes } from '../arithmetic/across-lanes.ts';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { elementOf, entryOf, keyOf, keyOfEntry, type Part, partOf, passParameters, type Source } from './pass.spv.ts';

/** Entries that a work-item has room for. */
export const LANE_ROOM = 256;
/** Elements that are looked at together, to find out whether any of them is better than the worst that is kept. */
const WIDTH = 16;

/**
 * Selects the best of a part by one work-item, which keeps them in a heap with the worst on top: most elements cost
 * a sixteenth of a comparison with it. For CPUs.
 */
export const lane: (params: { source: Source }) => Kernel = variants(({ source }) =>
  defineKernel<string>({
    name: `top-k/lane ${source}`,
    parameters: passParameters(source),
    groupSize: [1, 1, 1],
    write: (k, { args }) => {
      const [u32, u64] = [k.types.int(32), k.types.int(64)];
      const item = groupIndex(k);
      k.when(k.ult(item, args['items'] as Value), () => {
        const part = partOf(k, source, args, item);
        const heap = k.privateArray(u64, LANE_ROOM);
        k.forLoop({ to: part.size }, [], (at) => k.store(k.at(heap, k.uconvert(at, u64)), k.constant(u64, 0)));
        const kept = { heap, size: part.size, flip: args['flip'] as Value };
        const whole = k.and(part.count, -WIDTH);
        const none = k.constant(u32, 0);
        const [before] = k.forLoop({ to: whole, step: WIDTH }, [none], (start, [worst]) => {
          const bits = k.loadVector(k.at(part.input, k.uconvert(start, u64)), WIDTH);
          const best = acrossLanes(k, keyOf(k, bits, kept.flip), (_, a, b) => k.math('u_max', a, b));
          return k.ifElse(
            k.ugt(best, worst as Value),
            () => keepBetter(k, part, kept, start, k.add(start, WIDTH), worst as Value),
            () => [worst as Value],
          );
        });
        keepBetter(k, part, kept, whole, part.count, before as Value);
        k.forLoop({ to: part.size }, [], (rank) => {
          const left = k.sub(k.sub(part.size, 1), rank);
          part.store(left, elementOf(k, k.load(k.at(heap, 0))));
          replaceWorst(k, heap, k.load(k.at(heap, k.uconvert(left, u64))), left);
        });
      });
    },
  }),
);

interface Kept {
  readonly heap: Value;
  readonly size: Value;
  readonly flip: Value;
}

/** Keeps those of some elements that are better than the worst that is kept; the key of the worst after that. */
function keepBetter(
  k: FunctionBuilder,
  { input }: Part,
  { heap, size, flip }: Kept,
  from: Value,
  to: Value,
  worst: Value,
): readonly Value[] {
  return k.forLoop({ from, to }, [worst], (at, [min]) => {
    const key = keyOf(k, k.load(k.at(input, k.uconvert(at, k.types.int(64)))), flip);
    return k.ifElse(
      k.ugt(key, min as Value),
      () => {
        replaceWorst(k, heap, entryOf(k, key, at), size);
        return [keyOfEntry(k, k.load(k.at(heap, 0)))];
      },
      () => [min as Value],
    );
  });
}

/** Puts an entry into the place of the worst of the first `size`, and the worst of those on top. */
function replaceWorst(k: FunctionBuilder, heap: Value, entry: Value, size: Value): void {
  const u64 = k.types.int(64);
  const zero = k.constant(size.type, 0);
  const placeOf = (at: Value): Value => k.at(heap, k.uconvert(at, u64));
  const below = (at: Value): Value => k.add(k.shl(at, 1), 1);
  // `child` is where the worse of two is that are below `at`; `size` where the way ends.
  const [end] = k.whileLoop(
    [zero, k.add(zero, 1)],
    ([, child]) => k.ult(child as Value, size),
    ([at, child]) => {
      const other = k.math('u_min', k.add(child as Value, 1), k.sub(size, 1));
      const [x, y] = [k.load(placeOf(child as Value)), k.load(placeOf(other))];
      const worse = k.select(k.ult(y, x), other, child as Value);
      const moved = k.math('u_min', x, y);
      return k.ifElse(
        k.ult(moved, entry),
        () => {
          k.store(placeOf(at as Value), moved);
          return [worse, below(worse)];
        },
        () => [at as Value, size],
      );
    },
  );
  k.store(placeOf(end as Value), entry);
}
