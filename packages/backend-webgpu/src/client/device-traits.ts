import type { DeviceTraits, MatrixShape } from '../kernels/recorder.ts';
import { isSoftwareAdapter } from './adapters.ts';

/** The feature, of Dawn only so far, that gives shaders the GPU's matrix units. */
export const MATRIX_UNITS = 'chromium-experimental-subgroup-matrix';

/** A product that a subgroup computes, as Dawn lists them; TypeScript's lib.dom does not know them. */
interface SubgroupMatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

/** The shapes of products of f16 with sums in float32 that the matrix units of a device compute; none without the feature. */
function matrixShapes({ features }: Pick<GPUDevice, 'features'>, info: GPUAdapterInfo): readonly MatrixShape[] {
  const needed = [MATRIX_UNITS, 'shader-f16', 'subgroups'];
  if (!needed.every((feature) => features.has(feature))) return [];
  const { subgroupMatrixConfigs = [] } = info as { subgroupMatrixConfigs?: Iterable<SubgroupMatrixConfig> };
  return [...subgroupMatrixConfigs]
    .filter(({ componentType, resultComponentType }) => componentType === 'f16' && resultComponentType === 'f32')
    .map(({ M, N, K }) => ({ m: M, n: N, k: K }));
}

/** The facts about a device that planning needs, except those that only its source knows. */
export function traitsOf(
  device: Pick<GPUDevice, 'limits' | 'features'>,
  info: GPUAdapterInfo,
): Omit<DeviceTraits, 'checksBounds'> {
  const { limits, features } = device;
  return {
    isSoftware: isSoftwareAdapter(info),
    hasF16: features.has('shader-f16'),
    hasSubgroups: features.has('subgroups'),
    subgroupSize: features.has('subgroups') ? fixedSubgroupSize(info) : 0,
    matrixUnits: matrixShapes(device, info),
    storageAlignment: limits.minStorageBufferOffsetAlignment,
    maxBindingBytes: Math.floor(limits.maxStorageBufferBindingSize / 4) * 4,
    maxBufferBytes: Math.floor(limits.maxBufferSize / 4) * 4,
    maxWorkgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension,
    // Workgroups of the kernels are rows: a device may allow fewer invocations in one direction than in all.
    maxInvocations: Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
    maxWorkgroupBytes: limits.maxComputeWorkgroupStorageSize,
  };
}

/** Older implementations do not tell: then nothing may rely on a size. */
function fixedSubgroupSize({ subgroupMinSize, subgroupMaxSize }: GPUAdapterInfo): number {
  return subgroupMinSize === subgroupMaxSize ? (subgroupMinSize ?? 0) : 0;
}
