import type { OpCase } from '../support/op-case.ts';
import { castCases } from './cast.ts';
import { clampCases } from './clamp.ts';
import { createCases } from './create.ts';
import { crossEntropyCases } from './cross-entropy.ts';
import { foldCases } from './folds.ts';
import { oneHotCases } from './one-hot.ts';
import { randomCases } from './random.ts';
import { softmaxCases } from './softmax.ts';
import { whereCases } from './where.ts';

/** The cases of all functions; each backend runs them. */
export const ALL_CASES: Readonly<Record<string, readonly OpCase[]>> = {
  cast: castCases,
  clamp: clampCases,
  create: createCases,
  crossEntropy: crossEntropyCases,
  folds: foldCases,
  oneHot: oneHotCases,
  random: randomCases,
  softmax: softmaxCases,
  where: whereCases,
};
