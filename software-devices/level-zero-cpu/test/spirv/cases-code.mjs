// @ts-check
// What the driver rewrites, and what it reads out of a module: constants, composites, copies, arguments, and what compilers of
// OpenCL C write. What the processor's compiler makes of the rest, the features of spirv-builder show.
import { item } from './item.mjs';
import { moduleText } from './module.mjs';
import { encode } from './values.mjs';

const spec = (/** @type {string} */ constants) => ({ constants });

export const rewritten = [
  item(
    'null constants of all kinds',
    'i32',
    'i32',
    `
    %y0 = OpIAdd %i32 %x %null_i32
    %a = OpSelect %i32 %null_bool #i32:5 #i32:6
    %b = OpCompositeExtract %i32 %null_array 2
    %c = OpUConvert %i32 %null_i64
    %d = OpConvertFToS %i32 %null_f64
    %ab = OpIAdd %i32 %a %b
    %cd = OpIAdd %i32 %c %d
    %abcd = OpIAdd %i32 %ab %cd
    %y = OpIAdd %i32 %y0 %abcd`,
    [1, 2],
    [7, 8],
    {
      declare:
        '%null_i32 = OpConstantNull %i32\n%null_i64 = OpConstantNull %i64\n%null_f64 = OpConstantNull %f64\n%null_bool = OpConstantNull %bool\n%null_array = OpConstantNull %a4_i32',
    },
  ),
  item('function with an early return', 'i32', 'i32', '%y = OpFunctionCall %i32 %early %x', [-2, 3], [0, 3], {
    declare: '%early_type = OpTypeFunction %i32 %i32',
    functions: `%early = OpFunction %i32 None %early_type
      %v = OpFunctionParameter %i32
      %early_start = OpLabel
      %negative = OpSLessThan %bool %v #i32:0
      OpBranchConditional %negative %yes %no
      %yes = OpLabel
      OpReturnValue #i32:0
      %no = OpLabel
      OpReturnValue %v
      OpFunctionEnd`,
  }),
  item(
    'unreachable',
    'i32',
    'i32',
    `
    OpSelectionMerge %join None
    OpSwitch %x %never 1 %one 2 %two
    %one = OpLabel
    OpBranch %join
    %two = OpLabel
    OpBranch %join
    %never = OpLabel
    OpUnreachable
    %join = OpLabel
    %y = OpPhi %i32 #i32:10 %one #i32:20 %two`,
    [1, 2],
    [10, 20],
  ),
  item('null vector', 'v4f32', 'v4f32', '%y = OpFAdd %v4f32 %x %nothing', [1, 2, 3, 4], [1, 2, 3, 4], {
    declare: '%nothing = OpConstantNull %v4f32',
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
];

/** Cases of their own shape. @type {import('./harness.mjs').Case[]} */
export const kernelArguments = [
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
    expected: [{ arg: 0, values: [-1 - 20 + 300 + 2 ** 40 + 0.5 + 0.25 + 4] }],
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
    expected: [{ arg: 1, values: [17] }],
  },
];

const specialized = {
  declare: `%count = OpSpecConstant %i32 7
    %scale = OpSpecConstant %f32 0.5
    %flag = OpSpecConstantTrue %bool
    %long = OpSpecConstant %i64 1
    %byte = OpSpecConstant %i8 1
    %double = OpSpecConstant %f64 1
    %twice = OpSpecConstantOp %i32 IMul %count #i32:2`,
  decorate: `OpDecorate %count SpecId 1
    OpDecorate %scale SpecId 2
    OpDecorate %flag SpecId 3
    OpDecorate %long SpecId 4
    OpDecorate %byte SpecId 5
    OpDecorate %double SpecId 6`,
};
const addAll = `
  %a = OpConvertSToF %f64 %twice
  %b = OpFConvert %f64 %scale
  %c = OpSelect %f64 %flag #f64:1000 #f64:2000
  %d = OpConvertSToF %f64 %long
  %e = OpConvertSToF %f64 %byte
  %ab = OpFAdd %f64 %a %b
  %cd = OpFAdd %f64 %c %d
  %ef = OpFAdd %f64 %e %double
  %abcd = OpFAdd %f64 %ab %cd
  %all = OpFAdd %f64 %abcd %ef
  %y = OpFAdd %f64 %all %x`;

export const specialization = [
  item(
    'specialisation constants keep their values',
    'f64',
    'f64',
    addAll,
    [0],
    [14 + 0.5 + 1000 + 1 + 1 + 1],
    specialized,
  ),
  item('specialisation of an integer, and what is computed of it', 'f64', 'f64', addAll, [0], [40 + 0.5 + 1000 + 3], {
    ...specialized,
    ...spec(`1:${encode('i32', [20])}`),
  }),
  item('specialisation of a float', 'f64', 'f64', addAll, [0], [14 + 2.25 + 1000 + 3], {
    ...specialized,
    ...spec(`2:${encode('f32', [2.25])}`),
  }),
  item('specialisation of a bool', 'f64', 'f64', addAll, [0], [14 + 0.5 + 2000 + 3], {
    ...specialized,
    ...spec('3:00'),
  }),
  item('specialisation of 64, 8 bits and a double', 'f64', 'f64', addAll, [0], [14 + 0.5 + 1000 + 2 ** 40 - 5 + 0.75], {
    ...specialized,
    ...spec(`4:${encode('i64', [2n ** 40n])} 5:${encode('i8', [-5])} 6:${encode('f64', [0.75])}`),
  }),
  item('specialisation of an unknown id is ignored', 'f64', 'f64', addAll, [0], [1017.5], {
    ...specialized,
    ...spec('99:01020304'),
  }),
  item(
    'specialised array length',
    'i32',
    'i32',
    `
    %at = OpIAdd %i32 %length #i32:-1
    %last = OpInBoundsAccessChain %pf_i32 %array %at
    OpStore %last %x
    %y = OpLoad %i32 %last`,
    [5, 6],
    [5, 6],
    {
      declare:
        '%length = OpSpecConstant %i32 4\n%array_type = OpTypeArray %i32 %length\n%array_pointer = OpTypePointer Function %array_type',
      decorate: 'OpDecorate %length SpecId 0',
      variables: '%array = OpVariable %array_pointer Function',
      constants: `0:${encode('i32', [64])}`,
    },
  ),
];

const imported = item('built-in variables as imports', 'i32', 'i32', '%y = OpIAdd %i32 %x #i32:1', [1, 2], [2, 3], {
  decorate: 'OpDecorate %builtin_GlobalInvocationId LinkageAttributes "__spirv_BuiltInGlobalInvocationId" Import',
});

const apart = item(
  'a function that is not to be inlined and reads an id',
  'i64',
  'i64',
  '%y = OpFunctionCall %i64 %plus_id %x',
  [10n, 20n, 30n],
  [10n, 21n, 32n],
  {
    declare: '%plus_id_type = OpTypeFunction %i64 %i64',
    functions: `%plus_id = OpFunction %i64 DontInline %plus_id_type
    %v = OpFunctionParameter %i64
    %plus_id_start = OpLabel
    %id3 = OpLoad %v3i64 %builtin_GlobalInvocationId
    %id = OpCompositeExtract %i64 %id3 0
    %sum = OpIAdd %i64 %v %id
    OpReturnValue %sum
    OpFunctionEnd`,
  },
);

const unoptimised = item('a kernel that is not to be inlined', 'i32', 'i32', '%y = OpIMul %i32 %x %x', [3, 4], [9, 16]);

/** @type {import('./harness.mjs').Case[]} */
export const compilers = [
  imported,
  apart,
  { ...unoptimised, text: unoptimised.text.replace('OpFunction %void None', 'OpFunction %void DontInline') },
];
