import type { ComputeBackend } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import * as o from '@concord/ops';
import { type Tensor, tensor } from '@concord/ops';

/** A differentiable function of tensors: the shapes of those that are differentiated, and the range of their numbers. */
export interface GradCase {
  /** The function of ops that it is of, and which of its options. */
  readonly name: string;
  readonly shapes: readonly (readonly number[])[];
  readonly f: (xs: readonly Tensor[], backend: ComputeBackend) => Tensor;
  /** Default: -1.5 to 1.5. */
  readonly range?: readonly [low: number, high: number];
  /** Numbers that are apart, so that no step of a difference changes their order. */
  readonly isApart?: boolean;
  readonly dtype?: 'f16' | 'bf16';
  /** Of the comparison with differences, where half precision rounds. Default 4e-4. */
  readonly tolerance?: number;
}

type X = readonly Tensor[];
const ints = (backend: ComputeBackend, numbers: number[], shape: number[]): Tensor =>
  tensor(backend, numbers, shape, { dtype: 'i32' });
const at = (xs: X, index: number): Tensor => xs[index] as Tensor;

const unary = (
  name: string,
  f: (x: Tensor) => Tensor,
  range?: readonly [number, number],
  isApart?: boolean,
): GradCase => ({
  ...{ name, shapes: [[2, 5]], f: (xs) => f(at(xs, 0)) },
  ...(range === undefined ? {} : { range }),
  ...(isApart === undefined ? {} : { isApart }),
});
const binary = (
  name: string,
  f: (a: Tensor, b: Tensor) => Tensor,
  range?: readonly [number, number],
  isApart?: boolean,
): GradCase[] => [
  {
    ...unary(name, (x) => x, range, isApart),
    shapes: [
      [2, 3],
      [2, 3],
    ],
    f: (xs) => f(at(xs, 0), at(xs, 1)),
  },
  {
    ...unary(`${name} broadcast`, (x) => x, range, isApart),
    shapes: [
      [2, 1, 3],
      [4, 1],
    ],
    f: (xs) => f(at(xs, 0), at(xs, 1)),
  },
];

const square = defineKernel(
  'own',
  { inputs: { x: 'f32', r: { type: 'f32', level: 'row' } }, params: { a: 'f32' } },
  ({ x, r, a }, k) => ({
    y: k.mul(k.sub(k.mul(x, x), k.fold('mean', k.mul(x, r))), a),
    z: k.add(k.fold('sum', k.sin(x)), r),
  }),
);

const HALF = { dtype: 'f16', tolerance: 0.03 } as const;

/** Every function of ops that has a gradient, with each of its options that changes one. */
export const CASES: readonly GradCase[] = [
  ...binary('add', o.add),
  ...binary('sub', o.sub),
  ...binary('mul', o.mul),
  ...binary('div', o.div, [0.5, 2]),
  ...binary('pow', o.pow, [0.5, 2]),
  ...binary('atan2', o.atan2, [0.3, 2]),
  ...binary('maximum', o.maximum, undefined, true),
  ...binary('minimum', o.minimum, undefined, true),
  unary('add a number', (x) => o.add(x, 2)),
  unary('sub from a number', (x) => o.sub(2, x)),
  unary('div a number by it', (x) => o.div(2, x), [0.5, 2]),
  unary('pow of a number', (x) => o.pow(x, 3), [0.5, 2]),
  unary('number to the power', (x) => o.pow(2, x)),
  unary('mul with itself', (x) => o.mul(x, x)),
  unary('mul views of itself', (x) => o.mul(o.slice(x, [0]), o.slice(x, [1]))),
  unary('abs', o.abs, undefined, true),
  unary('neg', o.neg),
  unary('sqrt', o.sqrt, [0.3, 2]),
  unary('rsqrt', o.rsqrt, [0.3, 2]),
  unary('reciprocal', o.reciprocal, [0.3, 2]),
  unary('square', o.square),
  unary('exp', o.exp),
  unary('exp2', o.exp2),
  unary('expm1', o.expm1),
  unary('log', o.log, [0.3, 2]),
  unary('log2', o.log2, [0.3, 2]),
  unary('log1p', o.log1p, [-0.6, 2]),
  unary('sin', o.sin),
  unary('cos', o.cos),
  unary('acos', o.acos, [-0.7, 0.7]),
  unary('asin', o.asin, [-0.7, 0.7]),
  unary('atan', o.atan),
  unary('erf', o.erf),
  unary('tanh', o.tanh),
  unary('sigmoid', o.sigmoid),
  unary('silu', o.silu),
  unary('softplus', o.softplus),
  unary('gelu', o.gelu),
  unary('gelu tanh', (x) => o.gelu(x, { approximate: 'tanh' })),
  unary('relu', o.relu, undefined, true),
  unary('leakyRelu', (x) => o.leakyRelu(x, { negativeSlope: 0.2 }), undefined, true),
  unary('elu', (x) => o.elu(x, { alpha: 0.7 }), undefined, true),
  unary('clamp', (x) => o.clamp(x, { min: -0.9, max: 0.9 }), undefined, true),
  {
    name: 'clamp tensors',
    shapes: [[2, 3], [3], [3]],
    isApart: true,
    f: (xs) => o.clamp(at(xs, 0), { min: o.sub(at(xs, 1), 1), max: o.add(at(xs, 2), 1) }),
  },
  {
    name: 'where',
    shapes: [
      [2, 3],
      [2, 1],
    ],
    f: (xs, b) => o.where(tensor(b, new Uint8Array([1, 0, 1]), [3]), at(xs, 0), at(xs, 1)),
  },
  unary('where with a number', (x) => o.where(o.greater(x, 0), x, 0.5), undefined, true),
  { ...unary('cast', (x) => o.mul(o.cast(x, 'f32'), 3)), dtype: 'f16' },
  unary('cast to f16', (x) => o.cast(o.cast(o.mul(x, x), 'f32'), 'f32')),

  ...Object.entries({ sum: o.sum, mean: o.mean, prod: o.prod }).flatMap(([name, fold]) => [
    unary(name, (x) => fold(x)),
    unary(`${name} of an axis`, (x) => fold(x, { axis: 0 })),
    unary(`${name} of no axis, kept`, (x) => fold(x, { axis: [], keepDims: true })),
    unary(`${name} kept`, (x) => fold(x, { axis: -1, keepDims: true })),
  ]),
  ...Object.entries({ max: o.max, min: o.min }).flatMap(([name, fold]) => [
    unary(name, (x) => fold(x), undefined, true),
    unary(`${name} of an axis`, (x) => fold(x, { axis: 1 }), undefined, true),
  ]),
  ...Object.entries({ variance: o.variance, std: o.std }).flatMap(([name, fold]) => [
    unary(name, (x) => fold(x)),
    unary(`${name} of an axis`, (x) => fold(x, { axis: 1, correction: 0 })),
  ]),
  unary('norm', (x) => o.norm(x, { axis: -1 })),
  unary('norm 1', (x) => o.norm(x, { ord: 1 }), undefined, true),
  unary('norm of infinity', (x) => o.norm(x, { ord: Infinity, axis: 0 }), undefined, true),
  unary('l2Normalize', (x) => o.l2Normalize(x)),
  unary('softmax', (x) => o.softmax(x)),
  unary('softmax of an axis', (x) => o.softmax(x, { axis: 0 })),
  unary('logSoftmax', (x) => o.logSoftmax(x)),
  unary('logSumExp', (x) => o.logSumExp(x, { axis: 1 })),
  unary('cumsum', (x) => o.cumsum(x)),
  unary('cumsum reverse, exclusive', (x) => o.cumsum(x, { axis: 0, reverse: true, exclusive: true })),
  unary('cumprod', (x) => o.cumprod(x)),
  unary('cumprod exclusive', (x) => o.cumprod(x, { exclusive: true })),
  unary('cumprod reverse', (x) => o.cumprod(x, { reverse: true })),
  unary('cumprod with zeros', (x) => o.cumprod(o.mul(x, tensor(x.backend, [1, 1, 0, 1, 0])), {})),

  { name: 'gather', shapes: [[4, 3]], f: (xs, b) => o.gather(at(xs, 0), ints(b, [3, 0, 3], [3])) },
  {
    name: 'gather of an axis',
    shapes: [[2, 4]],
    f: (xs, b) => o.gather(at(xs, 0), ints(b, [3, 0, 3, 9], [2, 2]), { axis: 1 }),
  },
  { name: 'embedding', shapes: [[4, 3]], f: (xs, b) => o.embedding(ints(b, [1, 1, 0], [3]), at(xs, 0)) },
  { name: 'gatherNd', shapes: [[2, 4]], f: (xs, b) => o.gatherNd(at(xs, 0), ints(b, [1, 0, 0, 3, 1, 0], [3, 2])) },
  {
    name: 'takeAlongAxis',
    shapes: [[2, 4]],
    f: (xs, b) => o.takeAlongAxis(at(xs, 0), ints(b, [3, 0, 0, 2, 2, 1], [2, 3]), 1),
  },
  {
    name: 'scatter',
    shapes: [
      [2, 4],
      [2, 2],
    ],
    f: (xs, b) => o.scatter(at(xs, 0), 1, ints(b, [3, 0, 1, 2], [2, 2]), at(xs, 1)),
  },
  {
    name: 'scatterAdd',
    shapes: [
      [2, 4],
      [2, 2],
    ],
    f: (xs, b) => o.scatterAdd(at(xs, 0), 1, ints(b, [3, 3, 1, 2], [2, 2]), at(xs, 1)),
  },
  {
    name: 'indexPut',
    shapes: [
      [3, 2],
      [2, 2],
    ],
    f: (xs, b) => o.indexPut(at(xs, 0), [ints(b, [2, 0], [2])], at(xs, 1)),
  },
  {
    name: 'indexPut accumulate',
    shapes: [
      [3, 2],
      [2, 2],
    ],
    f: (xs, b) => o.indexPut(at(xs, 0), [ints(b, [2, 2], [2])], at(xs, 1), { accumulate: true }),
  },
  unary('sort', (x) => o.sort(x), undefined, true),
  unary('sort descending', (x) => o.sort(x, { axis: 0, descending: true }), undefined, true),
  unary('topK', (x) => o.topK(x, 3).values, undefined, true),
  unary('topK smallest of an axis', (x) => o.topK(x, 1, { axis: 0, largest: false }).values, undefined, true),

  ...(['mean', 'sum', 'none'] as const).map((reduction): GradCase => ({
    name: `crossEntropy ${reduction}`,
    shapes: [[3, 4]],
    f: (xs, b) => o.crossEntropy(at(xs, 0), ints(b, [1, 3, 0], [3]), { reduction }),
  })),
  {
    name: 'crossEntropy ignoring',
    shapes: [[3, 4]],
    f: (xs, b) => o.crossEntropy(at(xs, 0), ints(b, [1, -100, 0], [3]), { ignoreIndex: -100 }),
  },

  {
    name: 'layerNorm',
    shapes: [[3, 6], [6], [6]],
    f: (xs) => o.layerNorm(at(xs, 0), { weight: at(xs, 1), bias: at(xs, 2) }),
  },
  {
    name: 'layerNorm activation',
    shapes: [[3, 6], [6]],
    f: (xs) => o.layerNorm(at(xs, 0), { weight: at(xs, 1), activation: 'gelu', eps: 0.1 }),
  },
  { name: 'layerNorm axes', shapes: [[2, 3, 2]], f: (xs) => o.layerNorm(at(xs, 0), { axis: [1, 2] }) },
  {
    name: 'rmsNorm',
    shapes: [[3, 6], [6]],
    f: (xs) => o.rmsNorm(at(xs, 0), { weight: at(xs, 1), activation: 'silu' }),
  },
  {
    name: 'groupNorm',
    shapes: [[2, 4, 3], [4], [4]],
    f: (xs) => o.groupNorm(at(xs, 0), 2, { weight: at(xs, 1), bias: at(xs, 2), activation: 'tanh' }),
  },
  { name: 'instanceNorm', shapes: [[2, 2, 4], [2]], f: (xs) => o.instanceNorm(at(xs, 0), { weight: at(xs, 1) }) },
  {
    name: 'batchNorm',
    shapes: [[2, 3, 2], [3], [3], [3], [3]],
    range: [0.4, 1.5],
    f: (xs) =>
      o.batchNorm(at(xs, 0), {
        mean: at(xs, 1),
        variance: at(xs, 2),
        weight: at(xs, 3),
        bias: at(xs, 4),
        activation: 'sigmoid',
      }),
  },

  {
    name: 'matmul',
    shapes: [
      [3, 4],
      [4, 2],
    ],
    f: (xs) => o.matmul(at(xs, 0), at(xs, 1)),
  },
  {
    name: 'matmul batches',
    shapes: [
      [2, 3, 4],
      [2, 4, 2],
    ],
    f: (xs) => o.matmul(at(xs, 0), at(xs, 1)),
  },
  {
    name: 'matmul broadcast',
    shapes: [
      [2, 1, 3, 4],
      [3, 4, 2],
    ],
    f: (xs) => o.matmul(at(xs, 0), at(xs, 1)),
  },
  {
    name: 'matmul of one weight',
    shapes: [
      [2, 3, 4],
      [4, 2],
    ],
    f: (xs) => o.matmul(at(xs, 0), at(xs, 1)),
  },
  { name: 'matmul of vectors', shapes: [[4], [4]], f: (xs) => o.matmul(at(xs, 0), at(xs, 1)) },
  {
    name: 'matmul transposed',
    shapes: [
      [4, 3],
      [2, 4],
    ],
    f: (xs) => o.matmul(o.transpose(at(xs, 0)), o.transpose(at(xs, 1))),
  },
  { name: 'matmul with itself', shapes: [[3, 3]], f: (xs) => o.matmul(at(xs, 0), at(xs, 0)) },
  {
    name: 'linear',
    shapes: [
      [3, 4],
      [2, 4],
    ],
    f: (xs) => o.linear(at(xs, 0), at(xs, 1)),
  },
  ...(['relu', 'gelu', 'geluTanh', 'silu', 'sigmoid', 'tanh'] as const).map((activation): GradCase => ({
    name: `linear ${activation}`,
    shapes: [[2, 2, 4], [3, 4], [3], [2, 2, 3]],
    f: (xs) => o.linear(at(xs, 0), at(xs, 1), { bias: at(xs, 2), residual: at(xs, 3), activation }),
    isApart: activation === 'relu',
  })),
  {
    name: 'linear strided',
    shapes: [
      [2, 3, 4],
      [3, 4],
      [1, 3],
    ],
    f: (xs) =>
      o.linear(o.permute(at(xs, 0), [1, 0, 2]), o.transpose(o.reshape(at(xs, 1), [4, 3])), { residual: at(xs, 2) }),
  },
  {
    name: 'linear quantized i8',
    shapes: [[2, 32]],
    f: (xs, b) => o.linear(at(xs, 0), o.quantizeWeight(o.sin(o.reshape(o.arange(b, 0, 128), [4, 32])), { block: 16 })),
  },
  {
    name: 'linear quantized u4',
    shapes: [[2, 32]],
    f: (xs, b) =>
      o.linear(at(xs, 0), o.quantizeWeight(o.sin(o.reshape(o.arange(b, 0, 128), [4, 32])), { dtype: 'u4', block: 16 })),
  },
  {
    name: 'swiglu',
    shapes: [
      [3, 4],
      [2, 4],
      [2, 4],
    ],
    f: (xs) => o.swiglu(at(xs, 0), at(xs, 1), at(xs, 2)),
  },

  {
    name: 'conv2d',
    shapes: [[2, 3, 4, 5], [2, 3, 2, 3], [2]],
    f: (xs) => o.conv2d(at(xs, 0), at(xs, 1), { bias: at(xs, 2) }),
  },
  {
    name: 'conv2d stride, padding',
    shapes: [
      [1, 2, 5, 6],
      [2, 2, 3, 2],
    ],
    f: (xs) => o.conv2d(at(xs, 0), at(xs, 1), { stride: [2, 3], padding: [1, 0, 2, 1] }),
  },
  {
    name: 'conv2d dilation',
    shapes: [
      [1, 2, 6, 6],
      [2, 2, 2, 3],
    ],
    f: (xs) => o.conv2d(at(xs, 0), at(xs, 1), { stride: 2, dilation: [3, 2], padding: 1 }),
  },
  {
    name: 'conv2d groups',
    shapes: [
      [2, 4, 3, 3],
      [6, 2, 2, 2],
      [2, 6, 2, 2],
    ],
    f: (xs) => o.conv2d(at(xs, 0), at(xs, 1), { groups: 2, residual: at(xs, 2), activation: 'silu' }),
  },
  {
    name: 'conv2d depthwise',
    shapes: [
      [1, 3, 4, 4],
      [3, 1, 3, 3],
    ],
    f: (xs) => o.conv2d(at(xs, 0), at(xs, 1), { groups: 3, padding: 'same' }),
  },
  {
    name: 'conv1d',
    shapes: [[2, 2, 5], [3, 2, 2], [3]],
    f: (xs) => o.conv1d(at(xs, 0), at(xs, 1), { bias: at(xs, 2), stride: 2, padding: 1 }),
  },
  {
    name: 'conv3d',
    shapes: [
      [1, 2, 3, 3, 3],
      [2, 2, 2, 2, 2],
    ],
    f: (xs) => o.conv3d(at(xs, 0), at(xs, 1), { padding: 1, stride: 2 }),
  },
  {
    name: 'convTranspose2d',
    shapes: [[1, 2, 2, 3], [2, 2, 2, 2], [2]],
    f: (xs) =>
      o.convTranspose2d(at(xs, 0), at(xs, 1), { stride: 2, padding: [1, 0], outputPadding: 1, bias: at(xs, 2) }),
  },
  {
    name: 'convTranspose2d dilation',
    shapes: [
      [1, 2, 2, 2],
      [2, 1, 2, 2],
    ],
    f: (xs) => o.convTranspose2d(at(xs, 0), at(xs, 1), { dilation: 2, outputPadding: 1, groups: 2 }),
  },
  {
    name: 'convTranspose1d',
    shapes: [
      [1, 2, 3],
      [2, 2, 2],
    ],
    f: (xs) => o.convTranspose1d(at(xs, 0), at(xs, 1), { stride: 2 }),
  },

  unary4('maxPool', (x) => o.maxPool(x, 2), true),
  unary4('maxPool overlapping', (x) => o.maxPool(x, 3, { stride: 1, padding: 1 }), true),
  unary4('maxPoolWithIndices', (x) => o.maxPoolWithIndices(x, 2, { stride: 1 }).values, true),
  unary4('avgPool', (x) => o.avgPool(x, 2)),
  unary4('avgPool overlapping', (x) => o.avgPool(x, [3, 2], { stride: 1, padding: 1, countIncludePad: false })),
  unary4('avgPool ceil', (x) => o.avgPool(x, 3, { stride: 2, ceilMode: true })),
  unary4('globalAveragePool', (x) => o.globalAveragePool(x)),
  { name: 'maxPool3d', shapes: [[1, 1, 3, 3, 3]], isApart: true, f: (xs) => o.maxPool3d(at(xs, 0), 2, { stride: 1 }) },
  { name: 'avgPool3d', shapes: [[1, 1, 3, 3, 3]], f: (xs) => o.avgPool3d(at(xs, 0), 2, { stride: 1, padding: 1 }) },
  unary4('resize nearest', (x) => o.resize(x, [3, 7])),
  unary4('resize bilinear', (x) => o.resize(x, [3, 7], { mode: 'bilinear' })),
  unary4('resize aligned', (x) => o.resize(x, [6, 3], { mode: 'bilinear', alignCorners: true })),

  {
    name: 'attention',
    shapes: [
      [1, 2, 3, 4],
      [1, 2, 5, 4],
      [1, 2, 5, 4],
    ],
    f: (xs) => o.attention(at(xs, 0), at(xs, 1), at(xs, 2)),
  },
  {
    name: 'attention causal',
    shapes: [
      [2, 2, 3, 4],
      [2, 1, 4, 4],
      [2, 1, 4, 3],
    ],
    f: (xs) => o.attention(at(xs, 0), at(xs, 1), at(xs, 2), { causal: true, scale: 0.7 }),
  },
  {
    name: 'attention mask',
    shapes: [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [3, 3],
    ],
    f: (xs) => o.attention(at(xs, 0), at(xs, 1), at(xs, 2), { mask: at(xs, 3), softcap: 2 }),
  },
  {
    name: 'attention u8 mask',
    shapes: [
      [1, 1, 2, 4],
      [1, 1, 3, 4],
      [1, 1, 3, 4],
    ],
    f: (xs, b) =>
      o.attention(at(xs, 0), at(xs, 1), at(xs, 2), { mask: tensor(b, new Uint8Array([1, 0, 1, 0, 0, 0]), [2, 3]) }),
  },
  {
    name: 'attention window',
    shapes: [
      [1, 2, 5, 4],
      [1, 2, 5, 4],
      [1, 2, 5, 4],
    ],
    f: (xs) => o.attention(at(xs, 0), at(xs, 1), at(xs, 2), { causal: true, window: 2 }),
  },
  {
    name: 'attention lengths',
    shapes: [
      [2, 2, 2, 4],
      [2, 2, 4, 4],
      [2, 2, 4, 4],
    ],
    f: (xs, b) =>
      o.attention(at(xs, 0), at(xs, 1), at(xs, 2), { causal: true, lengths: tensor(b, [3, 2], [2], { dtype: 'u32' }) }),
  },
  {
    name: 'attention starts',
    shapes: [
      [2, 2, 2, 4],
      [2, 2, 4, 4],
      [2, 2, 4, 4],
    ],
    f: (xs, b) =>
      o.attention(at(xs, 0), at(xs, 1), at(xs, 2), { causal: true, starts: tensor(b, [0, 1], [2], { dtype: 'i32' }) }),
  },
  {
    name: 'attention lse',
    shapes: [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ],
    f: (xs, b) => {
      const lse = o.empty(b, [1, 2, 3]);
      const out = o.attention(at(xs, 0), at(xs, 1), at(xs, 2), { lse });
      return o.concat([o.flatten(out), o.flatten(lse)]);
    },
  },
  { name: 'rope', shapes: [[1, 2, 3, 4]], f: (xs) => o.rope(at(xs, 0)) },
  {
    name: 'rope interleaved',
    shapes: [[1, 2, 3, 4]],
    f: (xs, b) => o.rope(at(xs, 0), { interleaved: true, positions: ints(b, [4, 0, 2], [3]) }),
  },

  {
    name: 'linear f16',
    ...HALF,
    shapes: [[3, 4], [2, 4], [2]],
    f: (xs) => o.cast(o.linear(at(xs, 0), at(xs, 1), { bias: at(xs, 2), activation: 'gelu' }), 'f32'),
  },
  {
    name: 'matmul f16 batches',
    ...HALF,
    shapes: [
      [2, 3, 4],
      [1, 4, 2],
    ],
    f: (xs) => o.cast(o.matmul(at(xs, 0), at(xs, 1)), 'f32'),
  },
  {
    name: 'conv2d f16',
    ...HALF,
    shapes: [
      [1, 2, 4, 4],
      [2, 2, 2, 2],
    ],
    f: (xs) => o.cast(o.conv2d(at(xs, 0), at(xs, 1), { stride: 2 }), 'f32'),
  },
  {
    name: 'attention f16',
    ...HALF,
    shapes: [
      [1, 2, 2, 4],
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ],
    f: (xs) => o.cast(o.attention(at(xs, 0), at(xs, 1), at(xs, 2)), 'f32'),
  },
  { name: 'softmax f16', ...HALF, shapes: [[2, 5]], f: (xs) => o.cast(o.softmax(at(xs, 0)), 'f32') },
  {
    name: 'linear of bf16 weights',
    shapes: [[2, 4]],
    f: (xs, b) => o.linear(at(xs, 0), o.cast(tensor(b, [1, 0.5, -2, 3, 0.25, 1, 1, -1], [2, 4]), 'bf16')),
  },
  {
    name: 'concat',
    shapes: [
      [2, 3],
      [2, 1],
    ],
    f: (xs) => o.concat([at(xs, 0), at(xs, 1)], { axis: 1 }),
  },
  { name: 'concat twice', shapes: [[2, 3]], f: (xs) => o.concat([at(xs, 0), o.square(at(xs, 0)), at(xs, 0)]) },
  {
    name: 'stack',
    shapes: [
      [2, 3],
      [2, 3],
    ],
    f: (xs) => o.stack([at(xs, 0), at(xs, 1)], { axis: 1 }),
  },
  unary('flip', (x) => o.flip(x, { axis: 1 })),
  ...(['constant', 'reflect', 'edge', 'symmetric', 'wrap'] as const).map((mode) =>
    unary(`pad ${mode}`, (x) =>
      o.pad(
        x,
        [
          [1, 0],
          [2, 1],
        ],
        { mode },
      ),
    ),
  ),
  unary('tile', (x) => o.tile(x, [2, 3])),
  unary('triu', (x) => o.triu(x, { diagonal: 1 })),
  unary('tril', (x) => o.tril(x)),
  unary('expand', (x) => o.mul(o.expand(o.unsqueeze(x, 0), [3, 2, 5]), 2)),
  unary('expand as it is', (x) => o.expand(o.unsqueeze(x, 0), [3, 2, 5])),
  unary('squeeze', (x) => o.squeeze(o.unsqueeze(x, [0, 2]))),
  unary('unsqueeze', (x) => o.square(o.unsqueeze(x, -1))),
  unary('copy', (x) => o.copy(x)),
  unary('pack', (x) => o.pack(o.transpose(x))),
  unary('permute', (x) => o.square(o.permute(x, [1, 0]))),
  unary('transpose', (x) => o.transpose(x)),
  unary('flatten', (x) => o.flatten(x)),
  unary('reshape', (x) => o.square(o.reshape(o.transpose(x), [2, 5]))),
  unary('slice', (x) => o.slice(x, [1, [null, null, 2]])),
  unary('slice backwards', (x) => o.slice(x, [null, [null, 0, -2]])),
  unary('split', (x) => o.mul(o.split(x, [2, 3], 1)[0] as Tensor, o.slice(x, [null, [2, 4]]))),
  unary('dropout', (x) => o.dropout(x, 0.4, { seed: 7 })),
  {
    name: 'dequantize',
    shapes: [[]],
    range: [0.2, 1],
    f: (xs, b) => o.dequantize(tensor(b, new Uint8Array([1, 7, 200]), [3]), at(xs, 0)),
  },
  {
    name: 'run',
    shapes: [[3, 4], [3]],
    f: (xs) => {
      const { y, z } = o.run(square, { x: at(xs, 0), r: at(xs, 1) }, { params: { a: 1.5 } });
      return o.concat([o.flatten(y), z]);
    },
  },
  {
    name: 'run with out',
    shapes: [[2, 3]],
    f: (xs, b) => {
      const out = o.empty(b, [4, 3]);
      o.mul(at(xs, 0), 2, { out: o.slice(out, [[0, 2]]) });
      o.sin(at(xs, 0), { out: o.slice(out, [[2, 4]]) });
      o.add(out, o.square(o.flip(out, { axis: 0 })), { out });
      return out;
    },
  },
];

function unary4(name: string, f: (x: Tensor) => Tensor, isApart = false): GradCase {
  return { name, shapes: [[1, 2, 4, 5]], isApart, f: (xs) => f(at(xs, 0)) };
}
