import type { OpCases } from '../support/op-case.ts';
import { attentionCases } from './attention.ts';
import { batchNormCases } from './batch-norm.ts';
import { castCases } from './cast.ts';
import { clampCases } from './clamp.ts';
import { convolutionCases } from './convolution.ts';
import { createCases } from './create.ts';
import { crossEntropyCases } from './cross-entropy.ts';
import { dequantizeCases } from './dequantize.ts';
import { foldCases } from './folds.ts';
import { gatherCases } from './gather.ts';
import { groupNormCases } from './group-norm.ts';
import { inPlaceCases } from './in-place.ts';
import { layerNormCases } from './layer-norm.ts';
import { normCases } from './norm.ts';
import { oneHotCases } from './one-hot.ts';
import { poolingCases } from './pooling.ts';
import { productCases } from './products.ts';
import { quantizeCases } from './quantize.ts';
import { randomCases } from './random.ts';
import { ropeCases } from './rope.ts';
import { scanCases } from './scans.ts';
import { shapingCases } from './shaping.ts';
import { smallIntegerCases } from './small-integers.ts';
import { softmaxCases } from './softmax.ts';
import { scatterCases } from './scatter.ts';
import { sortCases } from './sort.ts';
import { swigluCases } from './swiglu.ts';
import { takeAlongAxisCases } from './take-along-axis.ts';
import { topKCases } from './top-k.ts';
import { trigonometryCases } from './trigonometry.ts';
import { varianceCases } from './variance.ts';
import { volumeCases } from './volumes.ts';
import { whereCases } from './where.ts';

/** The cases of all functions; each backend runs them. */
export const ALL_CASES: Readonly<Record<string, OpCases>> = {
  attention: attentionCases,
  batchNorm: batchNormCases,
  cast: castCases,
  clamp: clampCases,
  convolution: convolutionCases,
  create: createCases,
  crossEntropy: crossEntropyCases,
  dequantize: dequantizeCases,
  folds: foldCases,
  gather: gatherCases,
  groupNorm: groupNormCases,
  inPlace: inPlaceCases,
  layerNorm: layerNormCases,
  norm: normCases,
  oneHot: oneHotCases,
  pooling: poolingCases,
  products: productCases,
  quantize: quantizeCases,
  random: randomCases,
  rope: ropeCases,
  scan: scanCases,
  scatter: scatterCases,
  shaping: shapingCases,
  smallIntegers: smallIntegerCases,
  softmax: softmaxCases,
  sort: sortCases,
  swiglu: swigluCases,
  takeAlongAxis: takeAlongAxisCases,
  topK: topKCases,
  trigonometry: trigonometryCases,
  variance: varianceCases,
  volumes: volumeCases,
  where: whereCases,
};
