import type { ComputeBackend } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import * as ops from '../../src/index.ts';

/** A right call of a function: its arguments, and those of its options that are not in the last one of them. */
export interface Call {
  readonly args: readonly unknown[];
  /** The place of the options among the arguments. */
  readonly options?: number;
  /** Every option with a right value. */
  readonly all?: Readonly<Record<string, unknown>>;
}

const KERNEL = defineKernel('twice', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.add(x, x) }));

const NO_CACHE = {
  ...{ get: () => Promise.resolve(), put: () => Promise.resolve(), delete: () => Promise.resolve() },
  ...{ names: () => Promise.resolve([]), maxBytes: 1 },
};

/** A right call of every export that is a function, by its name. */
export function rightCalls(b: ComputeBackend): Readonly<Record<string, Call>> {
  const { tensor } = ops;
  const x = (): ops.Tensor => tensor(b, [1, 2, 3, 4], [2, 2]);
  const row = (): ops.Tensor => tensor(b, [1, 2]);
  const integers = (): ops.Tensor => tensor(b, [1, 0], [2], { dtype: 'i32' });
  const image = (): ops.Tensor => tensor(b, [1, 2, 3, 4], [1, 1, 2, 2]);
  const out = x;
  const create = { dtype: 'f32', label: 'mine' };
  const unary: Call = { args: [x()], options: 1, all: { out: out() } };
  const binary: Call = { args: [x(), row()], options: 2, all: { out: out() } };
  const truths = { out: ops.greater(x(), 0) };
  const fold = (result: ops.Tensor): Call => ({
    args: [x()],
    options: 1,
    all: { axis: 1, keepDims: false, out: result },
  });
  const floats = fold(row());
  const of = (names: string, call: Call): Record<string, Call> =>
    Object.fromEntries(names.split(' ').map((name) => [name, call]));
  const conv = { bias: tensor(b, [1]), activation: 'relu', residual: image(), groups: 1, out: image() };
  const pooling = { stride: 1, padding: 0, dilation: 1, ceilMode: false, out: image() };
  const volume = (): ops.Tensor => tensor(b, [1, 2, 3, 4], [1, 1, 1, 2, 2]);
  const pooling3d = { ...pooling, out: volume() };
  const norm = { weight: row(), bias: row(), eps: 1e-5, activation: 'silu', out: out() };
  return {
    ...of('relu sigmoid tanh silu softplus abs ceil floor neg round sign trunc', unary),
    ...of('acos asin atan cos erf exp exp2 expm1 log log1p log2 reciprocal rsqrt sin sqrt square', unary),
    ...of('add atan2 sub mul div pow minimum maximum', binary),
    ...of('equal notEqual less lessEqual greater greaterEqual logicalAnd logicalOr logicalXor', {
      ...binary,
      all: truths,
    }),
    ...of('isFinite isNan logicalNot', { ...unary, all: truths }),
    ...of('sum prod max min mean logSumExp', floats),
    ...of('argmax argmin countNonzero', fold(tensor(b, [0, 0], [2], { dtype: 'u32' }))),
    ...of('cumsum cumprod cummax cummin', {
      args: [x()],
      options: 1,
      all: { axis: 0, exclusive: true, reverse: true, out: out() },
    }),
    ...of('any all', fold(tensor(b, [0, 0], [2], { dtype: 'u8' }))),
    ...of('softmax logSoftmax', { args: [x()], options: 1, all: { axis: 0, out: out() } }),
    ...of('copy pack', { args: [x()] }),
    ...of('ones zeros empty', { args: [b, [2, 2]], options: 2, all: create }),
    ...of('maxPoolWithIndices', {
      args: [image(), 1],
      options: 2,
      all: { stride: 1, padding: 0, dilation: 1, ceilMode: false },
    }),
    ...of('maxPool', { args: [image(), 1], options: 2, all: pooling }),
    ...of('groupNorm', { args: [x(), 1], options: 2, all: norm }),
    ...of('instanceNorm', { args: [x()], options: 1, all: norm }),
    ...of('concat', { args: [[row(), row()]], options: 1, all: { axis: 0, out: tensor(b, [0, 0, 0, 0]) } }),
    arange: { args: [b, 0, 4, 1], options: 4, all: create },
    attention: {
      args: [image(), image(), image()],
      options: 3,
      all: { scale: 1, causal: true, offset: 0, mask: image(), window: 2, softcap: 3, out: image() },
    },
    avgPool3d: { args: [volume(), 1], options: 2, all: { ...pooling3d, countIncludePad: false } },
    maxPool3dWithIndices: {
      args: [volume(), 1],
      options: 2,
      all: { stride: 1, padding: 0, dilation: 1, ceilMode: false },
    },
    maxPool3d: { args: [volume(), 1], options: 2, all: pooling3d },
    conv3d: {
      args: [volume(), tensor(b, [1], [1, 1, 1, 1, 1])],
      options: 2,
      all: { ...conv, residual: volume(), out: volume(), stride: 1, padding: 0, dilation: 1 },
    },
    avgPool: { args: [image(), 1], options: 2, all: { ...pooling, countIncludePad: false } },
    batchNorm: {
      args: [x(), { mean: row(), variance: row() }],
      options: 1,
      all: { ...norm, axis: 1, mean: row(), variance: row() },
    },
    cast: { args: [x(), 'f32'], options: 2, all: { out: out() } },
    clamp: { args: [x(), { min: 0 }], options: 1, all: { min: 0, max: row(), out: out() } },
    conv1d: {
      args: [tensor(b, [1, 2], [1, 1, 2]), tensor(b, [1], [1, 1, 1])],
      options: 2,
      all: {
        ...{ stride: 1, padding: 0, dilation: 1, bias: tensor(b, [1]), activation: 'relu', groups: 1 },
        ...{ residual: tensor(b, [1, 2], [1, 1, 2]), out: tensor(b, [1, 2], [1, 1, 2]) },
      },
    },
    conv2d: {
      args: [image(), tensor(b, [1], [1, 1, 1, 1])],
      options: 2,
      all: { ...conv, stride: 1, padding: 0, dilation: 1 },
    },
    convTranspose1d: {
      args: [tensor(b, [1, 2], [1, 1, 2]), tensor(b, [1], [1, 1, 1])],
      options: 2,
      all: {
        ...{
          stride: 1,
          padding: 0,
          dilation: 1,
          outputPadding: 0,
          bias: tensor(b, [1]),
          activation: 'relu',
          groups: 1,
        },
        ...{ residual: tensor(b, [1, 2], [1, 1, 2]), out: tensor(b, [1, 2], [1, 1, 2]) },
      },
    },
    convTranspose2d: {
      args: [image(), tensor(b, [1], [1, 1, 1, 1])],
      options: 2,
      all: { ...conv, stride: 1, padding: 0, dilation: 1, outputPadding: 0 },
    },
    crossEntropy: {
      args: [x(), integers()],
      options: 2,
      all: { reduction: 'mean', ignoreIndex: 7, out: tensor(b, 0) },
    },
    dequantize: {
      args: [tensor(b, new Int8Array(4), [2, 2]), row()],
      options: 2,
      all: { zeroPoint: integers(), axis: 1, bits: 8, out: out() },
    },
    dropout: {
      args: [x(), 0.5, { seed: 1 }],
      options: 2,
      all: { seed: 1, offset: tensor(b, 0, [], { dtype: 'u32' }), out: out() },
    },
    elu: { args: [x()], options: 1, all: { alpha: 1, out: out() } },
    embedding: { args: [integers(), x()], options: 2, all: { out: out() } },
    expand: { args: [row(), [2, 2]] },
    flatten: { args: [x(), 0, 1] },
    ...of('tril triu', { args: [x()], options: 1, all: { diagonal: 1, out: out() } }),
    flip: { args: [x()], options: 1, all: { axis: 0, out: out() } },
    quantizeWeight: { args: [x(), { block: 2 }], options: 1, all: { dtype: 'u4', block: 2, dtypeScales: 'f16' } },
    concatWeights: { args: [[ops.quantizeWeight(x(), { block: 2 })]] },
    fromGguf: {
      args: [b, { type: 'q8_0', shape: [1, 32], bytes: new Uint8Array(34) }],
      options: 1,
      all: { type: 'q8_0', shape: [1, 32], bytes: new Uint8Array(34) },
    },
    fromMatMulNBits: {
      args: [b, { n: 1, k: 2, blockSize: 2, b: new Uint8Array(1), scales: [1] }],
      options: 1,
      all: {
        ...{ n: 1, k: 2, bits: 4, blockSize: 2, b: new Uint8Array(1), scales: [1] },
        ...{ zeroPoints: new Uint8Array(1), dtypeScales: 'f16' },
      },
    },
    full: { args: [b, [2], 3], options: 3, all: create },
    gather: { args: [x(), integers()], options: 2, all: { axis: 0, out: out() } },
    gatherNd: { args: [x(), tensor(b, [1, 0], [1, 2], { dtype: 'i32' })], options: 2, all: { out: tensor(b, [0]) } },
    gelu: { args: [x()], options: 1, all: { approximate: 'tanh', out: out() } },
    globalAveragePool: { args: [image()], options: 1, all: { out: tensor(b, [[0]]) } },
    l2Normalize: { args: [x()], options: 1, all: { axis: 0, eps: 1, out: out() } },
    layerNorm: { args: [x()], options: 1, all: { ...norm, axis: -1 } },
    leakyRelu: { args: [x()], options: 1, all: { negativeSlope: 1, out: out() } },
    linear: {
      args: [x(), x()],
      options: 2,
      all: { bias: row(), activation: 'relu', residual: x(), out: out() },
    },
    loadSafetensors: {
      args: [b, new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 123, 125])],
      options: 2,
      all: {
        names: [],
        dtype: 'f16',
        onProgress: () => undefined,
        signal: new AbortController().signal,
        cache: NO_CACHE,
      },
    },
    matmul: { args: [x(), row()], options: 2, all: { out: row() } },
    memory: { args: [] },
    norm: { args: [x()], options: 1, all: { ord: 1, axis: 1, keepDims: true, out: tensor(b, [[0], [0]]) } },
    oneHot: { args: [integers(), 2], options: 2, all: { dtype: 'f32', out: out() } },
    pad: {
      args: [row(), [[1, 1]]],
      options: 2,
      all: { mode: 'constant', value: 2, out: tensor(b, [0, 0, 0, 0]) },
    },
    permute: { args: [x(), [1, 0]] },
    quantize: {
      args: [x(), row()],
      options: 2,
      all: { zeroPoint: integers(), axis: 1, dtype: 'i8', out: tensor(b, new Int8Array(4), [2, 2]) },
    },
    viewAs: { args: [x(), 'u32'] },
    print: { args: [x()] },
    quantizedTensor: {
      args: [b, { shape: [1, 2], dtype: 'u4', block: 2, data: new Uint8Array(1), scales: [1] }],
      options: 1,
      all: {
        ...{ shape: [1, 2], dtype: 'u4', block: 2, data: new Uint8Array(1), scales: [1] },
        ...{ zeros: new Uint8Array(1), dtypeScales: 'f16' },
      },
    },
    randomNormal: { args: [b, [2], { seed: 1 }], options: 2, all: { ...create, seed: 1, offset: 2, mean: 0, std: 1 } },
    randomUniform: { args: [b, [2], { seed: 1 }], options: 2, all: { ...create, seed: 1, offset: 2, low: 0, high: 1 } },
    byteSource: { args: [new Uint8Array(1), NO_CACHE] },
    pageCache: { args: ['mine'], options: 1, all: { maxBytes: 1 } },
    readBytes: { args: [{ size: 0, pieces: () => [] }, 0, 1] },
    readSafetensors: { args: [new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 123, 125])] },
    record: { args: [b, () => undefined] },
    rem: {
      args: [integers(), 2],
      options: 2,
      all: { out: integers() },
    },
    reshape: { args: [x(), [4]] },
    resize: { args: [image(), [2, 2]], options: 2, all: { mode: 'bilinear', alignCorners: true, out: image() } },
    rmsNorm: { args: [x()], options: 1, all: { weight: row(), axis: -1, eps: 1, activation: 'silu', out: out() } },
    indexPut: {
      args: [x(), [integers()], x()],
      options: 3,
      all: { accumulate: true, out: out() },
    },
    rope: {
      args: [x()],
      options: 1,
      all: {
        ...{ positions: integers(), offset: 1, base: 10, frequencies: tensor(b, [1]) },
        ...{ interleaved: true, out: out() },
      },
    },
    run: {
      args: [KERNEL, { x: x() }],
      options: 2,
      all: { shape: [2, 2], axis: -1, params: {}, out: { y: out() }, dtypes: { y: 'f32' } },
    },
    scatter: {
      args: [x(), 1, tensor(b, [1, 0, 0, 1], [2, 2], { dtype: 'i32' }), x()],
      options: 4,
      all: { out: out() },
    },
    scatterAdd: {
      args: [x(), 1, tensor(b, [1, 0, 0, 1], [2, 2], { dtype: 'i32' }), x()],
      options: 4,
      all: { out: out() },
    },
    ...of('sort argsort', { args: [x()], options: 1, all: { axis: 0, descending: true } }),
    slice: { args: [x(), [0]] },
    split: { args: [x(), 2, 1] },
    squeeze: { args: [tensor(b, [[1]]), 0] },
    stack: { args: [[row(), row()]], options: 1, all: { axis: 0, out: out() } },
    std: { args: [x()], options: 1, all: { axis: 1, keepDims: false, correction: 0, out: row() } },
    swiglu: { args: [x(), x(), x()], options: 3, all: { activation: 'gelu', out: out() } },
    takeAlongAxis: {
      args: [x(), tensor(b, [0, 1, 1, 0], [2, 2], { dtype: 'i32' }), 1],
      options: 3,
      all: { out: out() },
    },
    tensor: { args: [b, [1, 2], [2]], options: 3, all: create },
    tidy: { args: [() => undefined] },
    tile: { args: [row(), [2]], options: 2, all: { out: tensor(b, [0, 0, 0, 0]) } },
    topK: { args: [x(), 1], options: 2, all: { axis: -1, largest: true } },
    transpose: { args: [x(), 0, 1] },
    unsqueeze: { args: [x(), 0] },
    variance: { args: [x()], options: 1, all: { axis: 1, keepDims: false, correction: 0, out: row() } },
    where: { args: [x(), row(), 2], options: 3, all: { out: out() } },
    wrap: { args: [b, x().ptr, [2, 2], 'f32', [2, 1]] },
    writeSafetensors: { args: [{ x: x() }], options: 1, all: { metadata: { a: 'b' }, timeoutMs: 1000 } },
  };
}
