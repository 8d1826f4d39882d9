import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { ofType, type TopKSource } from '@concord/variants';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import { acrossLanes } from '../arithmetic/across-lanes.ts';
import { groupIndex } from '../work.ts';

/**
 * Parameters of a pass over packed rows of `length` elements. A row has `parts` of `chunk` elements, the last one perhaps
 * fewer; `items` is rows times parts. Of each part the `k` best are stored (or all, if it has no more), the best first, those
 * of a part after those of the part before, those of a row `results` after those of the row before.
 *
 * `flip` inverts all bits of keys where the smallest are the best.
 *
 * Of equals the first in a list of candidates is the one of the lower place, as parts are in order.
 */
export function passParameters(source: TopKSource): Readonly<Record<string, ParameterType>> {
  return {
    input: 'u32*',
    ...(source === 'candidates' ? { places: 'u32*' } : {}),
    ...ofType('u32*', 'values indices'),
    ...ofType('u64', 'items parts length chunk results'),
    ...ofType('u32', 'k flip'),
  };
}

/** One part of one row. */
export interface Part {
  /** The first element. */
  readonly input: Value;
  readonly count: Value;
  /** The number of selected elements. */
  readonly size: Value;
  /** Stores element `at` of the part as the one of rank `rank`. */
  readonly store: (rank: Value, at: Value) => void;
}

type Args = Readonly<Record<string, Value>>;

/** Part `item`, counted through all rows. An item beyond the last has no elements. */
export function partOf(k: FunctionBuilder, source: TopKSource, args: Args, item: Value): Part {
  const { parts, length, chunk, items } = args as Readonly<Record<'parts' | 'length' | 'chunk' | 'items', Value>>;
  const row = k.udiv(item, parts);
  const number = k.sub(item, k.mul(row, parts));
  const start = k.mul(number, chunk);
  const count = k.select(k.ult(item, items), k.math('u_min', chunk, k.sub(length, start)), 0);
  return partAt(k, source, args, { row, number, start, count });
}

/** A whole row as a part: where rows have one part each. A row beyond the last has no elements. */
export function wholeRow(k: FunctionBuilder, source: TopKSource, args: Args, row: Value): Part {
  const { length, items } = args as Readonly<Record<'length' | 'items', Value>>;
  const zero = k.constant(row.type, 0);
  return partAt(k, source, args, { row, number: zero, start: zero, count: k.select(k.ult(row, items), length, 0) });
}

type Place = Readonly<Record<'row' | 'number' | 'start' | 'count', Value>>;

function partAt(k: FunctionBuilder, source: TopKSource, args: Args, { row, number, start, count }: Place): Part {
  const [u32, u64] = [k.types.int(32), k.types.int(64)];
  const given = args as Readonly<Record<'input' | 'places' | 'values' | 'indices' | 'length' | 'results' | 'k', Value>>;
  const first = k.add(k.mul(row, given.length), start);
  const result = k.add(k.mul(row, given.results), k.mul(number, k.uconvert(given.k, u64)));
  const input = k.at(given.input, first);
  const elements = k.uconvert(count, u32);
  const placeOf = (at: Value): Value =>
    source === 'elements'
      ? k.add(k.uconvert(start, u32), at)
      : k.load(k.at(given.places, k.add(first, k.uconvert(at, u64))));
  return {
    input,
    count: elements,
    size: k.math('u_min', given.k, elements),
    store: (rank, at) => {
      const to = k.add(result, k.uconvert(rank, u64));
      k.store(k.at(given.values, to), k.load(k.at(input, k.uconvert(at, u64))));
      k.store(k.at(given.indices, to), placeOf(at));
    },
  };
}

/**
 * Numbers in their order, of the bits of one or several: the greater is better, the zeros are equal, all NaN are equal and
 * above Infinity. None is 0.
 */
export function keyOf(k: FunctionBuilder, bits: Value, flip: Value): Value {
  const magnitude = k.and(bits, 0x7fff_ffff);
  const ordered = k.xor(bits, k.or(k.ashr(bits, 31), 0x8000_0000));
  const number = k.select(k.eq(magnitude, 0), k.constant(bits.type, 0x8000_0000), ordered);
  const key = k.select(k.ugt(magnitude, 0x7f80_0000), k.constant(bits.type, 0xffff_fffe), number);
  return k.xor(key, bits.type.kind === 'vector' ? k.splat(bits.type, flip) : flip);
}

/** A key and the number of its element in one u64, of which the greater is better: of equal keys the lower number. 0 is none. */
export function entryOf(k: FunctionBuilder, key: Value, at: Value): Value {
  const u64 = k.types.int(64);
  return k.or(k.shl(k.uconvert(key, u64), 32), k.uconvert(k.not(at), u64));
}

/** The number of an entry's element. */
export function elementOf(k: FunctionBuilder, entry: Value): Value {
  return k.not(k.uconvert(entry, k.types.int(32)));
}

/** The key of an entry. */
function keyOfEntry(k: FunctionBuilder, entry: Value): Value {
  return k.uconvert(k.lshr(entry, 32), k.types.int(32));
}

/** Entries that a work-item has room for. */
const LANE_ROOM = 256;
/** Elements that are looked at together, to find out whether any of them is better than the worst that is kept. */
const WIDTH = 16;

/**
 * Selects the best of a part by one work-item, which keeps them in a heap with the worst on top: most elements cost
 * a sixteenth of a comparison with it. For CPUs.
 */
export const lane: (params: { source: TopKSource }) => Kernel = variants(({ source }) =>
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
