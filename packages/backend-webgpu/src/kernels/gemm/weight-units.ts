import { FORMS_OF_INTEGERS, shapeOf, weightFormOf } from '@concord/variants';
import { bindable } from '../operands.ts';
import type { DeviceTraits } from '../recorder.ts';
import { SUBGROUP, UNIT, VECTOR } from './matrix-tile.ts';
import type { WeightProduct } from './plan.ts';
import { bindMatrix, type Product, type ProductTable, type Variant } from './product.ts';
import { areBindable, isByUnits, launchWeights } from './weight-rows.ts';
import { MOST_LINES } from './weight-rows.wgsl.ts';
import { UNITS_EACH, UNITS_STEP, unitsBytes, weightUnits, type WeightUnitsParams } from './weight-units.wgsl.ts';

/** Subgroups of a workgroup. */
const SUBGROUPS = [2, 8] as const;
type Subgroups = (typeof SUBGROUPS)[number];
const SUBGROUPS_OF: ReadonlyMap<string, Subgroups> = new Map(
  SUBGROUPS.map((subgroups) => [`gemm/weight-units-16x${subgroups}`, subgroups]),
);
/** Workgroups that are enough for a large GPU; fewer are larger. */
const ENOUGH_WORKGROUPS = 256;

/** Returns whether a product of f16 and integers is computed on matrix units: more rows than invocations have sums for. */
export function isOfWeightUnits(product: Product, traits: DeviceTraits): product is WeightProduct {
  const { m, k, a, weights, transB } = product;
  const { storageAlignment } = traits;
  return (
    weights?.quant !== undefined &&
    transB &&
    a.dtype === 'f16' &&
    m > MOST_LINES &&
    m <= UNIT &&
    k % UNITS_STEP === 0 &&
    [bindMatrix(a, storageAlignment).start, a.ld, a.stride].every((count) => count % VECTOR === 0) &&
    bindable(weights.span, storageAlignment).byteOffset % 16 === 0 &&
    isByUnits(product as WeightProduct, UNITS_EACH, traits) &&
    areBindable(product as WeightProduct, traits) &&
    idsOn(traits).length > 0
  );
}

function hasUnits({ matrixUnits, subgroupSize }: DeviceTraits): boolean {
  return matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
}

/** The ids of the kernels that a device has room for, by their subgroups. */
function idsOn(traits: DeviceTraits): readonly (readonly [id: string, subgroups: Subgroups])[] {
  if (!hasUnits(traits)) return [];
  const { maxInvocations, maxWorkgroupBytes } = traits;
  return [...SUBGROUPS_OF].filter(
    ([, subgroups]) => subgroups * SUBGROUP <= maxInvocations && unitsBytes(subgroups) <= maxWorkgroupBytes,
  );
}

/** Products of a few rows of f16 and weights of integers on the matrix units of a GPU. */
export const weightUnitsTable: ProductTable = {
  ids: [...SUBGROUPS_OF.keys()],
  kernelsFor: (traits) =>
    idsOn(traits).flatMap(([, subgroups]) =>
      FORMS_OF_INTEGERS.flatMap((form) =>
        (['f32', 'f16'] as const).map((output) => weightUnits({ ...form, output, subgroups })),
      ),
    ),
  candidates: ({ product }, traits) => {
    if (!isOfWeightUnits(product, traits)) return undefined;
    const variants = idsOn(traits).map(([id]) => ({ id, splits: 1 })) as [Variant, ...Variant[]];
    const isFew = Math.ceil(product.n / UNIT) * product.batchCount < ENOUGH_WORKGROUPS;
    return { variants, preferred: (isFew ? variants.at(-1) : variants[0]) as Variant };
  },
  appliesEpilogues: () => true,
  launch: (work, variant, recorder) => {
    const product = work.product as WeightProduct;
    const subgroups = shapeOf(SUBGROUPS_OF, variant);
    const form = weightFormOf(product.weights.dtype, product.weights.quant);
    launchWeights(work, variant, recorder, {
      unit: UNITS_EACH,
      columns: UNIT,
      kernel: (spec) => weightUnits({ ...form, output: product.c.dtype, subgroups } as WeightUnitsParams, spec),
    });
  },
};
