import type { OpCase } from '../support/op-case.ts';
import { attentionCases } from './attention.ts';
import { convolutionCases } from './convolution.ts';
import { foldCases } from './folds.ts';
import { gatherCases } from './gather.ts';
import { layerNormCases } from './layer-norm.ts';
import { poolingCases } from './pooling.ts';
import { productCases } from './products.ts';
import { ropeCases } from './rope.ts';
import { shapingCases } from './shaping.ts';

/** The cases of all functions; each backend runs them. */
export const ALL_CASES: Readonly<Record<string, readonly OpCase[]>> = {
  attention: attentionCases,
  convolution: convolutionCases,
  folds: foldCases,
  gather: gatherCases,
  layerNorm: layerNormCases,
  pooling: poolingCases,
  products: productCases,
  rope: ropeCases,
  shaping: shapingCases,
};
