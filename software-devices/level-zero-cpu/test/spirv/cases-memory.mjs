// @ts-check
// Pointers, arrays, structures, half storage, atomics, arguments.
import { item } from './item.mjs';
import { moduleText } from './module.mjs';

const array = { variables: '%array = OpVariable %pf_a4_i32 Function' };

/** Cases of their own shape. @type {import('./harness.mjs').Case[]} */
const whole = [
  {
    name: 'arguments by value of all sizes',
    text: moduleText({
      parameters: ['pg_f64', 'i8', 'i16', 'i32', 'i64', 'f32', 'f64', 'v4f32'],
      body: `
        %a = OpConvertSToF %f64 %p1
        %b = OpConvertSToF %f64 %p2
        %c = OpConvertSToF %f64 %p3
        %d = OpConvertSToF %f64 %p4
        %e = OpFConvert %f64 %p5
        %last = OpCompositeExtract %f32 %p7 3
        %f = OpFConvert %f64 %last
        %ab = OpFAdd %f64 %a %b
        %cd = OpFAdd %f64 %c %d
        %ef = OpFAdd %f64 %e %f
        %abcd = OpFAdd %f64 %ab %cd
        %efg = OpFAdd %f64 %ef %p6
        %sum = OpFAdd %f64 %abcd %efg
        OpStore %p0 %sum Aligned 8`,
    }),
    args: [
      { type: 'f64', values: [0] },
      { type: 'i8', values: [-1], as: 'value' },
      { type: 'i16', values: [-20], as: 'value' },
      { type: 'i32', values: [300], as: 'value' },
      { type: 'i64', values: [2n ** 40n], as: 'value' },
      { type: 'f32', values: [0.5], as: 'value' },
      { type: 'f64', values: [0.25], as: 'value' },
      { type: 'v4f32', values: [1, 2, 3, 4], as: 'value' },
    ],
    groups: [1, 1, 1],
    size: [1, 1, 1],
    expected: [{ arg: 0, values: [-1 - 20 + 300 + 2 ** 40 + 0.5 + 0.25 + 4] }],
  },
  {
    name: 'structure by value',
    text: moduleText({
      parameters: ['pg_i32', 'pf_pair'],
      declare: '%pair = OpTypeStruct %i32 %i64',
      decorate: 'OpDecorate %p1 FuncParamAttr ByVal',
      body: `
        %first = OpInBoundsAccessChain %pf_i32 %p1 #i32:0
        %second = OpInBoundsAccessChain %pf_i64 %p1 #i32:1
        %a = OpLoad %i32 %first
        %b = OpLoad %i64 %second
        %c = OpUConvert %i32 %b
        %d = OpIAdd %i32 %a %c
        OpStore %p0 %d Aligned 4`,
    }),
    args: [
      { type: 'i32', values: [0] },
      { type: 'v2i64', values: [5n, 60n], as: 'value' },
    ],
    groups: [1, 1, 1],
    size: [1, 1, 1],
    expected: [{ arg: 0, values: [65] }],
  },
  {
    name: 'pointer into the middle of memory',
    text: moduleText({
      parameters: ['pg_i32', 'pg_i32'],
      body: `
        %before = OpPtrAccessChain %pg_i32 %p0 #i64:-1
        %a = OpLoad %i32 %before Aligned 4
        %b = OpLoad %i32 %p0 Aligned 4
        %c = OpIAdd %i32 %a %b
        OpStore %p1 %c Aligned 4`,
    }),
    args: [
      { type: 'i32', values: [1, 20, 300], offset: 4 },
      { type: 'i32', values: [0] },
    ],
    groups: [1, 1, 1],
    size: [1, 1, 1],
    expected: [{ arg: 1, values: [21] }],
  },
  {
    name: 'null pointer argument',
    text: moduleText({
      parameters: ['pg_i32', 'pg_i32'],
      body: `
        %address = OpConvertPtrToU %i64 %p0
        %null = OpIEqual %bool %address #i64:0
        %a = OpSelect %i32 %null #i32:1 #i32:0
        OpStore %p1 %a Aligned 4`,
    }),
    args: [
      { type: 'i64', values: [], as: 'null' },
      { type: 'i32', values: [0] },
    ],
    groups: [1, 1, 1],
    size: [1, 1, 1],
    expected: [{ arg: 1, values: [1] }],
  },
  {
    name: 'constant memory argument',
    text: moduleText({
      parameters: ['pc_i32', 'pg_i32'],
      body: '%a = OpLoad %i32 %p0 Aligned 4\nOpStore %p1 %a Aligned 4',
    }),
    args: [
      { type: 'i32', values: [17] },
      { type: 'i32', values: [0] },
    ],
    groups: [1, 1, 1],
    size: [1, 1, 1],
    expected: [{ arg: 1, values: [17] }],
  },
  {
    name: 'half storage',
    text: moduleText({
      parameters: ['pg_f16', 'pg_f16'],
      body: `
        %gid3 = OpLoad %v3i64 %builtin_GlobalInvocationId
        %gid = OpCompositeExtract %i64 %gid3 0
        %a = OpExtInst %f32 %opencl vload_half %gid %p0
        %b = OpFMul %f32 %a #f32:3
        %nothing = OpExtInst %void %opencl vstore_half %b %gid %p1`,
    }),
    args: [
      { type: 'f16', values: [1, 0.5, -3, 10000] },
      { type: 'f16', values: [0, 0, 0, 0] },
    ],
    groups: [1, 1, 1],
    size: [4, 1, 1],
    expected: [{ arg: 1, values: [3, 1.5, -9, 30000] }],
  },
  {
    name: 'vectors of half storage, with rounding',
    text: moduleText({
      parameters: ['pg_f16', 'pg_f16'],
      body: `
        %a = OpExtInst %v4f32 %opencl vload_halfn #i64:0 %p0 4
        %b = OpFAdd %v4f32 %a %a
        %nothing = OpExtInst %void %opencl vstore_halfn_r %b #i64:0 %p1 RTE`,
    }),
    args: [
      { type: 'f16', values: [1, 0.5, -3, 10000] },
      { type: 'f16', values: [0, 0, 0, 0] },
    ],
    groups: [1, 1, 1],
    size: [1, 1, 1],
    expected: [{ arg: 1, values: [2, 1, -6, 20000] }],
  },
  {
    name: 'vloadn and vstoren',
    text: moduleText({
      parameters: ['pg_f32', 'pg_f32'],
      body: `
        %a = OpExtInst %v4f32 %opencl vloadn #i64:1 %p0 4
        %b = OpFMul %v4f32 %a %a
        %nothing = OpExtInst %void %opencl vstoren %b #i64:0 %p1`,
    }),
    args: [
      { type: 'f32', values: [0, 0, 0, 0, 1, 2, 3, 4] },
      { type: 'f32', values: [0, 0, 0, 0] },
    ],
    groups: [1, 1, 1],
    size: [1, 1, 1],
    expected: [{ arg: 1, values: [1, 4, 9, 16] }],
  },
];

const atomic = (
  /** @type {string} */ name,
  /** @type {string} */ line,
  /** @type {number} */ start,
  /** @type {number} */ end,
) => ({
  name: `atomic ${name}`,
  text: moduleText({
    parameters: ['pg_i32'],
    body: `%gid3 = OpLoad %v3i64 %builtin_GlobalInvocationId
      %gid = OpCompositeExtract %i64 %gid3 0
      %i = OpUConvert %i32 %gid
      ${line}`,
  }),
  args: [{ type: 'i32', values: [start] }],
  groups: [16, 1, 1],
  size: [64, 1, 1],
  expected: [{ arg: 0, values: [end] }],
});
const order = '%p0 #i32:1 #i32:0';

export const memory = [
  ...whole,
  item(
    'private array at a computed place',
    'i32',
    'i32',
    `
    %s0 = OpInBoundsAccessChain %pf_i32 %array #i32:0
    OpStore %s0 #i32:10
    %s1 = OpInBoundsAccessChain %pf_i32 %array #i32:1
    OpStore %s1 #i32:20
    %s = OpInBoundsAccessChain %pf_i32 %array %x
    %y = OpLoad %i32 %s`,
    [0, 1, 1],
    [10, 20, 20],
    array,
  ),
  item('variable with a first value', 'i32', 'i32', '%v = OpLoad %i32 %seven\n%y = OpIAdd %i32 %v %x', [1], [8], {
    variables: '%seven = OpVariable %pf_i32 Function #i32:7',
  }),
  item(
    'table in constant memory',
    'i32',
    'i32',
    '%s = OpInBoundsAccessChain %pc_i32 %table %x\n%y = OpLoad %i32 %s Aligned 4',
    [2, 0, 1],
    [30, 10, 20],
    {
      declare:
        '%numbers = OpConstantComposite %a3_i32 #i32:10 #i32:20 #i32:30\n%table = OpVariable %pc_a3_i32 UniformConstant %numbers',
    },
  ),
  item(
    'structure in a variable',
    'i32',
    'f32',
    `
    %place = OpInBoundsAccessChain %pf_v2f32 %record #i32:1
    %f = OpConvertSToF %f32 %x
    %pair = OpCompositeConstruct %v2f32 %f %f
    OpStore %place %pair
    %lane = OpInBoundsAccessChain %pf_f32 %record #i32:1 #i32:0
    %y = OpLoad %f32 %lane`,
    [3],
    [3],
    {
      declare: '%record_type = OpTypeStruct %i32 %v2f32\n%record_pointer = OpTypePointer Function %record_type',
      variables: '%record = OpVariable %record_pointer Function',
    },
  ),
  item('copy memory', 'i32', 'i32', 'OpStore %a %x\nOpCopyMemory %b %a\n%y = OpLoad %i32 %b', [5, 6], [5, 6], {
    variables: '%a = OpVariable %pf_i32 Function\n%b = OpVariable %pf_i32 Function',
  }),
  item(
    'copy memory of a size',
    'i32',
    'i32',
    'OpCopyMemorySized %to %from #i64:4 Aligned 4\n%y = OpIAdd %i32 %x #i32:0',
    [5, 6],
    [5, 6],
  ),
  item(
    'pointers in memory',
    'i64',
    'i32',
    `
    OpStore %place %to
    %again = OpLoad %pg_i32 %place
    OpStore %again #i32:5 Aligned 4
    %y = OpLoad %i32 %to Aligned 4`,
    [0n, 0n],
    [5, 5],
    { variables: '%place = OpVariable %pf_pg_i32 Function' },
  ),
  item(
    'pointer to number and back',
    'i32',
    'i32',
    `
    %number = OpConvertPtrToU %i64 %from
    %pointer = OpConvertUToPtr %pg_i32 %number
    %y = OpLoad %i32 %pointer Aligned 4`,
    [5, 6],
    [5, 6],
  ),
  item(
    'pointer bitcast',
    'f32',
    'i32',
    '%p = OpBitcast %pg_i32 %from\n%y = OpLoad %i32 %p Aligned 4',
    [1],
    [0x3f800000],
  ),
  item(
    'generic pointer',
    'i32',
    'i32',
    `
    OpStore %place %x
    %generic = OpPtrCastToGeneric %px_i32 %place
    %y = OpLoad %i32 %generic Aligned 4`,
    [5, 6],
    [5, 6],
    { variables: '%place = OpVariable %pf_i32 Function', capabilities: ['GenericPointer'] },
  ),
  item(
    'pointer comparison and select',
    'i32',
    'i32',
    `
    %a = OpConvertPtrToU %i64 %from
    %b = OpConvertPtrToU %i64 %to
    %same = OpIEqual %bool %a %b
    %chosen = OpSelect %pg_i32 %same %to %from
    %y = OpLoad %i32 %chosen Aligned 4`,
    [5],
    [5],
  ),
  item(
    'volatile load and store',
    'i32',
    'i32',
    '%again = OpLoad %i32 %from Volatile|Aligned 4\n%y = OpIAdd %i32 %again #i32:1',
    [1],
    [2],
  ),
  atomic('add', `%old = OpAtomicIAdd %i32 ${order} #i32:2`, 1, 1 + 2048),
  atomic('subtract', `%old = OpAtomicISub %i32 ${order} #i32:2`, 1, 1 - 2048),
  atomic('increment', `%old = OpAtomicIIncrement %i32 ${order}`, 5, 5 + 1024),
  atomic('decrement', `%old = OpAtomicIDecrement %i32 ${order}`, 5, 5 - 1024),
  atomic('signed minimum', `%n = OpSNegate %i32 %i\n%old = OpAtomicSMin %i32 ${order} %n`, 5, -1023),
  atomic('signed maximum', `%old = OpAtomicSMax %i32 ${order} %i`, -5, 1023),
  atomic('unsigned minimum', `%old = OpAtomicUMin %i32 ${order} %i`, -1, 0),
  atomic('unsigned maximum', `%old = OpAtomicUMax %i32 ${order} %i`, 3, 1023),
  atomic('and', `%old = OpAtomicAnd %i32 ${order} #i32:12`, 255, 12),
  atomic('or', `%old = OpAtomicOr %i32 ${order} %i`, 0, 1023),
  atomic('xor', `%old = OpAtomicXor %i32 ${order} %i`, 7, 7),
  atomic('exchange', `%old = OpAtomicExchange %i32 ${order} #i32:9`, 0, 9),
  atomic('load and store', `%old = OpAtomicLoad %i32 ${order}\nOpAtomicStore ${order} #i32:9`, 0, 9),
  atomic('compare and exchange', '%old = OpAtomicCompareExchange %i32 %p0 #i32:1 #i32:0 #i32:0 #i32:77 #i32:3', 3, 77),
];
