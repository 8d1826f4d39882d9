import { DTYPES } from '@concord/backend-core/implement';
import { type Families, idsOf, kernelsFor, type VariantSet } from '@concord/variants';
import { VERSION } from '../version.ts';
import { attentionFamily } from './attention/plan.ts';
import { conv2dFamily } from './conv2d/plan.ts';
import { gemmFamily } from './gemm/plan.ts';
import type { Kernel } from './kernel.ts';
import { VARIANT_IDS as MAP_IDS } from './map/plan.ts';
import type { DeviceMemory, DeviceTraits, Recorder } from './recorder.ts';
import { VARIANT_IDS as ROWS_IDS } from './rows/variant.ts';
import { planRun } from './run/plan.ts';
import { topKFamily } from './top-k/plan.ts';

/** Every family of kernels. */
export const FAMILIES: Families<DeviceMemory, Recorder, Kernel> = {
  gemm: gemmFamily,
  conv2dForward: conv2dFamily,
  attention: attentionFamily,
  topK: topKFamily,
  run: {
    kernel: 'run',
    features: ['scatter', 'scan'],
    dtypes: DTYPES,
    plan: ({ geometry, inputs, outputs }, recorder) => planRun({ geometry, spans: [...inputs, ...outputs] }, recorder),
    tables: [{ ids: [...MAP_IDS, ...ROWS_IDS], kernelsFor: () => [] }],
  },
};

/** Every variant of every family. */
export const levelZeroVariants: VariantSet = { backend: 'level-zero', version: VERSION, ids: idsOf(FAMILIES) };

/**
 * Every kernel that can run on such a device: every variant of every family, with every set of parameters. Not those of
 * `run`, which has as many as there are graphs.
 */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return kernelsFor(FAMILIES, traits);
}
