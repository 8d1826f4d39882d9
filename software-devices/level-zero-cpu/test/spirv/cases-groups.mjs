// @ts-check
// Groups, local memory, barriers. Ids and loops with barriers are what conformance and the features of spirv-builder show.
import { moduleText } from './module.mjs';

/** @typedef {import('./harness.mjs').Case} Case */

const range = (/** @type {number} */ length) => Array.from({ length }, (_, at) => at);

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
  size: [1024, 1, 1],
  expected: [{ arg: 0, values: range(1024) }],
};

/** Every group counts itself. */
const many = {
  name: 'more groups than 16 bits count',
  text: moduleText({ parameters: ['pg_i32'], body: '%old = OpAtomicIIncrement %i32 %p0 #i32:1 #i32:0' }),
  args: [{ type: 'i32', values: [0] }],
  groups: [3, 70000, 1],
  expected: [{ arg: 0, values: [210000] }],
};

/** @type {Case[]} */
export const groups = [
  reverse('local memory variable', 16),
  reverse('barrier with 1024 items', 1024),
  reverse('group size that the kernel asks for', 32, 'OpExecutionMode %main LocalSize 32 1 1'),
  reverse('groups that run at the same time', 32, '', 4096),
  large,
  many,
];
