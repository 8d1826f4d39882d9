import type { MatrixShape } from '../kernels/recorder.ts';

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
export function matrixShapes({ features }: Pick<GPUDevice, 'features'>, info: GPUAdapterInfo): readonly MatrixShape[] {
  const needed = [MATRIX_UNITS, 'shader-f16', 'subgroups'];
  if (!needed.every((feature) => features.has(feature))) return [];
  const { subgroupMatrixConfigs = [] } = info as { subgroupMatrixConfigs?: Iterable<SubgroupMatrixConfig> };
  return [...subgroupMatrixConfigs]
    .filter(({ componentType, resultComponentType }) => componentType === 'f16' && resultComponentType === 'f32')
    .map(({ M, N, K }) => ({ m: M, n: N, k: K }));
}
