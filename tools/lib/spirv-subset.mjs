// @ts-check
// The subset of SPIR-V that the builder supports: compute kernels of the OpenCL flavour. `generate-spirv.mjs` keeps what
// needs none of the grammar's capabilities or at least one of these, and of extensions only what one of these brought.

export const capabilities = [
  ...['Kernel', 'Addresses', 'Linkage', 'GenericPointer', 'Vector16'],
  ...['Int8', 'Int16', 'Int64', 'Float16', 'Float16Buffer', 'Float64'],
  ...['Int64Atomics', 'AtomicFloat32AddEXT'],
  ...['Groups', 'SubgroupDispatch'],
  ...['GroupNonUniform', 'GroupNonUniformVote', 'GroupNonUniformArithmetic', 'GroupNonUniformBallot'],
  ...['GroupNonUniformShuffle', 'GroupNonUniformShuffleRelative', 'GroupNonUniformClustered'],
  ...['DenormPreserve', 'DenormFlushToZero', 'SignedZeroInfNanPreserve', 'RoundingModeRTE', 'RoundingModeRTZ'],
  ...['SubgroupShuffleINTEL', 'SubgroupBufferBlockIOINTEL'],
];

export const extensions = [
  'SPV_EXT_shader_atomic_float_add',
  'SPV_INTEL_subgroups',
  'SPV_KHR_float_controls',
  'SPV_KHR_linkonce_odr',
  'SPV_KHR_no_integer_wrap_decoration',
];

/** Images, samplers and shader resources, which the grammar ties to no capability. */
export const withoutInstructions = [
  ...['OpTypeImage', 'OpTypeSampler', 'OpTypeSampledImage', 'OpImageTexelPointer', 'OpSampledImage'],
  ...['OpImageSampleExplicitLod', 'OpImageFetch', 'OpImageRead', 'OpImageWrite', 'OpImage', 'OpImageQueryFormat'],
  ...['OpImageQueryOrder', 'OpImageQuerySizeLod', 'OpImageQuerySize', 'OpImageQueryLevels', 'OpImageQuerySamples'],
];

export const withoutEnumerants = ['StorageClass.Image', 'MemorySemantics.ImageMemory', 'Decoration.CounterBuffer'];

/** Enums that no instruction names, because it takes them by the id of a constant. */
export const enumsById = ['Scope', 'MemorySemantics', 'KernelProfilingInfo'];

/** A second name for a value is left out, but for these. */
export const aliases = ['MemorySemantics.None'];
