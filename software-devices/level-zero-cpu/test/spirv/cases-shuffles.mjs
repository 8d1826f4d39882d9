// @ts-check
// OpGroupNonUniform* and Intel's shuffles, on sub-groups of 8.
import { item } from './item.mjs';
import { each, flag, given, intel, modern, one, sum } from './subgroup-item.mjs';

// Whole sub-groups only: what lanes beyond the end give means nothing.
const whole = given.slice(0, 16);
const both = { ...modern, capabilities: [...modern.capabilities, 'SubgroupDispatch'] };

/** A shuffle by 2, which leaves the lanes alone that have no partner. */
const relative = (
  /** @type {'Up' | 'Down'} */ direction,
  /** @type {string} */ alone,
  /** @type {(lane: number) => number} */ from,
) =>
  item(
    `shuffle ${direction.toLowerCase()}`,
    'i32',
    'i32',
    `%d = OpGroupNonUniformShuffle${direction} %i32 #i32:3 %x #i32:2
      %l = OpLoad %i32 %builtin_SubgroupLocalInvocationId
      %c = ${alone}
      %y = OpSelect %i32 %c %x %d`,
    whole,
    whole.map((_, at) => whole[at - (at % 8) + from(at % 8)] ?? 0),
    both,
  );

/** Intel's, out of two values side by side, where the second is larger by 100 or the first is. */
const intelRelative = (
  /** @type {'Up' | 'Down'} */ direction,
  /** @type {string} */ operands,
  /** @type {number} */ delta,
) =>
  item(
    `Intel shuffle ${direction.toLowerCase()} over two values`,
    'i32',
    'i32',
    `%more = OpIAdd %i32 %x #i32:100\n%y = OpSubgroupShuffle${direction}INTEL %i32 ${operands} #i32:3`,
    whole,
    whole.map((_, at) => {
      const to = (at % 8) + delta;
      return (whole[at - (at % 8) + ((to + 8) % 8)] ?? 0) + (to < 0 || to > 7 ? 100 : 0);
    }),
    intel,
  );

export const shuffles = [
  one(
    'shuffle',
    'f32',
    '%l = OpLoad %i32 %builtin_SubgroupLocalInvocationId\n%p = OpBitwiseXor %i32 %l #i32:1\n%y = OpGroupNonUniformShuffle %f32 #i32:3 %x %p',
    each((lane, all) => all[lane ^ 1] ?? 0),
    both,
  ),
  one(
    'shuffle xor',
    'i32',
    '%y = OpGroupNonUniformShuffleXor %i32 #i32:3 %x #i32:3',
    each((lane, all) => all[lane ^ 3] ?? 0),
    modern,
  ),
  one(
    'shuffle xor of vectors',
    'v2f32',
    '%y = OpGroupNonUniformShuffleXor %v2f32 #i32:3 %x #i32:1',
    given.map((_, at) => given[at ^ 2] ?? 0),
    modern,
  ),
  one(
    'non-uniform add',
    'i32',
    '%y = OpGroupNonUniformIAdd %i32 #i32:3 Reduce %x',
    each((_, all) => sum(all)),
    modern,
  ),
  one(
    'non-uniform multiply',
    'f32',
    '%y = OpGroupNonUniformFMul %f32 #i32:3 InclusiveScan %x',
    each((lane, all) => all.slice(0, lane + 1).reduce((a, b) => a * b, 1)),
    modern,
  ),
  one(
    'non-uniform or',
    'i32',
    '%y = OpGroupNonUniformBitwiseOr %i32 #i32:3 Reduce %x',
    each((_, all) => all.reduce((a, b) => a | b, 0)),
    modern,
  ),
  one(
    'clusters of 4',
    'i32',
    '%y = OpGroupNonUniformIAdd %i32 #i32:3 ClusteredReduce %x #i32:4',
    each((_, all) => sum(all), 4),
    modern,
  ),
  one(
    'elect',
    'i32',
    '%v = OpGroupNonUniformElect %bool #i32:3\n%y = OpSelect %i32 %v #i32:1 #i32:0',
    each((lane) => Number(lane === 0)),
    modern,
  ),
  one(
    'non-uniform all',
    'i32',
    flag('OpGroupNonUniformAll %bool #i32:3 %c'),
    each((_, all) => Number(all.every((v) => v > -3))),
    modern,
  ),
  one(
    'all equal',
    'i32',
    '%h = OpSDiv %i32 %x #i32:100\n%v = OpGroupNonUniformAllEqual %bool #i32:3 %h\n%w = OpGroupNonUniformAllEqual %bool #i32:3 %x\n%a = OpSelect %i32 %v #i32:1 #i32:0\n%b = OpSelect %i32 %w #i32:2 #i32:0\n%y = OpIAdd %i32 %a %b',
    each(() => 1),
    modern,
  ),
  one(
    'broadcast',
    'f32',
    '%y = OpGroupNonUniformBroadcast %f32 #i32:3 %x #i32:1',
    each((_, all) => all[1] ?? 0),
    modern,
  ),
  one(
    'broadcast of the first',
    'i32',
    '%y = OpGroupNonUniformBroadcastFirst %i32 #i32:3 %x',
    each((_, all) => all[0] ?? 0),
    modern,
  ),
  one(
    'ballot',
    'i32',
    '%c = OpSGreaterThan %bool %x #i32:2\n%v = OpGroupNonUniformBallot %v4i32 #i32:3 %c\n%y = OpCompositeExtract %i32 %v 0',
    each((_, all) => all.reduce((bits, v, lane) => bits | (Number(v > 2) << lane), 0)),
    modern,
  ),
  one(
    'ballot counts',
    'i32',
    '%c = OpSGreaterThan %bool %x #i32:2\n%v = OpGroupNonUniformBallot %v4i32 #i32:3 %c\n%y = OpGroupNonUniformBallotBitCount %i32 #i32:3 ExclusiveScan %v',
    each((lane, all) => all.slice(0, lane).filter((v) => v > 2).length),
    modern,
  ),
  one(
    'inverse ballot',
    'i32',
    '%c = OpSGreaterThan %bool %x #i32:2\n%v = OpGroupNonUniformBallot %v4i32 #i32:3 %c\n%w = OpGroupNonUniformInverseBallot %bool #i32:3 %v\n%y = OpSelect %i32 %w #i32:1 #i32:0',
    given.map((v) => Number(v > 2)),
    modern,
  ),
  one(
    'ballot bit',
    'i32',
    '%c = OpSGreaterThan %bool %x #i32:2\n%v = OpGroupNonUniformBallot %v4i32 #i32:3 %c\n%w = OpGroupNonUniformBallotBitExtract %bool #i32:3 %v #i32:1\n%y = OpSelect %i32 %w #i32:1 #i32:0',
    each((_, all) => Number((all[1] ?? 0) > 2)),
    modern,
  ),
  one(
    'Intel shuffle',
    'f32',
    '%y = OpSubgroupShuffleINTEL %f32 %x #i32:3',
    each((_, all) => all[3] ?? 0),
    intel,
  ),
  one(
    'Intel shuffle xor',
    'i32',
    '%y = OpSubgroupShuffleXorINTEL %i32 %x #i32:2',
    each((lane, all) => all[lane ^ 2] ?? 0),
    intel,
  ),
  relative('Up', 'OpULessThan %bool %l #i32:2', (lane) => (lane < 2 ? lane : lane - 2)),
  relative('Down', 'OpUGreaterThan %bool %l #i32:5', (lane) => (lane > 5 ? lane : lane + 2)),
  intelRelative('Up', '%more %x', -3),
  intelRelative('Down', '%x %more', 3),
];
