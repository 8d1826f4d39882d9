// @ts-check
// Ids, groups, local memory, barriers.
import { moduleText } from './module.mjs';

/** @typedef {import('./harness.mjs').Case} Case */

const range = (/** @type {number} */ length) => Array.from({ length }, (_, at) => at);

/** Writes one component of a built-in variable at the item's global linear id. */
function builtin(
  /** @type {string} */ name,
  /** @type {number} */ axis,
  /** @type {(x: number, y: number, z: number) => number} */ value,
) {
  const groups = [2, 3, 2];
  const size = [4, 2, 1];
  const total = [8, 6, 2];
  const linear = /Linear|Index|WorkDim/.test(name);
  const values = range(96).map((at) => value(at % 8, Math.floor(at / 8) % 6, Math.floor(at / 48)));
  const load = linear
    ? `%v = OpLoad %${name === 'WorkDim' ? 'i32' : 'i64'} %builtin_${name}\n%y = ${name === 'WorkDim' ? 'OpCopyObject %i32 %v' : 'OpUConvert %i32 %v'}`
    : `%v = OpLoad %v3i64 %builtin_${name}\n%v0 = OpCompositeExtract %i64 %v ${axis}\n%y = OpUConvert %i32 %v0`;
  return {
    name: `${name} ${linear ? '' : 'xyz'[axis]}`.trim(),
    text: moduleText({
      parameters: ['pg_i32'],
      body: `${load}
        %gid3 = OpLoad %v3i64 %builtin_GlobalInvocationId
        %gx = OpCompositeExtract %i64 %gid3 0
        %gy = OpCompositeExtract %i64 %gid3 1
        %gz = OpCompositeExtract %i64 %gid3 2
        %plane = OpIMul %i64 %gz #i64:${total[1]}
        %row = OpIAdd %i64 %plane %gy
        %before = OpIMul %i64 %row #i64:${total[0]}
        %at = OpIAdd %i64 %before %gx
        %to = OpInBoundsPtrAccessChain %pg_i32 %p0 %at
        OpStore %to %y Aligned 4`,
    }),
    args: [{ type: 'i32', values: values.map(() => -1) }],
    groups,
    size,
    expected: [{ arg: 0, values }],
  };
}

const reverse = (
  /** @type {string} */ name,
  /** @type {number} */ items,
  /** @type {string} */ modes = '',
  /** @type {number} */ count = 3,
) => ({
  name,
  text: moduleText({
    parameters: ['pg_i32', 'pg_i32'],
    declare: `%local = OpVariable %pw_a${items}_i32 Workgroup`,
    modes,
    body: `
      %gid3 = OpLoad %v3i64 %builtin_GlobalInvocationId
      %gid = OpCompositeExtract %i64 %gid3 0
      %lid3 = OpLoad %v3i64 %builtin_LocalInvocationId
      %lid = OpCompositeExtract %i64 %lid3 0
      %from = OpInBoundsPtrAccessChain %pg_i32 %p0 %gid
      %x = OpLoad %i32 %from Aligned 4
      %mine = OpInBoundsAccessChain %pw_i32 %local %lid
      OpStore %mine %x Aligned 4
      OpControlBarrier #i32:2 #i32:2 #i32:272
      %other = OpISub %i64 #i64:${items - 1} %lid
      %theirs = OpInBoundsAccessChain %pw_i32 %local %other
      %y = OpLoad %i32 %theirs Aligned 4
      %to = OpInBoundsPtrAccessChain %pg_i32 %p1 %gid
      OpStore %to %y Aligned 4`,
  }),
  args: [
    { type: 'i32', values: range(count * items) },
    { type: 'i32', values: range(count * items) },
  ],
  groups: [count, 1, 1],
  size: [items, 1, 1],
  expected: [
    { arg: 1, values: range(count * items).map((at) => Math.floor(at / items) * items + items - 1 - (at % items)) },
  ],
});

/** A tree: a barrier in a loop, with a condition between. */
const tree = (/** @type {number} */ items) => ({
  name: `tree of sums over ${items} items, barriers in a loop`,
  text: moduleText({
    parameters: ['pg_i32', 'pg_i32'],
    declare: `%local = OpVariable %pw_a${items}_i32 Workgroup`,
    body: `
      %gid3 = OpLoad %v3i64 %builtin_GlobalInvocationId
      %gid = OpCompositeExtract %i64 %gid3 0
      %lid3 = OpLoad %v3i64 %builtin_LocalInvocationId
      %lid = OpCompositeExtract %i64 %lid3 0
      %from = OpInBoundsPtrAccessChain %pg_i32 %p0 %gid
      %x = OpLoad %i32 %from Aligned 4
      %mine = OpInBoundsAccessChain %pw_i32 %local %lid
      OpStore %mine %x Aligned 4
      OpControlBarrier #i32:2 #i32:2 #i32:272
      OpBranch %head
      %head = OpLabel
      %width = OpPhi %i64 #i64:${items / 2} %start %half %again
      %go = OpUGreaterThan %bool %width #i64:0
      OpLoopMerge %after %again None
      OpBranchConditional %go %inside %after
      %inside = OpLabel
      %active = OpULessThan %bool %lid %width
      OpSelectionMerge %joined None
      OpBranchConditional %active %adds %joined
      %adds = OpLabel
      %other = OpIAdd %i64 %lid %width
      %theirs = OpInBoundsAccessChain %pw_i32 %local %other
      %a = OpLoad %i32 %mine Aligned 4
      %b = OpLoad %i32 %theirs Aligned 4
      %c = OpIAdd %i32 %a %b
      OpStore %mine %c Aligned 4
      OpBranch %joined
      %joined = OpLabel
      OpControlBarrier #i32:2 #i32:2 #i32:272
      OpBranch %again
      %again = OpLabel
      %half = OpUDiv %i64 %width #i64:2
      OpBranch %head
      %after = OpLabel
      %first = OpInBoundsAccessChain %pw_i32 %local #i64:0
      %y = OpLoad %i32 %first Aligned 4
      %wid3 = OpLoad %v3i64 %builtin_WorkgroupId
      %wid = OpCompositeExtract %i64 %wid3 0
      %to = OpInBoundsPtrAccessChain %pg_i32 %p1 %wid
      OpStore %to %y Aligned 4`,
  }),
  args: [
    { type: 'i32', values: range(items * 2) },
    { type: 'i32', values: [0, 0] },
  ],
  groups: [2, 1, 1],
  size: [items, 1, 1],
  expected: [{ arg: 1, values: [(items * (items - 1)) / 2, (items * (items - 1)) / 2 + items * items] }],
});

/** Private memory of all items is on the stack of one thread while they wait for each other: 1,024 x 16 KiB. */
const large = {
  name: 'private arrays of 16 KiB in 1,024 items, over a barrier',
  text: moduleText({
    parameters: ['pg_i32'],
    variables: '%array = OpVariable %pf_a4096_i32 Function',
    body: `
      %lid3 = OpLoad %v3i64 %builtin_LocalInvocationId
      %lid = OpCompositeExtract %i64 %lid3 0
      %to = OpInBoundsPtrAccessChain %pg_i32 %p0 %lid
      %at = OpIMul %i64 %lid #i64:4
      %mine = OpInBoundsAccessChain %pf_i32 %array %at
      %n = OpUConvert %i32 %lid
      OpStore %mine %n Volatile|Aligned 4
      OpControlBarrier #i32:2 #i32:2 #i32:272
      %y = OpLoad %i32 %mine Volatile|Aligned 4
      OpStore %to %y Aligned 4`,
  }),
  args: [{ type: 'i32', values: range(1024).map(() => -1) }],
  groups: [1, 1, 1],
  size: [1024, 1, 1],
  expected: [{ arg: 0, values: range(1024) }],
};

/** Every group counts itself. */
const many = {
  name: 'more groups than 16 bits count',
  text: moduleText({ parameters: ['pg_i32'], body: '%old = OpAtomicIIncrement %i32 %p0 #i32:1 #i32:0' }),
  args: [{ type: 'i32', values: [0] }],
  groups: [3, 70000, 1],
  size: [1, 1, 1],
  expected: [{ arg: 0, values: [210000] }],
};

/** @type {Case[]} */
export const groups = [
  builtin('GlobalInvocationId', 0, (x) => x),
  builtin('GlobalInvocationId', 1, (_, y) => y),
  builtin('GlobalInvocationId', 2, (_x, _y, z) => z),
  builtin('LocalInvocationId', 0, (x) => x % 4),
  builtin('LocalInvocationId', 1, (_, y) => y % 2),
  builtin('WorkgroupId', 0, (x) => Math.floor(x / 4)),
  builtin('WorkgroupId', 1, (_, y) => Math.floor(y / 2)),
  builtin('NumWorkgroups', 1, () => 3),
  builtin('WorkgroupSize', 0, () => 4),
  builtin('EnqueuedWorkgroupSize', 1, () => 2),
  builtin('GlobalSize', 1, () => 6),
  builtin('LocalInvocationIndex', 0, (x, y) => (y % 2) * 4 + (x % 4)),
  builtin('GlobalLinearId', 0, (x, y, z) => (z * 6 + y) * 8 + x),
  builtin('WorkDim', 0, () => 3),
  reverse('local memory variable', 16),
  reverse('barrier with 256 items', 256),
  reverse('barrier with 1024 items', 1024),
  reverse('group size that the kernel asks for', 32, 'OpExecutionMode %main LocalSize 32 1 1'),
  reverse('groups that run at the same time', 32, '', 4096),
  tree(256),
  large,
  many,
];
