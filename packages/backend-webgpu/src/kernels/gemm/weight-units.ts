import { FORMS_OF_INTEGERS, weightFormOf } from '@concord/variants';
import { bindable } from '../operands.ts';
import type { DeviceTraits } from '../recorder.ts';
import { SUBGROUP, UNIT, VECTOR } from './matrix-tile.ts';
import type { WeightProduct } from './plan.ts';
import { type Product, type ProductTable, bindMatrix } from './product.ts';
import { areBindable, isByUnits, launchWeights } from './weight-rows.ts';
import { MOST_LINES } from './weight-rows.wgsl.ts';
import { UNITS_BYTES, UNITS_EACH, UNITS_INVOCATIONS, UNITS_STEP, weightUnits } from './weight-units.wgsl.ts';

const ID = 'gemm/weight-units-16';

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
    hasUnits(traits)
  );
}

function hasUnits({ matrixUnits, subgroupSize, maxInvocations, maxWorkgroupBytes }: DeviceTraits): boolean {
  const fits = matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
  return fits && UNITS_INVOCATIONS <= maxInvocations && UNITS_BYTES <= maxWorkgroupBytes;
}

/** Products of a few rows of f16 and weights of integers on the matrix units of a GPU. */
export const weightUnitsTable: ProductTable = {
  ids: [ID],
  kernelsFor: (traits) =>
    hasUnits(traits)
      ? FORMS_OF_INTEGERS.flatMap((form) => (['f32', 'f16'] as const).map((output) => weightUnits({ ...form, output })))
      : [],
  candidates: ({ product }, traits) => {
    if (!isOfWeightUnits(product, traits)) return undefined;
    const variant = { id: ID, splits: 1 };
    return { variants: [variant], preferred: variant };
  },
  appliesEpilogues: () => true,
  launch: (work, variant, recorder) => {
    const product = work.product as WeightProduct;
    const form = weightFormOf(product.weights.dtype, product.weights.quant);
    launchWeights(work, variant, recorder, {
      unit: UNITS_EACH,
      columns: UNIT,
      kernel: (spec) => weightUnits({ ...form, output: product.c.dtype } as Parameters<typeof weightUnits>[0], spec),
    });
  },
};
