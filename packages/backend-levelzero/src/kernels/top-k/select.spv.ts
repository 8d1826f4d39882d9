import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { SORT_ENTRIES, type TopKSource } from '@concord/variants';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { elementOf, entryOf, keyOf, type Part, partOf, passParameters, wholeRow } from './lane.spv.ts';

/** Work-items of a group. */
const SORT_GROUP = 256;

/**
 * Sorts each `room` neighbours of `size` entries in workgroup memory, the greatest first (K. E. Batcher, "Sorting
 * networks and their applications", AFIPS 1968: the bitonic network, in the form in which the first step of each size
 * compares mirror images, so that all runs are in one direction). Barriers come before each step and at the end.
 *
 * @param entries - an array of u64
 * @param self - the number of the work-item in its group, u32
 */
function sortEntries(k: FunctionBuilder, entries: Value, self: Value, size: number, room: number): void {
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

/** Selects the best of short rows, of one part each: a group sorts as many of them as its memory has room for. For GPUs. */
export const sort: (params: { source: TopKSource; room: number }) => Kernel = variants(({ source, room }) =>
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

/** Elements that a work-item looks at in one step. */
const ELEMENTS_PER_STEP = 8;

/**
 * Selects the best of a part of any length by a group that reads it once, for GPUs. The k best so far are at the start of an
 * array in workgroup memory; what is better than the worst of them is put after them, wherever there is room, and when there
 * is none the whole array is sorted. Of elements in random order few come that far.
 */
export const select: (params: { source: TopKSource; size: number }) => Kernel = variants(({ source, size }) =>
  defineKernel<string>({
    name: `top-k/select ${source} ${size}`,
    parameters: passParameters(source),
    groupSize: [SORT_GROUP, 1, 1],
    write: (k, { args }) => {
      const [u32, u64] = [k.types.int(32), k.types.int(64)];
      const self = k.uconvert(k.localId(0), u32);
      const part = partOf(k, source, args, groupIndex(k));
      const list = new BestSoFar(k, size, self, args['k'] as Value);
      list.clear();
      k.forLoop({ to: part.count, step: SORT_GROUP * ELEMENTS_PER_STEP }, [k.constant(u64, 0)], (start, [before]) => {
        const drawn = loadStep(k, part, k.add(start, self), args['flip'] as Value);
        const entries = drawn.map((entry) => betterThan(k, entry, before as Value));
        return [list.take(entries, before as Value)];
      });
      list.sort();
      k.forLoop({ from: self, to: part.size, step: SORT_GROUP }, [], (rank) => {
        part.store(rank, elementOf(k, list.entry(rank)));
      });
    },
  }),
);

/** The entries of a work-item in one step, from its first element on. */
function loadStep(k: FunctionBuilder, { input, count }: Part, first: Value, flip: Value): Value[] {
  const u64 = k.types.int(64);
  const last = k.sub(count, 1);
  const places = Array.from({ length: ELEMENTS_PER_STEP }, (_, element) => k.add(first, element * SORT_GROUP));
  const loaded = places.map((at) => k.load(k.at(input, k.uconvert(k.math('u_min', at, last), u64))));
  return places.map((at, element) =>
    k.select(k.ult(at, count), entryOf(k, keyOf(k, loaded[element] as Value, flip), at), k.constant(u64, 0)),
  );
}

function betterThan(k: FunctionBuilder, entry: Value, worst: Value): Value {
  return k.select(k.ugt(entry, worst), entry, k.constant(entry.type, 0));
}

/** The array in workgroup memory: the best so far, sorted, and after them what may be better than some of them. */
class BestSoFar {
  readonly #k: FunctionBuilder;
  readonly #size: number;
  readonly #self: Value;
  /** The number of wanted elements. */
  readonly #wanted: Value;
  readonly #entries: Value;
  /** The number of those after the best, including those without room. */
  readonly #filled: Value;

  constructor(k: FunctionBuilder, size: number, self: Value, wanted: Value) {
    this.#k = k;
    this.#size = size;
    this.#self = self;
    this.#wanted = wanted;
    this.#entries = k.localArray(k.types.int(64), size);
    this.#filled = k.at(k.localArray(k.types.int(32), 1), 0);
  }

  entry(at: Value): Value {
    return this.#k.load(this.#placeOf(at));
  }

  clear(): void {
    const k = this.#k;
    this.#clearFrom(k.constant(k.types.int(32), 0));
  }

  sort(): void {
    sortEntries(this.#k, this.#entries, this.#self, this.#size, this.#size);
  }

  /**
   * Takes the entries of each work-item that are not 0, however many. All work-items must call it.
   *
   * @param worst - the worst of the best so far
   * @returns the worst of the best, after what was sorted meanwhile
   */
  take(entries: readonly Value[], worst: Value): Value {
    const k = this.#k;
    const room = k.sub(k.constant(k.types.int(32), this.#size), this.#wanted);
    const [after] = k.whileLoop(
      [worst, ...this.#put(entries)],
      ([, came]) => k.ugt(came as Value, room),
      (carried) => {
        const [, , ...left] = carried;
        this.sort();
        const better = this.entry(k.sub(this.#wanted, 1));
        this.#clearFrom(this.#wanted);
        return [better, ...this.#put(left.map((entry) => betterThan(k, entry, better)))];
      },
    );
    return after as Value;
  }

  /** Puts entries where there is room; how many came, and those that found none. */
  #put(entries: readonly Value[]): [came: Value, ...left: Value[]] {
    const k = this.#k;
    const u32 = k.types.int(32);
    const none = k.constant(u32, 0);
    const counts = entries.map((entry) => k.select(k.ne(entry, 0), k.constant(u32, 1), none));
    const own = counts.reduce((sum, count) => k.add(sum, count));
    const left = k.ifElse(
      k.ne(own, 0),
      () => {
        let slot = k.add(this.#wanted, k.atomic('add', this.#filled, own));
        return entries.map((entry, element) => {
          const fits = k.and(k.ne(entry, 0), k.ult(slot, this.#size));
          const place = this.#placeOf(slot);
          k.when(fits, () => k.store(place, entry));
          slot = k.add(slot, counts[element] as Value);
          return k.select(fits, k.constant(entry.type, 0), entry);
        });
      },
      () => entries,
    );
    k.barrier();
    const came = k.load(this.#filled);
    k.barrier();
    return [came, ...left];
  }

  #clearFrom(first: Value): void {
    const k = this.#k;
    const size = k.constant(k.types.int(32), this.#size);
    k.forLoop({ from: k.add(first, this.#self), to: size, step: SORT_GROUP }, [], (slot) => {
      k.store(this.#placeOf(slot), k.constant(k.types.int(64), 0));
    });
    k.when(k.eq(this.#self, 0), () => k.store(this.#filled, k.constant(k.types.int(32), 0)));
    k.barrier();
  }

  #placeOf(at: Value): Value {
    return this.#k.at(this.#entries, this.#k.uconvert(at, this.#k.types.int(64)));
  }
}
