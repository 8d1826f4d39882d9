import { sizeStep, VariantTables } from '@concord/variants';
import type { Kernel } from '../kernel.ts';
import type { Recorder } from '../recorder.ts';
import { decodeTable } from './decode.ts';
import { directTable } from './direct.wgsl.ts';
import { flashTable } from './flash.wgsl.ts';
import { matrixTable } from './matrix.ts';
import type { AttentionSizes, AttentionTable, AttentionVariant, AttentionWork } from './table.ts';
import { tiledTable } from './tiled.wgsl.ts';

/** Kernels that attend. A new one is added here, and nothing else has to know of it. */
export const attentionTables: VariantTables<
  AttentionSizes,
  AttentionWork,
  Recorder,
  Kernel,
  AttentionVariant,
  AttentionTable
> = new VariantTables(
  [matrixTable, flashTable, tiledTable, decodeTable, directTable],
  ({ heads, queries, keys, headDim, valueDim, causal, form, group }) => {
    const any = form === 'plain' ? [] : ['any', form, 'of', sizeStep(group)];
    const sizes = [heads, queries, keys, headDim, ...(valueDim === headDim ? [] : [valueDim])].map(sizeStep);
    return ['attention', ...(causal ? ['causal'] : []), ...any, ...sizes].join(' ');
  },
);
