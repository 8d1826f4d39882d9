import type { OpCase } from '../support/op-case.ts';
import { attentionCases } from './attention.ts';
import { castCases } from './cast.ts';
import { clampCases } from './clamp.ts';
import { createCases } from './create.ts';
import { crossEntropyCases } from './cross-entropy.ts';
import { foldCases } from './folds.ts';
import { gatherCases } from './gather.ts';
import { layerNormCases } from './layer-norm.ts';
import { oneHotCases } from './one-hot.ts';
import { productCases } from './products.ts';
import { randomCases } from './random.ts';
import { softmaxCases } from './softmax.ts';
import { whereCases } from './where.ts';

/** The cases of all functions; each backend runs them. */
export const ALL_CASES: Readonly<Record<string, readonly OpCase[]>> = {
  attention: attentionCases,
  cast: castCases,
  clamp: clampCases,
  create: createCases,
  crossEntropy: crossEntropyCases,
  folds: foldCases,
  gather: gatherCases,
  layerNorm: layerNormCases,
  oneHot: oneHotCases,
  products: productCases,
  random: randomCases,
  softmax: softmaxCases,
  where: whereCases,
};
