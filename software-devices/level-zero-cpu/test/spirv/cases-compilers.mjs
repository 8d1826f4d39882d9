// @ts-check
// What clang and the translator from LLVM write for OpenCL C, and hand-written modules do not.
import { item } from './item.mjs';

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
