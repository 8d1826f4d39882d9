// @ts-check
// Sub-groups of 8: their built-in variables and operations, and the slots for values that are stored once and taken several
// times: what is kept, what is stored anew, and what comes in between.
import { item } from './item.mjs';

// 20 work-items, so that the third sub-group is a smaller one.
const items = 20;
const given = Array.from({ length: items }, (_, at) => ((at * 7) % 11) - 3);
const each = (
  /** @type {(lane: number, members: number[], at: number) => number} */ value,
  /** @type {number} */ size = 8,
) =>
  given.map((_, at) => {
    const first = at - (at % size);
    return value(at % size, given.slice(first, first + size), at);
  });

const sum = (/** @type {number[]} */ of) => of.reduce((a, b) => a + b, 0);
const kernel = { capabilities: ['Groups'], version: '1.1' };
const intel = { capabilities: ['SubgroupShuffleINTEL'], extensions: ['SPV_INTEL_subgroups'], version: '1.1' };

const one = (
  /** @type {string} */ name,
  /** @type {string} */ type,
  /** @type {string} */ body,
  /** @type {number[]} */ expected,
  /** @type {object} */ more,
) => item(name, type, type, body, given, expected, more);
const builtin = (/** @type {string} */ name) => `%y = OpLoad %i32 %builtin_${name}`;
const dispatch = { capabilities: ['SubgroupDispatch'], version: '1.1' };
const of16 = { ...dispatch, modes: 'OpExecutionMode %main SubgroupSize 16' };
const byLane = (/** @type {number} */ lane) => lane;
const least = (/** @type {number} */ _, /** @type {number[]} */ all) => Math.min(...all);
const greatest = (/** @type {number} */ _, /** @type {number[]} */ all) => Math.max(...all);

const broadcast = (/** @type {string} */ to, /** @type {string} */ value, /** @type {number} */ lane) =>
  `%${to} = OpGroupBroadcast %i32 #i32:3 %${value} #i32:${lane}\n`;
const add = (/** @type {string} */ to, /** @type {string} */ a, /** @type {string} */ b) =>
  `%${to} = OpIAdd %i32 %${a} ${b.startsWith('#') ? b : `%${b}`}\n`;
const ramp = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => at);
const lane = '%lane = OpLoad %i32 %builtin_SubgroupLocalInvocationId\n';

/** Three steps of x = x + own lane, and the sum of what lane `from` of the step has, and the next one. */
const steps = (/** @type {number} */ first, /** @type {number[]} */ members) =>
  sum([0, 1, 2].flatMap((step) => [step, step + 1].map((from) => (members[from] ?? 0) + first + step * from)));

/** Values %v0, %v1, ... are %x and so much more; all are taken from two lanes, and all of one lane come first. */
function many(/** @type {string} */ name, /** @type {number} */ count, /** @type {object} */ more = kernel) {
  const values = ramp(count);
  const takes = [1, 2].flatMap((from) => values.map((at) => ({ from, at })));
  const body = [
    ...values.map((at) => add(`v${at}`, 'x', `#i32:${at * at}`)),
    ...takes.flatMap(({ from, at }, index) => [
      broadcast(`t${index}`, `v${at}`, from),
      `%m${index} = OpIMul %i32 %t${index} #i32:${index + 1}\n`,
      index === 0 ? '%s0 = OpCopyObject %i32 %m0\n' : add(`s${index}`, `s${index - 1}`, `m${index}`),
    ]),
    `%y = OpCopyObject %i32 %s${takes.length - 1}`,
  ].join('');
  const expected = each((_, all) =>
    sum(takes.map(({ from, at }, index) => ((all[from] ?? 0) + at * at) * (index + 1))),
  );
  return one(name, 'i32', body, expected, more);
}

const loop = (/** @type {string} */ body) => `${lane}
      OpBranch %head
      %head = OpLabel
      %i = OpPhi %i32 #i32:0 %start %i_next %again
      %v = OpPhi %i32 %x %start %v_next %again
      %s = OpPhi %i32 #i32:0 %start %s_next %again
      %more = OpULessThan %bool %i #i32:3
      OpLoopMerge %done %again None
      OpBranchConditional %more %again %done
      %again = OpLabel
      ${body}
      %v_next = OpIAdd %i32 %v %lane
      %i_next = OpIAdd %i32 %i #i32:1
      OpBranch %head
      %done = OpLabel
      %y = OpCopyObject %i32 %s`;

/** A group of this shape, whose sub-groups are runs of 8. @param {number[]} size */
const shaped = (size) => {
  const numbers = ramp(size.reduce((a, b) => a * b)).map((at) => (at * 7) % 23);
  const base = (/** @type {number} */ at) => at - (at % 8);
  return item(
    `in a group that has to be of ${size.join(' x ')}`,
    'i32',
    'i32',
    `${broadcast('a', 'x', 1)}${broadcast('b', 'x', 3)}%c = OpGroupIAdd %i32 #i32:3 Reduce %x
      ${add('d', 'a', 'b')}${add('y', 'c', 'd')}`,
    numbers,
    numbers.map(
      (_, at) =>
        (numbers[base(at) + 1] ?? 0) + (numbers[base(at) + 3] ?? 0) + sum(numbers.slice(base(at), base(at) + 8)),
    ),
    { ...kernel, size, linear: true, modes: `OpExecutionMode %main LocalSize ${size.join(' ')}` },
  );
};

/** @type {[name: string, type: string, body: string, expected: number[], more: object][]} */
const OPERATIONS = [
  ['SubgroupLocalInvocationId', 'i32', builtin('SubgroupLocalInvocationId'), each(byLane), dispatch],
  ['SubgroupId', 'i32', builtin('SubgroupId'), each((_lane, _all, at) => Math.floor(at / 8)), dispatch],
  ['SubgroupSize', 'i32', builtin('SubgroupSize'), each((_, all) => all.length), dispatch],
  ['NumSubgroups', 'i32', builtin('NumSubgroups'), each(() => 3), dispatch],
  ['sub-groups of 16', 'i32', builtin('SubgroupLocalInvocationId'), each(byLane, 16), of16],
  ['sub-group reduce of integers', 'i32', '%y = OpGroupIAdd %i32 #i32:3 Reduce %x', each((_, all) => sum(all)), kernel],
  ['sub-group reduce of floats', 'f32', '%y = OpGroupFAdd %f32 #i32:3 Reduce %x', each((_, all) => sum(all)), kernel],
  ['sub-group reduce of doubles', 'f64', '%y = OpGroupFAdd %f64 #i32:3 Reduce %x', each((_, all) => sum(all)), kernel],
  ['sub-group signed minimum', 'i32', '%y = OpGroupSMin %i32 #i32:3 Reduce %x', each(least), kernel],
  ['sub-group signed maximum', 'i8', '%y = OpGroupSMax %i8 #i32:3 Reduce %x', each(greatest), kernel],
  ['sub-group float minimum', 'f32', '%y = OpGroupFMin %f32 #i32:3 Reduce %x', each(least), kernel],
  ['sub-group broadcast', 'f32', '%y = OpGroupBroadcast %f32 #i32:3 %x #i32:2', each((_, all) => all[2] ?? 0), kernel],
  ['Intel shuffle', 'f32', '%y = OpSubgroupShuffleINTEL %f32 %x #i32:3', each((_, all) => all[3] ?? 0), intel],
];

export const subgroups = OPERATIONS.map((given) => one(...given));

export const slots = [
  many('one value from two lanes', 1),
  many('three values from two lanes', 3),
  many('more values than there are slots', 20),
  many('more values than a pool ever has', 70, { ...kernel, modes: 'OpExecutionMode %main LocalSize 20 1 1' }),
  item(
    'values as large as all slots, in turns',
    'v8f64',
    'v8f64',
    `${lane}%other = OpBitwiseXor %i32 %lane #i32:1
      %more = OpFAdd %v8f64 %x %x
      %a = OpSubgroupShuffleINTEL %v8f64 %x %other
      %b = OpSubgroupShuffleINTEL %v8f64 %more %other
      %c = OpSubgroupShuffleINTEL %v8f64 %x %lane
      %d = OpFAdd %v8f64 %a %b
      %y = OpFAdd %v8f64 %c %d`,
    ramp(64),
    ramp(64).map((at) => 3 * (at ^ 8) + at),
    { ...intel, capabilities: [...intel.capabilities, 'SubgroupDispatch'] },
  ),
  one(
    'values that are made of what was taken',
    'i32',
    `${lane}${broadcast('a', 'x', 1)}${add('v', 'a', 'lane')}${broadcast('b', 'v', 2)}${add('w', 'b', 'lane')}
      ${broadcast('c', 'w', 3)}${broadcast('d', 'x', 0)}${add('e', 'c', 'd')}${add('y', 'e', 'b')}`,
    each((_, all) => 2 * (all[1] ?? 0) + 2 + 2 + 3 + (all[0] ?? 0)),
    { ...kernel, capabilities: ['Groups', 'SubgroupDispatch'] },
  ),
  one(
    'sums of sums',
    'i32',
    `${lane}%a = OpGroupIAdd %i32 #i32:3 Reduce %x
      ${add('v', 'a', 'lane')}%b = OpGroupIAdd %i32 #i32:3 Reduce %v
      ${add('w', 'b', 'lane')}%c = OpGroupSMax %i32 #i32:3 Reduce %w
      %y = OpCopyObject %i32 %c`,
    each((_, all) => all.length * sum(all) + sum(ramp(all.length)) + all.length - 1),
    { ...kernel, capabilities: ['Groups', 'SubgroupDispatch'] },
  ),
  one(
    'a value that a loop makes anew',
    'i32',
    loop(`%t = OpSubgroupShuffleINTEL %i32 %v %i
      ${add('after', 'i', '#i32:1')}%u = OpSubgroupShuffleINTEL %i32 %v %after
      ${add('tu', 't', 'u')}${add('s_next', 's', 'tu')}`),
    each((_, all) => steps(0, all)),
    { ...intel, capabilities: [...intel.capabilities, 'SubgroupDispatch'] },
  ),
  one(
    'a value of a loop, and one from before it',
    'i32',
    loop(`%t = OpSubgroupShuffleINTEL %i32 %v %i
      ${add('after', 'i', '#i32:1')}%u = OpSubgroupShuffleINTEL %i32 %v %after
      %w = OpSubgroupShuffleINTEL %i32 %x #i32:2
      ${add('tu', 't', 'u')}${add('tuw', 'tu', 'w')}${add('s_next', 's', 'tuw')}`),
    each((_, all) => steps(0, all) + 3 * (all[2] ?? 0)),
    { ...intel, capabilities: [...intel.capabilities, 'SubgroupDispatch'] },
  ),
  ...[0, 1].map((taken) =>
    one(
      `in the ${taken ? 'first' : 'second'} branch that a whole group takes, and after it`,
      'i32',
      `%size3 = OpLoad %v3i64 %builtin_WorkgroupSize
      %size = OpCompositeExtract %i64 %size3 0
      %c = ${taken ? 'OpIEqual' : 'OpINotEqual'} %bool %size #i64:${given.length}
      ${broadcast('before', 'x', 0)}
      OpSelectionMerge %join None
      OpBranchConditional %c %yes %no
      %yes = OpLabel
      ${broadcast('a', 'x', 1)}${broadcast('b', 'before', 2)}${add('ab', 'a', 'b')}
      OpBranch %join
      %no = OpLabel
      ${broadcast('d', 'x', 3)}
      OpBranch %join
      %join = OpLabel
      %of = OpPhi %i32 %ab %yes %d %no
      ${broadcast('e', 'x', 2)}${add('y', 'of', 'e')}`,
      each((_, all) => (taken ? (all[1] ?? 0) + (all[0] ?? 0) : (all[3] ?? 0)) + (all[2] ?? 0)),
      kernel,
    ),
  ),
  item(
    'in groups that run at the same time',
    'i32',
    'i32',
    '%y = OpGroupIAdd %i32 #i32:3 Reduce %x',
    ramp(1 << 15),
    ramp(1 << 15).map((at) => 8 * (at - (at % 8)) + 28),
    { ...kernel, groups: [1 << 12, 1, 1], size: [8, 1, 1] },
  ),
  shaped([8, 3, 1]),
  shaped([8, 2, 2]),
  shaped([16, 2, 1]),
  shaped([4, 4, 2]),
];
