// @ts-check
/** Types that signatures of a package mention and that stay out of its exports, by package. @type {Record<string, string[]>} */
export const INTERNAL_TYPES = {
  // What types of kernels and their calls are made of, and the table that `allocations` gives.
  '@concord/backend-core': [
    'AllocationTable',
    'Binary',
    'Comparison',
    'Float',
    'Fold',
    'Given',
    'IsGather',
    'SymbolOf',
  ],
  '@concord/backend-cpu': ['Copied'],
  // What its client is made of.
  '@concord/backend-levelzero': ['Block', 'CallParameter', 'KernelObject', 'LevelZeroLibrary', 'OpenDevice'],
  '@concord/backend-webgpu': ['Home'],
  '@concord/kernel': ['KeptVectors'],
  // What its signatures are made of, and a generated table.
  '@concord/spirv-builder': ['Arguments', 'OpenCl', 'Parameters', 'Region', 'Values'],
};
