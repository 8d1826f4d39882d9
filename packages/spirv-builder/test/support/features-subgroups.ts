import { StorageClass, type SubgroupOperation } from '../../src/index.ts';
import { bits, type Feature, feature, ramp, zeros } from './feature.ts';

const BLOCKS = [8, 16].flatMap((lanes) =>
  ([16, 32] as const).flatMap((width) => ([1, 2, 4, 8] as const).map((count) => ({ lanes, width, count }))),
);

/** u16 or u32, as words of memory. */
function words(width: 16 | 32, numbers: readonly number[]): number[] {
  return width === 32 ? [...numbers] : [...new Uint32Array(new Uint16Array(numbers).buffer)];
}

/** The values that each work-item read by itself, after the block; and after that a block of the values that each loaded. */
function block({ lanes, width, count }: (typeof BLOCKS)[number]): Feature {
  const length = lanes * count;
  const numbers = ramp(length, 1000);
  const read = ramp(length).map((place) => numbers[(place % count) * lanes + Math.floor(place / count)] ?? 0);
  const written = ramp(length).map((place) => numbers[(place % lanes) * count + Math.floor(place / lanes)] ?? 0);
  return feature(
    `sub-groups of ${lanes}: blocks of ${count} x u${width}`,
    words(width, [...numbers, ...zeros(2 * length)]),
    words(width, [...numbers, ...read, ...written]),
    (k, data) => {
      const integer = k.types.int(width);
      const type = count === 1 ? integer : k.types.vector(integer, count);
      const first = k.bitcast(data, k.types.pointer(StorageClass.CrossWorkgroup, integer));
      const own = k.mul(k.localId(0), count);
      const share = k.subgroupBlockRead(first, type);
      const target = k.bitcast(k.at(first, k.add(own, length)), k.types.pointer(StorageClass.CrossWorkgroup, type));
      k.store(target, share);
      const source = k.bitcast(k.at(first, own), k.types.pointer(StorageClass.CrossWorkgroup, type));
      k.subgroupBlockWrite(k.at(first, 2 * length), k.load(source));
    },
    { items: lanes, needsSubgroups: true, kernel: { subgroupSize: lanes } },
  );
}

const [WORDS, FLOATS] = [
  [7, 3, 2 ** 32 - 1, 9, 2 ** 31, 5, 2 ** 31 - 1, 8],
  [1, -2, 0.5, 8, -4, 3, 2, 6],
];

/** An operation, what the eight work-items hold, and what they all get. */
const REDUCTIONS: readonly (readonly [SubgroupOperation, readonly number[], number])[] = [
  ['iadd', WORDS, 30],
  ['umin', WORDS, 3],
  ['smin', WORDS, 2 ** 31],
  ['umax', WORDS, 2 ** 32 - 1],
  ['smax', WORDS, 2 ** 31 - 1],
  ['fadd', bits(...FLOATS), bits(14.5)[0] as number],
  ['fmin', bits(...FLOATS), bits(-4)[0] as number],
  ['fmax', bits(...FLOATS), bits(8)[0] as number],
];

export const SUBGROUPS: readonly Feature[] = [
  ...REDUCTIONS.map(([operation, values, result]) =>
    feature(
      `sub-group reduction: ${operation}`,
      values,
      values.map(() => result),
      (k, data) => {
        const own = k.at(data, k.localId(0));
        const type = operation.startsWith('f') ? k.types.float(32) : k.types.int(32);
        k.store(own, k.bitcast(k.subgroupReduce(operation, k.bitcast(k.load(own), type)), k.types.int(32)));
      },
      { items: 8, needsSubgroups: true },
    ),
  ),
  feature(
    'sub-group broadcast and shuffle',
    ramp(8, 1),
    [10, 9, 8, 7, 6, 5, 4, 3],
    (k, data) => {
      const own = k.at(data, k.localId(0));
      const value = k.load(own);
      const other = k.subgroupShuffle(value, k.sub(7, k.subgroupLocalId()));
      k.store(own, k.add(other, k.subgroupBroadcast(value, 1)));
    },
    { items: 8, needsSubgroups: true },
  ),
  ...BLOCKS.map(block),
  feature(
    'blocks of floats',
    bits(...ramp(16)),
    bits(...ramp(16).map((x) => x / 2)),
    (k, data) => {
      const f32 = k.types.float(32);
      const first = k.bitcast(data, k.types.pointer(StorageClass.CrossWorkgroup, f32));
      k.subgroupBlockWrite(first, k.mul(k.subgroupBlockRead(first, k.types.vector(f32, 2)), 0.5));
    },
    { items: 8, needsSubgroups: true, kernel: { subgroupSize: 8 } },
  ),
];
