// @ts-check
// Kernels whose work-groups have to keep apart: each has its own Workgroup memory, wherever that is used.
// A kernel counts its wrong results in %p0 and stores what came out to %p1.
import { moduleText } from './module.mjs';

/**
 * @typedef {object} ManyGroups
 * @property {string} name
 * @property {string} text assembly
 * @property {string} [version] of SPIR-V
 * @property {string[]} [kernels] main where there is no other
 * @property {(at: number) => number} expected result of an item
 * @property {number} localBytes of all Workgroup memory of a kernel
 */

export const ITEMS = 32;
const barrier = 'OpControlBarrier #i32:2 #i32:2 #i32:272';

/** %n is the item's number and %own its place in the group; %y is the result, which has to be %wanted. */
const start = `
  %gid3 = OpLoad %v3i64 %builtin_GlobalInvocationId
  %gid = OpCompositeExtract %i64 %gid3 0
  %lid3 = OpLoad %v3i64 %builtin_LocalInvocationId
  %own = OpCompositeExtract %i64 %lid3 0
  %n = OpUConvert %i32 %gid`;
const end = `
  %to = OpInBoundsPtrAccessChain %pg_i32 %p1 %gid
  OpStore %to %y Aligned 4
  %wrong = OpINotEqual %bool %y %wanted
  OpSelectionMerge %join None
  OpBranchConditional %wrong %count %join
  %count = OpLabel
  %counted = OpAtomicIIncrement %i32 %p0 #i32:1 #i32:0
  OpBranch %join
  %join = OpLabel`;

const kernel = (/** @type {Partial<import('./module.mjs').ModuleText> & { body: string }} */ text) =>
  moduleText({ ...text, parameters: ['pg_i32', 'pg_i32'], body: `${start}\n${text.body}${end}` });

const local = `%local = OpVariable %pw_a${ITEMS}_i32 Workgroup`;
const call = '%y = OpFunctionCall %i32 %turned %n %own';
/** The number of the item that is as far from the end of the group as this one is from its start. */
const opposite = (/** @type {number} */ at) => at - (at % ITEMS) + ITEMS - 1 - (at % ITEMS);
const wanted = `
  %last = OpBitwiseOr %i32 %n #i32:${ITEMS - 1}
  %back = OpBitwiseAnd %i32 %n #i32:${ITEMS - 1}
  %wanted = OpISub %i32 %last %back`;

/** Function %turned(value, place) gives the value of the opposite item, through a place in the variable. */
const turned = (/** @type {string} */ chain) => `
  %turned_type = OpTypeFunction %i32 %i32 %i64
  %turned = OpFunction %i32 None %turned_type
  %t_value = OpFunctionParameter %i32
  %t_own = OpFunctionParameter %i64
  %t_start = OpLabel
  %t_mine = ${chain} %t_own
  OpStore %t_mine %t_value Aligned 4
  ${barrier}
  %t_other = OpISub %i64 #i64:${ITEMS - 1} %t_own
  %t_theirs = ${chain} %t_other
  %t_result = OpLoad %i32 %t_theirs Aligned 4
  ${barrier}
  OpReturnValue %t_result
  OpFunctionEnd`;
const direct = turned('OpInBoundsAccessChain %pw_i32 %local');

/** A function that calls another with what it was called with. */
const outer = (/** @type {string} */ name, /** @type {string} */ inner) => `
  %${name} = OpFunction %i32 None %turned_type
  %${name}_value = OpFunctionParameter %i32
  %${name}_own = OpFunctionParameter %i64
  %${name}_start = OpLabel
  %${name}_result = OpFunctionCall %i32 %${inner} %${name}_value %${name}_own
  OpReturnValue %${name}_result
  OpFunctionEnd`;

/** Types of functions stand among the other types. */
const typed = (/** @type {string} */ text) => {
  const type = '%turned_type = OpTypeFunction %i32 %i32 %i64\n';
  return text.replace(type, '').replace('%main_type =', `${type}%main_type =`);
};

/** The kernel once more, under another name. */
const twice = (/** @type {string} */ text) => {
  const body = text.slice(text.indexOf('%main = OpFunction'));
  const ids = new Set([...body.matchAll(/^\s*%(\w+) =/gm)].map(([, id]) => id));
  const again = body.replaceAll(/%(\w+)/g, (whole, id) => (ids.has(id) ? `${whole}_again` : whole));
  const entry = text.replace(
    /(OpEntryPoint Kernel %main) "main" (.*\n)/,
    '$1 "main" $2OpEntryPoint Kernel %main_again "again" $2',
  );
  return `${entry}\n${again}`;
};

const called = { declare: local, functions: direct, body: `${call}${wanted}` };
const exchanges = {
  capabilities: ['Groups', 'SubgroupDispatch', 'SubgroupShuffleINTEL'],
  extensions: ['SPV_INTEL_subgroups'],
};

/** %e is what a sum, a broadcast and a shuffle of the numbers of a sub-group give together, of %x. */
const exchange = `
  %lane = OpBitwiseAnd %i32 %x #i32:7
  %partner = OpBitwiseXor %i32 %lane #i32:3
  %sum = OpGroupIAdd %i32 #i32:3 Reduce %x
  %second = OpGroupBroadcast %i32 #i32:3 %x #i32:1
  %third = OpSubgroupShuffleINTEL %i32 %x %partner
  %sums = OpBitwiseXor %i32 %sum %second
  %e = OpBitwiseXor %i32 %sums %third`;
const exchanged = `
  %low = OpBitwiseAnd %i32 %n #i32:7
  %base = OpISub %i32 %n %low
  %eight = OpIMul %i32 %base #i32:8
  %wanted_sum = OpIAdd %i32 %eight #i32:28
  %wanted_second = OpIAdd %i32 %base #i32:1
  %wanted_third = OpBitwiseXor %i32 %n #i32:3
  %wanted_both = OpBitwiseXor %i32 %wanted_sum %wanted_second
  %wanted = OpBitwiseXor %i32 %wanted_both %wanted_third`;
const exchangeOf = (/** @type {number} */ at) => {
  const base = at - (at % 8);
  return (8 * base + 28) ^ (base + 1) ^ (at ^ 3);
};

/** @type {ManyGroups[]} */
export const manyGroups = [
  {
    name: 'sub-group operations',
    text: kernel({
      ...exchanges,
      body: `%x = OpCopyObject %i32 %n${exchange}\n%y = OpCopyObject %i32 %e${exchanged}`,
    }),
    version: '1.1',
    expected: exchangeOf,
    localBytes: 4096,
  },
  {
    name: 'sub-group operations in a function',
    text: typed(
      kernel({
        ...exchanges,
        functions: `
          %turned_type = OpTypeFunction %i32 %i32 %i64
          %turned = OpFunction %i32 None %turned_type
          %x = OpFunctionParameter %i32
          %unused = OpFunctionParameter %i64
          %t_start = OpLabel${exchange}
          OpReturnValue %e
          OpFunctionEnd`,
        body: `${call}${exchanged}`,
      }),
    ),
    version: '1.1',
    expected: exchangeOf,
    localBytes: 4096,
  },
  { name: 'a variable in a function', text: typed(kernel(called)), expected: opposite, localBytes: ITEMS * 4 },
  {
    name: 'a variable in a function of a function, called before it is defined',
    text: typed(
      kernel({
        ...called,
        functions: `${outer('outermost', 'outer')}${outer('outer', 'turned')}${direct}`,
        body: `${call.replace('%turned', '%outermost')}${wanted}`,
      }),
    ),
    expected: opposite,
    localBytes: ITEMS * 4,
  },
  {
    name: 'a variable in two kernels that share a function',
    text: twice(typed(kernel(called))),
    kernels: ['main', 'again'],
    expected: opposite,
    localBytes: ITEMS * 4,
  },
  {
    name: 'a variable in a kernel and in a function: the same memory',
    text: typed(
      kernel({
        ...called,
        functions: direct.replace('OpStore %t_mine %t_value Aligned 4', ''),
        body: `
          %mine = OpInBoundsAccessChain %pw_i32 %local %own
          OpStore %mine %n Aligned 4
          ${call}${wanted}`,
      }),
    ),
    expected: opposite,
    localBytes: ITEMS * 4,
  },
  {
    name: 'a place in a variable, as a constant, in a function',
    text: typed(
      kernel({
        declare: `${local}\n%place = OpSpecConstantOp %pw_i32 InBoundsAccessChain %local #i64:0`,
        functions: turned('OpInBoundsPtrAccessChain %pw_i32 %place'),
        body: `${call}${wanted}`,
      }),
    ),
    expected: opposite,
    localBytes: ITEMS * 4,
  },
  {
    name: 'two variables in a function that returns from the middle of a loop',
    text: typed(
      kernel({
        declare: `${local}\n%other = OpVariable %pw_i32 Workgroup`,
        functions: `${direct}
          %found = OpFunction %i32 None %turned_type
          %f_value = OpFunctionParameter %i32
          %f_own = OpFunctionParameter %i64
          %f_start = OpLabel
          %f_turned = OpFunctionCall %i32 %turned %f_value %f_own
          %f_first = OpIEqual %bool %f_own #i64:0
          OpSelectionMerge %f_after None
          OpBranchConditional %f_first %f_write %f_after
          %f_write = OpLabel
          OpStore %other %f_value Aligned 4
          OpBranch %f_after
          %f_after = OpLabel
          ${barrier}
          %f_base = OpLoad %i32 %other Aligned 4
          ${barrier}
          OpBranch %f_head
          %f_head = OpLabel
          %f_i = OpPhi %i32 %f_base %f_after %f_next %f_again
          OpLoopMerge %f_never %f_again None
          OpBranch %f_test
          %f_test = OpLabel
          %f_is = OpIEqual %bool %f_i %f_turned
          OpBranchConditional %f_is %f_yes %f_again
          %f_yes = OpLabel
          OpReturnValue %f_i
          %f_again = OpLabel
          %f_next = OpIAdd %i32 %f_i #i32:1
          OpBranch %f_head
          %f_never = OpLabel
          OpUnreachable
          OpFunctionEnd`,
        body: `${call.replace('%turned', '%found')}${wanted}`,
      }),
    ),
    expected: opposite,
    localBytes: ITEMS * 4 + 4,
  },
];
