// Cut from the Khronos SPIR-V grammar 1.6 revision 1 to what kernels need; tools/test/spirv-tables.test.mjs compares the numbers.
// The tables below come from a file with this notice:
//
// Copyright (c) 2014-2020 The Khronos Group Inc.
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and/or associated documentation files (the "Materials"),
// to deal in the Materials without restriction, including without limitation
// the rights to use, copy, modify, merge, publish, distribute, sublicense,
// and/or sell copies of the Materials, and to permit persons to whom the
// Materials are furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in
// all copies or substantial portions of the Materials.
//
// MODIFICATIONS TO THIS FILE MAY MEAN IT NO LONGER ACCURATELY REFLECTS KHRONOS
// STANDARDS. THE UNMODIFIED, NORMATIVE VERSIONS OF KHRONOS SPECIFICATIONS AND
// HEADER INFORMATION ARE LOCATED AT https://www.khronos.org/registry/
//
// THE MATERIALS ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS
// OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL
// THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING
// FROM,OUT OF OR IN CONNECTION WITH THE MATERIALS OR THE USE OR OTHER DEALINGS
// IN THE MATERIALS.

/** Bits of FPFastMathMode. */
export const FPFastMathMode = {
  None: 0x0,
  NotNaN: 0x1,
  NotInf: 0x2,
  NSZ: 0x4,
  AllowRecip: 0x8,
  Fast: 0x10,
} as const;
export type FPFastMathMode = number;

/** Bits of SelectionControl. */
export const SelectionControl = {
  None: 0x0,
  Flatten: 0x1,
  DontFlatten: 0x2,
} as const;
export type SelectionControl = number;

/** Bits of LoopControl. */
export const LoopControl = {
  None: 0x0,
  Unroll: 0x1,
  DontUnroll: 0x2,
  DependencyInfinite: 0x4,
  DependencyLength: 0x8,
  MinIterations: 0x10,
  MaxIterations: 0x20,
  IterationMultiple: 0x40,
  PeelCount: 0x80,
  PartialCount: 0x100,
} as const;
export type LoopControl = number;

/** Bits of FunctionControl. */
export const FunctionControl = {
  None: 0x0,
  Inline: 0x1,
  DontInline: 0x2,
  Pure: 0x4,
  Const: 0x8,
} as const;
export type FunctionControl = number;

/** Bits of MemorySemantics. */
export const MemorySemantics = {
  Relaxed: 0x0,
  None: 0x0,
  Acquire: 0x2,
  Release: 0x4,
  AcquireRelease: 0x8,
  SequentiallyConsistent: 0x10,
  SubgroupMemory: 0x80,
  WorkgroupMemory: 0x100,
  CrossWorkgroupMemory: 0x200,
} as const;
export type MemorySemantics = number;

/** Bits of MemoryAccess. */
export const MemoryAccess = {
  None: 0x0,
  Volatile: 0x1,
  Aligned: 0x2,
  Nontemporal: 0x4,
} as const;
export type MemoryAccess = number;

/** Bits of KernelProfilingInfo. */
export const KernelProfilingInfo = {
  None: 0x0,
  CmdExecTime: 0x1,
} as const;
export type KernelProfilingInfo = number;

/** Values of SourceLanguage. */
export const SourceLanguage = {
  Unknown: 0,
  ESSL: 1,
  GLSL: 2,
  OpenCL_C: 3,
  OpenCL_CPP: 4,
  HLSL: 5,
  CPP_for_OpenCL: 6,
  SYCL: 7,
} as const;
export type SourceLanguage = (typeof SourceLanguage)[keyof typeof SourceLanguage];

/** Values of ExecutionModel. */
export const ExecutionModel = {
  Kernel: 6,
} as const;
export type ExecutionModel = (typeof ExecutionModel)[keyof typeof ExecutionModel];

/** Values of AddressingModel. */
export const AddressingModel = {
  Logical: 0,
  Physical32: 1,
  Physical64: 2,
} as const;
export type AddressingModel = (typeof AddressingModel)[keyof typeof AddressingModel];

/** Values of MemoryModel. */
export const MemoryModel = {
  OpenCL: 2,
} as const;
export type MemoryModel = (typeof MemoryModel)[keyof typeof MemoryModel];

/** Values of ExecutionMode. */
export const ExecutionMode = {
  LocalSize: 17,
  LocalSizeHint: 18,
  VecTypeHint: 30,
  ContractionOff: 31,
  Initializer: 33,
  Finalizer: 34,
  SubgroupSize: 35,
  SubgroupsPerWorkgroup: 36,
  SubgroupsPerWorkgroupId: 37,
  LocalSizeId: 38,
  LocalSizeHintId: 39,
  DenormPreserve: 4459,
  DenormFlushToZero: 4460,
  SignedZeroInfNanPreserve: 4461,
  RoundingModeRTE: 4462,
  RoundingModeRTZ: 4463,
} as const;
export type ExecutionMode = (typeof ExecutionMode)[keyof typeof ExecutionMode];

/** Values of StorageClass. */
export const StorageClass = {
  UniformConstant: 0,
  Input: 1,
  Workgroup: 4,
  CrossWorkgroup: 5,
  Function: 7,
  Generic: 8,
} as const;
export type StorageClass = (typeof StorageClass)[keyof typeof StorageClass];

/** Values of FPRoundingMode. */
export const FPRoundingMode = {
  RTE: 0,
  RTZ: 1,
  RTP: 2,
  RTN: 3,
} as const;
export type FPRoundingMode = (typeof FPRoundingMode)[keyof typeof FPRoundingMode];

/** Values of LinkageType. */
export const LinkageType = {
  Export: 0,
  Import: 1,
  LinkOnceODR: 2,
} as const;
export type LinkageType = (typeof LinkageType)[keyof typeof LinkageType];

/** Values of FunctionParameterAttribute. */
export const FunctionParameterAttribute = {
  Zext: 0,
  Sext: 1,
  ByVal: 2,
  Sret: 3,
  NoAlias: 4,
  NoCapture: 5,
  NoWrite: 6,
  NoReadWrite: 7,
} as const;
export type FunctionParameterAttribute = (typeof FunctionParameterAttribute)[keyof typeof FunctionParameterAttribute];

/** Values of Decoration. */
export const Decoration = {
  SpecId: 1,
  CPacked: 10,
  BuiltIn: 11,
  Restrict: 19,
  Aliased: 20,
  Volatile: 21,
  Constant: 22,
  Coherent: 23,
  NonWritable: 24,
  NonReadable: 25,
  SaturatedConversion: 28,
  FuncParamAttr: 38,
  FPRoundingMode: 39,
  FPFastMathMode: 40,
  LinkageAttributes: 41,
  Alignment: 44,
  MaxByteOffset: 45,
  AlignmentId: 46,
  MaxByteOffsetId: 47,
  NoSignedWrap: 4469,
  NoUnsignedWrap: 4470,
  UserSemantic: 5635,
} as const;
export type Decoration = (typeof Decoration)[keyof typeof Decoration];

/** Values of BuiltIn. */
export const BuiltIn = {
  NumWorkgroups: 24,
  WorkgroupSize: 25,
  WorkgroupId: 26,
  LocalInvocationId: 27,
  GlobalInvocationId: 28,
  LocalInvocationIndex: 29,
  WorkDim: 30,
  GlobalSize: 31,
  EnqueuedWorkgroupSize: 32,
  GlobalOffset: 33,
  GlobalLinearId: 34,
  SubgroupSize: 36,
  SubgroupMaxSize: 37,
  NumSubgroups: 38,
  NumEnqueuedSubgroups: 39,
  SubgroupId: 40,
  SubgroupLocalInvocationId: 41,
  SubgroupEqMask: 4416,
  SubgroupGeMask: 4417,
  SubgroupGtMask: 4418,
  SubgroupLeMask: 4419,
  SubgroupLtMask: 4420,
} as const;
export type BuiltIn = (typeof BuiltIn)[keyof typeof BuiltIn];

/** Values of Scope. */
export const Scope = {
  CrossDevice: 0,
  Device: 1,
  Workgroup: 2,
  Subgroup: 3,
  Invocation: 4,
} as const;
export type Scope = (typeof Scope)[keyof typeof Scope];

/** Values of GroupOperation. */
export const GroupOperation = {
  Reduce: 0,
  InclusiveScan: 1,
  ExclusiveScan: 2,
  ClusteredReduce: 3,
} as const;
export type GroupOperation = (typeof GroupOperation)[keyof typeof GroupOperation];

/** Values of Capability. */
export const Capability = {
  Addresses: 4,
  Linkage: 5,
  Kernel: 6,
  Vector16: 7,
  Float16Buffer: 8,
  Float16: 9,
  Float64: 10,
  Int64: 11,
  Int64Atomics: 12,
  Groups: 18,
  Int16: 22,
  GenericPointer: 38,
  Int8: 39,
  SubgroupDispatch: 58,
  GroupNonUniform: 61,
  GroupNonUniformVote: 62,
  GroupNonUniformArithmetic: 63,
  GroupNonUniformBallot: 64,
  GroupNonUniformShuffle: 65,
  GroupNonUniformShuffleRelative: 66,
  GroupNonUniformClustered: 67,
  DenormPreserve: 4464,
  DenormFlushToZero: 4465,
  SignedZeroInfNanPreserve: 4466,
  RoundingModeRTE: 4467,
  RoundingModeRTZ: 4468,
  SubgroupShuffleINTEL: 5568,
  SubgroupBufferBlockIOINTEL: 5569,
  AtomicFloat32AddEXT: 6033,
} as const;
export type Capability = (typeof Capability)[keyof typeof Capability];
