// Cut from the Khronos SPIR-V grammar 1.6 revision 1 to what the builder writes; tools/test/spirv-tables.test.mjs compares the numbers.
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

/** Opcodes of the core instructions. */
export const Op = {
  Name: 5,
  Extension: 10,
  ExtInstImport: 11,
  ExtInst: 12,
  MemoryModel: 14,
  EntryPoint: 15,
  ExecutionMode: 16,
  Capability: 17,
  TypeVoid: 19,
  TypeBool: 20,
  TypeInt: 21,
  TypeFloat: 22,
  TypeVector: 23,
  TypeArray: 28,
  TypeStruct: 30,
  TypePointer: 32,
  TypeFunction: 33,
  ConstantTrue: 41,
  ConstantFalse: 42,
  Constant: 43,
  ConstantComposite: 44,
  SpecConstantTrue: 48,
  SpecConstantFalse: 49,
  SpecConstant: 50,
  SpecConstantOp: 52,
  Function: 54,
  FunctionParameter: 55,
  FunctionEnd: 56,
  FunctionCall: 57,
  Variable: 59,
  Load: 61,
  Store: 62,
  InBoundsAccessChain: 66,
  InBoundsPtrAccessChain: 70,
  Decorate: 71,
  VectorExtractDynamic: 77,
  VectorShuffle: 79,
  CompositeConstruct: 80,
  CompositeExtract: 81,
  CompositeInsert: 82,
  ConvertFToU: 109,
  ConvertFToS: 110,
  ConvertSToF: 111,
  ConvertUToF: 112,
  UConvert: 113,
  SConvert: 114,
  FConvert: 115,
  ConvertPtrToU: 117,
  Bitcast: 124,
  SNegate: 126,
  FNegate: 127,
  IAdd: 128,
  FAdd: 129,
  ISub: 130,
  FSub: 131,
  IMul: 132,
  FMul: 133,
  UDiv: 134,
  SDiv: 135,
  FDiv: 136,
  UMod: 137,
  SRem: 138,
  FRem: 140,
  IsNan: 156,
  LogicalEqual: 164,
  LogicalNotEqual: 165,
  LogicalOr: 166,
  LogicalAnd: 167,
  LogicalNot: 168,
  Select: 169,
  IEqual: 170,
  INotEqual: 171,
  UGreaterThan: 172,
  SGreaterThan: 173,
  UGreaterThanEqual: 174,
  SGreaterThanEqual: 175,
  ULessThan: 176,
  SLessThan: 177,
  ULessThanEqual: 178,
  SLessThanEqual: 179,
  FOrdEqual: 180,
  FUnordNotEqual: 183,
  FOrdLessThan: 184,
  FOrdGreaterThan: 186,
  FOrdLessThanEqual: 188,
  FOrdGreaterThanEqual: 190,
  ShiftRightLogical: 194,
  ShiftRightArithmetic: 195,
  ShiftLeftLogical: 196,
  BitwiseOr: 197,
  BitwiseXor: 198,
  BitwiseAnd: 199,
  Not: 200,
  ControlBarrier: 224,
  AtomicExchange: 229,
  AtomicCompareExchange: 230,
  AtomicIAdd: 234,
  AtomicISub: 235,
  AtomicSMin: 236,
  AtomicUMin: 237,
  AtomicSMax: 238,
  AtomicUMax: 239,
  AtomicAnd: 240,
  AtomicOr: 241,
  AtomicXor: 242,
  Phi: 245,
  LoopMerge: 246,
  SelectionMerge: 247,
  Label: 248,
  Branch: 249,
  BranchConditional: 250,
  Switch: 251,
  Return: 253,
  ReturnValue: 254,
  GroupBroadcast: 263,
  GroupIAdd: 264,
  GroupFAdd: 265,
  GroupFMin: 266,
  GroupUMin: 267,
  GroupSMin: 268,
  GroupFMax: 269,
  GroupUMax: 270,
  GroupSMax: 271,
  SubgroupShuffleINTEL: 5571,
  SubgroupBlockReadINTEL: 5575,
  SubgroupBlockWriteINTEL: 5576,
} as const;
export type Op = (typeof Op)[keyof typeof Op];

/** Bits of SelectionControl. */
export const SelectionControl = {
  None: 0x0,
} as const;

/** Bits of LoopControl. */
export const LoopControl = {
  None: 0x0,
  Unroll: 0x1,
  DontUnroll: 0x2,
} as const;

/** Bits of FunctionControl. */
export const FunctionControl = {
  None: 0x0,
  Inline: 0x1,
} as const;

/** Bits of MemorySemantics. */
export const MemorySemantics = {
  SequentiallyConsistent: 0x10,
  WorkgroupMemory: 0x100,
  CrossWorkgroupMemory: 0x200,
} as const;

/** Bits of MemoryAccess. */
export const MemoryAccess = {
  Volatile: 0x1,
  Aligned: 0x2,
} as const;

/** Values of ExecutionModel. */
export const ExecutionModel = {
  Kernel: 6,
} as const;

/** Values of AddressingModel. */
export const AddressingModel = {
  Physical64: 2,
} as const;

/** Values of MemoryModel. */
export const MemoryModel = {
  OpenCL: 2,
} as const;

/** Values of ExecutionMode. */
export const ExecutionMode = {
  LocalSize: 17,
  ContractionOff: 31,
  SubgroupSize: 35,
} as const;

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

/** Values of LinkageType. */
export const LinkageType = {
  Import: 1,
} as const;

/** Values of Decoration. */
export const Decoration = {
  SpecId: 1,
  BuiltIn: 11,
  Constant: 22,
  LinkageAttributes: 41,
  Alignment: 44,
} as const;

/** Values of BuiltIn. */
export const BuiltIn = {
  NumWorkgroups: 24,
  WorkgroupSize: 25,
  WorkgroupId: 26,
  LocalInvocationId: 27,
  GlobalInvocationId: 28,
  GlobalSize: 31,
  SubgroupSize: 36,
  NumSubgroups: 38,
  SubgroupId: 40,
  SubgroupLocalInvocationId: 41,
} as const;
export type BuiltIn = (typeof BuiltIn)[keyof typeof BuiltIn];

/** Values of Scope. */
export const Scope = {
  Device: 1,
  Workgroup: 2,
  Subgroup: 3,
} as const;

/** Values of GroupOperation. */
export const GroupOperation = {
  Reduce: 0,
} as const;

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
  SubgroupShuffleINTEL: 5568,
  SubgroupBufferBlockIOINTEL: 5569,
} as const;
export type Capability = (typeof Capability)[keyof typeof Capability];
