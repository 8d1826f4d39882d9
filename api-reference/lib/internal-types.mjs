// @ts-check
/** Types that signatures of a package mention and that stay out of its exports, by package. @type {Record<string, string[]>} */
export const INTERNAL_TYPES = {
  // What its client is made of.
  '@concord/backend-levelzero': ['Block', 'KernelObject', 'LevelZeroLibrary', 'OpenDevice'],
  // What its signatures are made of, and a generated table.
  '@concord/spirv-builder': ['Arguments', 'OpenCl', 'Parameters', 'Region', 'Values'],
};
