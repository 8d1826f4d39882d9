/**
 * Tensors and the functions that applications write, on every backend.
 *
 * @packageDocumentation
 */
export { attention, type AttentionOptions } from './attention/attention.ts';
export { rope, type RopeOptions } from './attention/rope.ts';
export type { TensorLike } from './compute/elementwise.ts';
export type { OutOption } from './compute/produce.ts';
export type { Axes, FoldOptions } from './compute/rows.ts';
export { record, type Recorded, type RecordOptions } from './compute/record.ts';
export { run, type RunOptions } from './compute/run.ts';
export { arange } from './create/arange.ts';
export { full, ones } from './create/full.ts';
export {
  elu,
  type EluOptions,
  gelu,
  type GeluOptions,
  leakyRelu,
  type LeakyReluOptions,
  relu,
  sigmoid,
  silu,
  softplus,
  tanh,
} from './elementwise/activations.ts';
export { add, atan2, div, maximum, minimum, mul, pow, rem, sub } from './elementwise/arithmetic.ts';
export { cast } from './elementwise/cast.ts';
export { clamp, type ClampOptions } from './elementwise/clamp.ts';
export { equal, greater, greaterEqual, less, lessEqual, notEqual } from './elementwise/comparisons.ts';
export {
  acos,
  asin,
  atan,
  cos,
  erf,
  exp,
  exp2,
  expm1,
  log,
  log1p,
  log2,
  reciprocal,
  rsqrt,
  sin,
  sqrt,
  square,
} from './elementwise/exponentials.ts';
export { isFinite, isNan, logicalAnd, logicalNot, logicalOr, logicalXor } from './elementwise/logic.ts';
export { where } from './elementwise/where.ts';
export {
  convTranspose1d,
  type ConvTranspose1dOptions,
  convTranspose2d,
  type ConvTranspose2dOptions,
} from './convolution/conv-transpose.ts';
export { conv1d, type Conv1dOptions } from './convolution/conv1d.ts';
export { conv2d, type Conv2dOptions, type ConvOptions } from './convolution/conv2d.ts';
export { conv3d, type Conv3dOptions } from './convolution/conv3d.ts';
export type { Sides3, Triple } from './convolution/triple.ts';
export type { Pair, Sides } from './convolution/window.ts';
export { all, any, argmax, argmin, countNonzero, max, mean, min, prod, sum } from './folds/folds.ts';
export { l2Normalize, type L2NormalizeOptions, norm, type NormOptions } from './folds/norm.ts';
export { logSoftmax, logSumExp, softmax, type SoftmaxOptions } from './folds/softmax.ts';
export { cummax, cummin, cumprod, cumsum, type ScanOptions } from './folds/scans.ts';
export { std, variance, type VarianceOptions } from './folds/variance.ts';
export { gatherNd } from './indexing/gather-nd.ts';
export { oneHot, type OneHotOptions } from './indexing/one-hot.ts';
export { indexPut, type IndexPutOptions, scatter, scatterAdd, type ScatterAddOptions } from './indexing/scatter.ts';
export { argsort, sort, type SortOptions } from './indexing/sort.ts';
export { takeAlongAxis } from './indexing/take-along-axis.ts';
export { topK, type TopK, type TopKOptions } from './indexing/top-k.ts';
export { crossEntropy, type CrossEntropyOptions } from './losses/cross-entropy.ts';
export { batchNorm, type BatchNormOptions } from './norms/batch-norm.ts';
export { groupNorm, type GroupNormOptions, instanceNorm } from './norms/group-norm.ts';
export { concatWeights } from './quantized/concat-weights.ts';
export { dequantize, type DequantizeOptions } from './quantized/dequantize.ts';
export {
  fromMatMulNBits,
  type HostBytes,
  type HostFloats,
  type MatMulNBitsOptions,
  quantizedTensor,
  type QuantizedTensorOptions,
} from './quantized/create-quantized.ts';
export { fromGguf, type GgufOptions, type GgufType } from './quantized/gguf.ts';
export { type QuantizedParts, QuantizedTensor } from './quantized/quantized-tensor.ts';
export { quantize, type QuantizeOptions } from './quantized/quantize.ts';
export type { ScaleOptions } from './quantized/scaled-call.ts';
export { quantizeWeight, type QuantizeWeightOptions } from './quantized/quantize-weight.ts';
export { dropout, type DropoutOptions } from './random/dropout.ts';
export { randomNormal, type RandomNormalOptions, randomUniform, type RandomUniformOptions } from './random/random.ts';
export { abs, ceil, floor, neg, round, sign, trunc } from './elementwise/rounding.ts';
export { embedding, gather, type GatherOptions } from './indexing/gather.ts';
export { layerNorm, type LayerNormOptions, rmsNorm, type RmsNormOptions } from './norms/layer-norm.ts';
export type { PooledMax, PoolOptions } from './pooling/pool.ts';
export {
  avgPool3d,
  type AvgPool3dOptions,
  maxPool3d,
  maxPool3dWithIndices,
  type Pool3dOptions,
} from './pooling/pool3d.ts';
export { avgPool, type AvgPoolOptions, globalAveragePool, maxPool, maxPoolWithIndices } from './pooling/pooling.ts';
export { resize, type ResizeOptions } from './pooling/resize.ts';
export type { Activation } from './products/activation.ts';
export { linear, type LinearOptions } from './products/linear.ts';
export { matmul } from './products/matmul.ts';
export { swiglu, type SwigluOptions } from './products/swiglu.ts';
export { concat, type ConcatOptions, stack } from './shaping/concat.ts';
export { flip, type FlipOptions } from './shaping/flip.ts';
export { pad, type PadOptions } from './shaping/pad.ts';
export { tile } from './shaping/tile.ts';
export { type TriangleOptions, tril, triu } from './shaping/triangle.ts';
export { type CreateOptions, empty, type Nested, tensor, wrap, zeros } from './tensor/create.ts';
export type { Layout } from './tensor/layout.ts';
export { print } from './tensor/print.ts';
export { tidy } from './tensor/scope.ts';
export { memory, type TensorMemory } from './tensor/storage.ts';
export { Tensor } from './tensor/tensor.ts';
export { expand, squeeze, unsqueeze } from './views/expand.ts';
export { copy, pack } from './views/pack.ts';
export { permute, transpose } from './views/permute.ts';
export { flatten, reshape } from './views/reshape.ts';
export { type Range, slice, split } from './views/slice.ts';
export { viewAs } from './views/view-as.ts';
export { type ByteSource, type OpenBytes, readBytes } from './weights/byte-source.ts';
export type { SafetensorsDType, SafetensorsEntry } from './weights/format.ts';
export { loadSafetensors, type LoadOptions } from './weights/load-safetensors.ts';
export { readSafetensors, type SafetensorsInfo } from './weights/read-safetensors.ts';
export type { ResponseLike, UrlLike } from './weights/response-source.ts';
export { type BlobLike, byteSource, type SafetensorsSource } from './weights/source.ts';
export { pageCache, type WeightCache, type WeightCacheOptions } from './weights/weight-cache.ts';
export { type WriteOptions, writeSafetensors } from './weights/write-safetensors.ts';
