// @ts-check
// Control flow, functions, constants and specialisation.
import { item } from './item.mjs';
import { encode } from './values.mjs';

const loop = (/** @type {string} */ body) => `
  OpBranch %head
  %head = OpLabel
  %i = OpPhi %i32 #i32:0 %start %next %again
  %sum = OpPhi %i32 #i32:0 %start %more %again
  %go = OpSLessThan %bool %i %x
  OpLoopMerge %after %again None
  OpBranchConditional %go %inside %after
  %inside = OpLabel
  ${body}
  OpBranch %again
  %again = OpLabel
  %next = OpIAdd %i32 %i #i32:1
  OpBranch %head
  %after = OpLabel
  %y = OpCopyObject %i32 %sum`;

const spec = (/** @type {string} */ constants) => ({ constants });

export const control = [
  item(
    'branch and phi',
    'i32',
    'i32',
    `
    %c = OpSGreaterThan %bool %x #i32:0
    OpSelectionMerge %join None
    OpBranchConditional %c %yes %no
    %yes = OpLabel
    %a = OpIMul %i32 %x #i32:10
    OpBranch %join
    %no = OpLabel
    %b = OpSNegate %i32 %x
    OpBranch %join
    %join = OpLabel
    %y = OpPhi %i32 %a %yes %b %no`,
    [3, -4, 0],
    [30, 4, 0],
  ),
  item(
    'loop with phis',
    'i32',
    'i32',
    loop('%more = OpIAdd %i32 %sum %i'),
    [0, 1, 5, 100],
    (n) => (n * (n - 1)) / 2 + 0,
  ),
  item(
    'loop in a loop',
    'i32',
    'i32',
    loop(`
    OpBranch %head2
    %head2 = OpLabel
    %j = OpPhi %i32 #i32:0 %inside %next2 %again2
    %more = OpPhi %i32 %sum %inside %one_more %again2
    %go2 = OpSLessThan %bool %j %i
    OpLoopMerge %after2 %again2 None
    OpBranchConditional %go2 %inside2 %after2
    %inside2 = OpLabel
    %one_more = OpIAdd %i32 %more #i32:1
    OpBranch %again2
    %again2 = OpLabel
    %next2 = OpIAdd %i32 %j #i32:1
    OpBranch %head2
    %after2 = OpLabel`),
    [1, 4, 10],
    (n) => (n * (n - 1)) / 2,
  ),
  item(
    'loop over variables, with a break',
    'i32',
    'i32',
    `
    OpStore %n %x
    OpStore %steps #i32:0
    OpBranch %head
    %head = OpLabel
    OpLoopMerge %after %again None
    OpBranch %test
    %test = OpLabel
    %now = OpLoad %i32 %n
    %one = OpSLessThanEqual %bool %now #i32:1
    OpBranchConditional %one %after %inside
    %inside = OpLabel
    %half = OpSDiv %i32 %now #i32:2
    OpStore %n %half
    %s = OpLoad %i32 %steps
    %t = OpIAdd %i32 %s #i32:1
    OpStore %steps %t
    OpBranch %again
    %again = OpLabel
    OpBranch %head
    %after = OpLabel
    %y = OpLoad %i32 %steps`,
    [1, 2, 100, 1024],
    [0, 1, 6, 10],
    { variables: '%n = OpVariable %pf_i32 Function\n%steps = OpVariable %pf_i32 Function' },
  ),
  item(
    'switch',
    'i32',
    'i32',
    `
    OpSelectionMerge %join None
    OpSwitch %x %other 1 %one 2 %two 7 %two
    %one = OpLabel
    OpBranch %join
    %two = OpLabel
    OpBranch %join
    %other = OpLabel
    OpBranch %join
    %join = OpLabel
    %y = OpPhi %i32 #i32:10 %one #i32:20 %two #i32:-1 %other`,
    [1, 2, 7, 5],
    [10, 20, 20, -1],
  ),
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
  item(
    'function call',
    'f32',
    'f32',
    '%a = OpFunctionCall %f32 %square %x\n%y = OpFunctionCall %f32 %square %a',
    [2, 3],
    [16, 81],
    {
      declare: '%square_type = OpTypeFunction %f32 %f32',
      functions: `%square = OpFunction %f32 Pure %square_type
      %v = OpFunctionParameter %f32
      %square_start = OpLabel
      %vv = OpFMul %f32 %v %v
      OpReturnValue %vv
      OpFunctionEnd`,
    },
  ),
  item(
    'function that writes through a pointer',
    'i32',
    'i32',
    `
    OpStore %place %x
    %nothing = OpFunctionCall %void %double %place
    %y = OpLoad %i32 %place`,
    [2, 3],
    [4, 6],
    {
      variables: '%place = OpVariable %pf_i32 Function',
      declare: '%double_type = OpTypeFunction %void %pf_i32',
      functions: `%double = OpFunction %void None %double_type
      %v = OpFunctionParameter %pf_i32
      %double_start = OpLabel
      %old = OpLoad %i32 %v
      %new = OpIAdd %i32 %old %old
      OpStore %v %new
      OpReturn
      OpFunctionEnd`,
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
  item(
    'boolean constants',
    'i32',
    'i32',
    '%a = OpSelect %i32 %yes #i32:1 #i32:2\n%b = OpSelect %i32 %no #i32:10 #i32:20\n%y = OpIAdd %i32 %a %b',
    [0],
    [21],
    { declare: '%yes = OpConstantTrue %bool\n%no = OpConstantFalse %bool' },
  ),
  item(
    'constants of 8 and 16 bits',
    'i32',
    'i32',
    '%a = OpSConvert %i32 #i8:-5\n%b = OpSConvert %i32 #i16:-500\n%c = OpIAdd %i32 %a %b\n%y = OpIAdd %i32 %c %x',
    [0],
    [-505],
  ),
  item(
    'f16 and f64 constants',
    'f64',
    'f64',
    '%a = OpFConvert %f64 #f16:0.25\n%b = OpFAdd %f64 %a #f64:1e100\n%y = OpFAdd %f64 %b %x',
    [0],
    [1e100],
  ),
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
