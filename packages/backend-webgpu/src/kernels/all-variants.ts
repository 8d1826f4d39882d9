import type { VariantSet } from '@concord/variants';
import { VERSION } from '../version.ts';
import { VARIANT_IDS as attention } from './attention/plan.ts';
import { VARIANT_IDS as conv2d } from './conv2d/plan.ts';
import { VARIANT_IDS as gemm } from './gemm/families.ts';
import { VARIANT_IDS as map } from './map/plan-map.ts';
import { VARIANT_IDS as rows } from './rows/plan-rows.ts';
import { VARIANT_IDS as topK } from './top-k/plan.ts';
import { nvidiaH200 } from './profiles/nvidia-h200.ts';

/** Every variant of every family. */
export const webgpuVariants: VariantSet = {
  backend: 'webgpu',
  version: VERSION,
  ids: [...gemm, ...conv2d, ...attention, ...topK, ...map, ...rows],
  shipped: [nvidiaH200],
};
