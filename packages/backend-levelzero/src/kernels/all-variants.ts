import type { VariantSet } from '@concord/variants';
import { VERSION } from '../version.ts';
import { VARIANT_IDS as attention } from './attention/plan.ts';
import { VARIANT_IDS as conv2d } from './conv2d/plan.ts';
import { VARIANT_IDS as gemm } from './gemm/plan.ts';
import { VARIANT_IDS as map } from './map/plan.ts';
import { VARIANT_IDS as rows } from './rows/variant.ts';
import { VARIANT_IDS as topK } from './top-k/plan.ts';

/** Every variant of every family. */
export const levelZeroVariants: VariantSet = {
  backend: 'level-zero',
  version: VERSION,
  ids: [...gemm, ...conv2d, ...attention, ...topK, ...map, ...rows],
};
