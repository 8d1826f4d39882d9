// @ts-check
// What Intel's driver says of the GPUs that software-devices/intel-driver has, for planning without it. A test compares
// this with the driver.

/** @typedef {import('../../src/kernels/recorder.ts').DeviceTraits} DeviceTraits */
/** @typedef {import('../../../../software-devices/intel-driver/lib/products.mjs').Product} Product */

/** @type {DeviceTraits} */
const tgl = {
  isCpuLike: false,
  maxGroupSize: 512,
  maxLocalBytes: 65_536,
  subgroupSizes: [8, 16, 32],
  hasF64: false,
  hasF16: true,
  hasLargeRegisterFile: false,
  matrixEngine: undefined,
  computeUnits: 6,
  maxAllocationBytes: 13_743_894_528,
  maxGroups: [2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1],
};

/** @type {DeviceTraits} */
const dg2 = {
  ...tgl,
  hasLargeRegisterFile: true,
  matrixEngine: 8,
  computeUnits: 32,
  maxAllocationBytes: 27_487_789_056,
};

/** @type {DeviceTraits} */
const pvc = {
  ...dg2,
  maxGroupSize: 1024,
  maxLocalBytes: 131_072,
  subgroupSizes: [16, 32],
  hasF64: true,
  matrixEngine: 16,
  computeUnits: 64,
};

/** @type {Readonly<Record<Product, DeviceTraits>>} */
export const INTEL_TRAITS = {
  skl: { ...tgl, maxGroupSize: 256, hasF64: true, computeUnits: 3 },
  tgl,
  dg2,
  pvc,
  pvc2: { ...pvc, computeUnits: 128 },
};
