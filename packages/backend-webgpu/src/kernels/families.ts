import { DTYPES } from '@concord/backend-core/implement';
import { type Families, idsOf, kernelsFor, type VariantSet } from '@concord/variants';
import { VERSION } from '../version.ts';
import { attentionFamily } from './attention/plan.ts';
import { conv2dFamily } from './conv2d/plan.ts';
import { gemmFamily } from './gemm/plan.ts';
import type { Kernel } from './kernel.ts';
import { VARIANT_IDS as MAP_IDS } from './map/plan-map.ts';
import { MEMORY_KERNELS } from './memory/plan.ts';
import { nvidiaH200 } from './profiles/nvidia-h200.ts';
import type { DeviceTraits, Recorder, StorageBuffer } from './recorder.ts';
import { VARIANT_IDS as ROWS_IDS } from './rows/plan-rows.ts';
import { planRun } from './run/plan-run.ts';
import { topKFamily } from './top-k/plan.ts';

/** Every family of kernels. The kernels of `run` are made for graphs. */
export const FAMILIES: Families<StorageBuffer, Recorder, Kernel> = {
  gemm: gemmFamily,
  conv2dForward: conv2dFamily,
  attention: attentionFamily,
  topK: topKFamily,
  run: {
    kernel: 'run',
    features: ['scatter', 'scan'],
    dtypes: DTYPES,
    plan: planRun,
    tables: [MAP_IDS, ROWS_IDS].map((ids) => ({ ids, kernelsFor: () => [] })),
  },
};

/** Every variant of every family. */
export const webgpuVariants: VariantSet = {
  backend: 'webgpu',
  version: VERSION,
  ids: idsOf(FAMILIES),
  shipped: [nvidiaH200],
};

/** Every kernel that can run on such a device, but those that graphs are made into: every variant, with every set of parameters. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return [...MEMORY_KERNELS, ...kernelsFor(FAMILIES, traits)];
}
