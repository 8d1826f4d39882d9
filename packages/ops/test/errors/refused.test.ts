import type { DType, ErrorCode } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, expect, test } from 'vitest';
import { expectError } from '../../../backend-core/test/expect-error.ts';
import * as ops from '../../src/index.ts';

const backend = await CpuBackend.create();
const other = await CpuBackend.create();
afterAll(() => Promise.all([backend.dispose(), other.dispose()]));
const of = (shape: number[], dtype: DType = 'f32'): ops.Tensor => ops.zeros(backend, shape, { dtype });
const x = (...shape: number[]): ops.Tensor => of(shape);
const bytes = (): ops.Tensor => of([1, 1, 2, 2], 'u8');
const positions = (...values: number[]): ops.Tensor => ops.tensor(backend, Int32Array.from(values));
const endless: unknown[] = [];
endless.push(endless);
const copy = defineKernel('mine', { inputs: { x: 'f32' } }, ({ x: value }, k) => ({ y: k.neg(value) }));

/** Calls that are refused, by what each is told: which function, what it was given, and what it takes. */
const REFUSED: Readonly<Record<string, () => unknown>> = {
  'conv2d: x [3, 3] does not fit w [1, 1, 3, 3] with 1 groups: x is [n, c, ...size], w [k, c / groups, ...size]': () =>
    ops.conv2d(x(3, 3), x(1, 1, 3, 3)),
  'conv2d: x [1, 3, 4, 4] does not fit w [2, 2, 1, 1] with 1 groups: x is [n, c, ...size], w [k, c / groups, ...size]':
    () => ops.conv2d(x(1, 3, 4, 4), x(2, 2, 1, 1)),
  'conv2d: x [1, 4, 4, 4] does not fit w [3, 2, 1, 1] with 2 groups: x is [n, c, ...size], w [k, c / groups, ...size]':
    () => ops.conv2d(x(1, 4, 4, 4), x(3, 2, 1, 1), { groups: 2 }),
  'conv2d: x [1, 0, 4, 4] does not fit w [3, 2, 1, 1] with 0 groups: x is [n, c, ...size], w [k, c / groups, ...size]':
    () => ops.conv2d(x(1, 0, 4, 4), x(3, 2, 1, 1), { groups: 0 }),
  'conv2d: w is larger than the padded x, or nothing is left: the result is [1, 1, 0, 2]': () =>
    ops.conv2d(x(1, 1, 2, 2), x(1, 1, 3, 1)),
  'conv2d: stride must be a number or [h, w], each at least 1, got 0': () =>
    ops.conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { stride: 0 }),
  'conv2d: dilation must be a number or [h, w], each at least 1, got [1]': () =>
    ops.conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { dilation: [1] as never }),
  'conv2d: padding must be a number, [h, w], [top, left, bottom, right], same or valid, got [0, -1]': () =>
    ops.conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { padding: [0, -1] }),
  'conv2d: padding must be a number, [h, w], [top, left, bottom, right], same or valid, got "full"': () =>
    ops.conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { padding: 'full' as 'same' }),
  'conv2d: bias must be [3], got [2]': () => ops.conv2d(x(1, 1, 2, 2), x(3, 1, 1, 1), { bias: x(2) }),
  'conv2d: residual [2, 2, 2] does not broadcast to [1, 3, 2, 2]': () =>
    ops.conv2d(x(1, 1, 2, 2), x(3, 1, 1, 1), { residual: x(2, 2, 2) }),
  'conv2d: activation must be a function or one of relu, gelu, geluTanh, silu, sigmoid, tanh, got "elu"': () =>
    ops.conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { activation: 'elu' as 'relu' }),
  'conv2d: out is f32[1, 1, 2], the result f32[1, 1, 2, 2]': () =>
    ops.conv2d(x(1, 1, 2, 2), x(1, 1, 1, 1), { out: x(1, 1, 2) }),
  'conv1d: x [1, 1, 2, 2] does not fit w [1, 1, 1]: x is [n, c, l], w [k, c / groups, s]': () =>
    ops.conv1d(x(1, 1, 2, 2), x(1, 1, 1)),
  'conv1d: x [1, 2, 1, 2] does not fit w [1, 1, 1, 1] with 1 groups: x is [n, c, ...size], w [k, c / groups, ...size]':
    () => ops.conv1d(x(1, 2, 2), x(1, 1, 1)),
  'convTranspose2d: x [1, 3, 4, 4] does not fit w [2, 3, 1, 1] with 1 groups: x is [n, c, ...size], w [c, k / groups, ...size]':
    () => ops.convTranspose2d(x(1, 3, 4, 4), x(2, 3, 1, 1)),
  'convTranspose2d: padding same has no one meaning here: give the sides': () =>
    ops.convTranspose2d(x(1, 1, 2, 2), x(1, 1, 2, 2), { padding: 'same' as never }),
  'convTranspose2d(f32[1, 1, 2, 2], f32[1, 1, 2, 2]): outputPadding[0] must be below 2, the greater one of stride and dilation, got 2':
    () => ops.convTranspose2d(x(1, 1, 2, 2), x(1, 1, 2, 2), { stride: 2, outputPadding: 2 }),
  'convTranspose2d: w is larger than the padded x, or nothing is left: the result is [1, 1, 0, 0]': () =>
    ops.convTranspose2d(x(1, 1, 1, 1), x(1, 1, 2, 2), { padding: 1 }),
  'convTranspose1d: x [1, 1, 2, 2] does not fit w [1, 1, 1]: x is [n, c, l], w [c, k / groups, s]': () =>
    ops.convTranspose1d(x(1, 1, 2, 2), x(1, 1, 1)),
  'where: takes tensors and numbers, at least one tensor, got 1, 2, 3': () => ops.where(1, 2, 3),
  'where: cannot broadcast [2, 1] with [3] with [4]: sizes must be equal or 1, from the last axis on': () =>
    ops.where(of([2, 1]), of([3]), of([4])),
  'where: takes a and b of one kind of number, got i32[2], u8[2]': () =>
    ops.where(of([2]), of([2], 'i32'), of([2], 'u8')),
  'where: Tensor f32[2] on cpu is not on the backend of the first operand, cpu': () =>
    ops.where(of([2]), ops.tensor(other, [1, 2]), 0),
  'where(f32[2], u32[2]): kernel where: params.b must be an integer from 0 to 4294967295, got -1': () =>
    ops.where(of([2]), of([2], 'u32'), -1),
  'clamp: takes min, max or both for Tensor f32[2] on cpu, got neither': () => ops.clamp(of([2]), {}),
  'clamp: takes operands of one kind of number, got f32[2], i32[2]': () => ops.clamp(of([2]), { min: of([2], 'i32') }),
  'cast: dtype must be one of f32, f16, bf16, i32, u32, i8, u8, got "f64"': () => ops.cast(of([2]), 'f64' as DType),
  'cast: out is f32[2, 3], the result u8[2, 3]': () => ops.cast(of([2, 3]), 'u8', { out: ops.empty(backend, [2, 3]) }),
  'sum: [2, 3] has no axis 2': () => ops.sum(of([2, 3]), { axis: 2 }),
  'sum: axes [1, 1] name one twice': () => ops.sum(of([2, 3]), { axis: [1, -1] }),
  'softmax: takes f32, got i32[2, 3]': () => ops.softmax(of([2, 3], 'i32')),
  'softmax: [2, 3] has no axis -3': () => ops.softmax(of([2, 3]), { axis: -3 }),
  'softmax: out is f32[3, 2], the result f32[2, 3]': () => ops.softmax(of([2, 3]), { out: ops.empty(backend, [3, 2]) }),
  'logSumExp: takes f32, got u8[2, 3]': () => ops.logSumExp(of([2, 3], 'u8')),
  'crossEntropy: takes logits [n, c] with targets [n], got f32[2, 3] with i32[3]': () =>
    ops.crossEntropy(of([2, 3]), of([3], 'i32')),
  'crossEntropy: takes floats as logits and integers as targets, got f32[2, 3] with f32[2]': () =>
    ops.crossEntropy(of([2, 3]), of([2])),
  'crossEntropy: reduction must be mean, sum or none, got "average"': () =>
    ops.crossEntropy(of([2, 3]), of([2], 'i32'), { reduction: 'average' as 'mean' }),
  'crossEntropy(f32[2, 3], u32[2]): kernel crossEntropy: params.ignore must be an integer from 0 to 4294967295, got -1':
    () => ops.crossEntropy(of([2, 3]), of([2], 'u32'), { ignoreIndex: -1 }),
  'variance: correction of [2, 3] must be finite, got NaN': () => ops.variance(of([2, 3]), { correction: NaN }),
  'std: takes f32, got i8[2, 3]': () => ops.std(of([2, 3], 'i8')),
  'norm: ord of [2, 3] must be 1, 2 or Infinity, got 3': () => ops.norm(of([2, 3]), { ord: 3 }),
  'batchNorm: [3] has no axis 1': () => ops.batchNorm(of([3]), { mean: of([3]), variance: of([3]) }),
  'batchNorm: activation must be a function or one of relu, gelu, geluTanh, silu, sigmoid, tanh, got "swish"': () =>
    ops.batchNorm(of([2, 3]), { mean: of([3]), variance: of([3]), activation: 'swish' as 'silu' }),
  'layerNorm: [3, 4] does not broadcast to [4, 3] of [2, 3, 4]': () =>
    ops.layerNorm(of([2, 3, 4]), { axis: [2, 1], weight: of([3, 4]) }),
  'layerNorm: axes [1, 1] name one twice': () => ops.layerNorm(of([2, 3]), { axis: [1, -1] }),
  'batchNorm: takes the mean and the variance of the channels of [2, 3]': () =>
    ops.batchNorm(of([2, 3]), {} as ops.BatchNormOptions),
  'batchNorm: variance is f32[4], the channels of f32[2, 3, 4] take floats [3]': () =>
    ops.batchNorm(of([2, 3, 4]), { mean: of([3]), variance: of([4]) }),
  'groupNorm: 2 groups do not part the 3 channels of [2, 3, 4]': () => ops.groupNorm(of([2, 3, 4]), 2),
  'groupNorm: 0 groups do not part the 3 channels of [2, 3]': () => ops.groupNorm(of([2, 3]), 0),
  'instanceNorm: takes at most 7 axes, got [1, 1, 1, 1, 1, 1, 1, 1]': () =>
    ops.instanceNorm(of([1, 1, 1, 1, 1, 1, 1, 1])),
  'instanceNorm: weight is i32[3], the channels of f32[2, 3, 4] take floats [3]': () =>
    ops.instanceNorm(of([2, 3, 4]), { weight: of([3], 'i32') }),
  'sort: [2, 3] has no axis 2': () => ops.sort(of([2, 3]), { axis: 2 }),
  'cumsum: [] has no axis -1': () => ops.cumsum(of([])),
  'gatherNd: i32[1, 2] are not places in [2]': () => ops.gatherNd(of([2]), of([1, 2], 'i32')),
  'gatherNd: f32[1, 1] are not places in [2]': () => ops.gatherNd(of([2]), of([1, 1])),
  'topK: [2, 3] has no axis 2': () => ops.topK(of([2, 3]), 1, { axis: 2 }),
  'topK: k must be an integer from 0 to 3, axis 1 of f32[2, 3], got 4': () => ops.topK(of([2, 3]), 4),
  'takeAlongAxis: takes integers as indices, got f32[2, 3]': () => ops.takeAlongAxis(of([2, 3]), of([2, 3])),
  'takeAlongAxis: indices [3] do not fit [2, 3]: but for axis 1 sizes must be equal or 1': () =>
    ops.takeAlongAxis(of([2, 3]), of([3], 'i32'), 1),
  'takeAlongAxis: indices [3, 5] do not fit [2, 3]: but for axis 1 sizes must be equal or 1': () =>
    ops.takeAlongAxis(of([2, 3]), of([3, 5], 'i32'), 1),
  'dequantize: takes i8 and u8, got Tensor f32[2] on cpu': () => ops.dequantize(of([2]), 1),
  'dequantize: bits must be 8 or 4, got 2': () => ops.dequantize(of([2], 'u8'), 1, { bits: 2 as 4 }),
  'dequantize: scale [2] does not fit axis 1 of [2, 3]': () => ops.dequantize(of([2, 3], 'u8'), of([2])),
  'dequantize: takes floats as scale, got Tensor i32[3] on cpu': () => ops.dequantize(of([2, 3], 'u8'), of([3], 'i32')),
  'dequantize: zeroPoint [2] is not of the shape of scale, [3]': () =>
    ops.dequantize(of([2, 3], 'u8'), of([3]), { zeroPoint: of([2], 'u8') }),
  'dequantize: takes integers as zeroPoint, got Tensor f32[] on cpu': () =>
    ops.dequantize(of([2, 3], 'u8'), 1, { zeroPoint: of([]) }),
  'dequantize: axis 1 of [2, 6] is not whole blocks of 4': () =>
    ops.dequantize(of([2, 6], 'u8'), of([2, 2]), { blockSize: 4 }),
  'dequantize: scale [2, 3] is not [2, 2], one for 3 of [2, 6]': () =>
    ops.dequantize(of([2, 6], 'u8'), of([2, 3]), { blockSize: 3 }),
  'dequantize: blocks of 3 along axis 1 of [2, 12] part the bytes of 4-bit numbers': () =>
    ops.dequantize(of([2, 6], 'u8'), of([2, 4]), { blockSize: 3, bits: 4 }),
  'dequantize: a number of 4 bits needs an axis to be packed along, got []': () =>
    ops.dequantize(of([], 'u8'), 1, { bits: 4 }),
  'sum: takes its options in one object, such as { axis }, got 1': () => ops.sum(x(2, 3), 1 as never),
  'softmax: takes its options in one object, such as { axis }, got 0': () => ops.softmax(x(2, 3), 0 as never),
  'slice: takes a list of ranges, one an axis, got 0': () => ops.slice(x(2), 0 as never),
  'permute: takes a list of axes for [2, 3], got 1': () => ops.permute(x(2, 3), 1 as never),
  'tensor: lists nest deeper than 8 axes': () => ops.tensor(backend, endless as never),
  'full: 300 does not fit i8, which goes from -128 to 127': () => ops.full(backend, [1], 300, { dtype: 'i8' }),
  'arange: 259 does not fit u8, which goes from 0 to 255': () => ops.arange(backend, 250, 260, 1, { dtype: 'u8' }),
  'pad: 300 does not fit u8, which goes from 0 to 255': () =>
    ops.pad(ops.tensor(backend, new Uint8Array(1)), [[1, 0]], { value: 300 }),
  'mine: shape [-1] has -1, which is not a size': () => ops.run(copy, { x: x(1) }, { shape: [-1] }),
  'mine: dtype must be one of f32, f16, bf16, i32, u32, i8, u8, got "f64"': () =>
    ops.run(copy, { x: x(1) }, { dtypes: { y: 'f64' as 'f32' } }),
  'layerNorm: [2, 2] does not broadcast to [2] of [2, 2]': () => {
    const own = x(2, 2);
    return ops.layerNorm(own, { weight: own });
  },
  'maxPool: takes f32, f16 or bf16 [n, c, h, w], got f32[1, 1, 4]': () => ops.maxPool(x(1, 1, 4), 2),
  'maxPool: takes f32, f16 or bf16 [n, c, h, w], got u8[1, 1, 2, 2]': () => ops.maxPool(bytes(), 2),
  'avgPool: the size of the window must be a number or [h, w], each at least 1, got [2, 0]': () =>
    ops.avgPool(x(1, 1, 4, 4), [2, 0]),
  'maxPool: the window [3, 3] is larger than the padded x [1, 1, 2, 4]': () => ops.maxPool(x(1, 1, 2, 4), 3),
  'maxPool: padding [0, 2, 0, 2] is as wide as the window [2, 2]': () =>
    ops.maxPool(x(1, 1, 4, 4), 2, { padding: [0, 2] }),
  'globalAveragePool: takes [n, c, ...size], got [1, 2]': () => ops.globalAveragePool(x(1, 2)),
  'resize: cannot make [0, 2] of [1, 1, 2, 2]': () => ops.resize(x(1, 1, 2, 2), [0, 2]),
  'resize: cannot make [1, 2] of [1, 1, 0, 2]': () => ops.resize(x(1, 1, 0, 2), [1, 2]),
  'resize: takes [n, c, h, w], got f32[2, 2]': () => ops.resize(x(2, 2), [1, 2]),
  'resize: takes f32, f16 or bf16 [n, c, h, w], got u8[1, 1, 2, 2]': () =>
    ops.resize(bytes(), [1, 2], { mode: 'bilinear' }),
  'resize: mode must be nearest or bilinear, got "cubic"': () =>
    ops.resize(bytes(), [1, 2], { mode: 'cubic' as 'nearest' }),
  'resize: alignCorners is for mode bilinear': () => ops.resize(bytes(), [1, 2], { alignCorners: true }),
  'full: -1 does not fit u8, which goes from 0 to 255': () => ops.full(backend, [2], -1, { dtype: 'u8' }),
  'full: shape [-2] has -2, which is not a size': () => ops.full(backend, [-2], 1),
  'arange: takes finite numbers and a step other than 0, got 0 to 3 by 0': () => ops.arange(backend, 0, 3, 0),
  'arange: takes integers for i32, got 0 to 3 by 0.5': () => ops.arange(backend, 0, 3, 0.5, { dtype: 'i32' }),
  'arange: -1 does not fit u32, which goes from 0 to 4294967295': () =>
    ops.arange(backend, 3, -2, -1, { dtype: 'u32' }),
  'randomUniform: seed must be an integer from 0 to 2^32 - 1, got -1': () =>
    ops.randomUniform(backend, [2], { seed: -1 }),
  'randomUniform: high must be finite, got Infinity': () =>
    ops.randomUniform(backend, [2], { seed: 1, high: Infinity }),
  'randomUniform: [65536, 65536] has 4294967296 elements, a stream of random numbers 2^32': () =>
    ops.randomUniform(backend, [2 ** 16, 2 ** 16], { seed: 1 }),
  'randomNormal: takes f32, f16, bf16, got i32[2, 3]': () =>
    ops.randomNormal(backend, [2, 3], { seed: 1, dtype: 'i32' }),
  'randomNormal: seed must be one integer, got Tensor u32[2] on cpu': () =>
    ops.randomNormal(backend, [2], { seed: ops.zeros(backend, [2], { dtype: 'u32' }) }),
  'randomUniform: offset must be one integer, got Tensor f32[] on cpu': () =>
    ops.randomUniform(backend, [2], { seed: 1, offset: ops.zeros(backend, []) }),
  'dropout: p must be one float, got Tensor i32[] on cpu': () =>
    ops.dropout(ops.zeros(backend, [2]), ops.zeros(backend, [], { dtype: 'i32' }), { seed: 1 }),
  'dropout: p must be from 0 to 1, got 1.5': () => ops.dropout(ops.zeros(backend, [2]), 1.5, { seed: 1 }),
  'dropout: takes f32, got i8[2, 3]': () => ops.dropout(ops.zeros(backend, [2, 3], { dtype: 'i8' }), 0.5, { seed: 1 }),
  'oneHot: takes integers, got f32[2, 3]': () => ops.oneHot(ops.zeros(backend, [2, 3]), 3),
  'oneHot: shape [2, 1.5] has 1.5, which is not a size': () =>
    ops.oneHot(ops.zeros(backend, [2], { dtype: 'u8' }), 1.5),
  'rope: takes f32, f16 or bf16 [..., seq, dim] with an even dim, got f32[2, 3]': () => ops.rope(x(2, 3)),
  'rope: takes f32, f16 or bf16 [..., seq, dim] with an even dim, got f32[4]': () => ops.rope(x(4)),
  'rope: takes f32, f16 or bf16 [..., seq, dim] with an even dim, got i32[2, 2]': () =>
    ops.rope(ops.zeros(backend, [2, 2], { dtype: 'i32' })),
  'rope: positions must be i32 or u32 and broadcast to [2], got i32[3]': () =>
    ops.rope(x(2, 4), { positions: positions(1, 2, 3) }),
  'rope: positions must be i32 or u32 and broadcast to [1], got i32[4]': () =>
    ops.rope(x(1, 4), { positions: positions(1, 2, 3, 4) }),
  'rope: positions must be i32 or u32 and broadcast to [2], got f32[2]': () => ops.rope(x(2, 4), { positions: x(2) }),
  'rope: frequencies must be f32[2], got f32[4]': () => ops.rope(x(2, 4), { frequencies: x(4) }),
  'rope: offset must be an integer, got 0.5': () => ops.rope(x(2, 4), { offset: 0.5 }),
  'rope: offset must be one integer, got Tensor i32[2] on cpu': () => ops.rope(x(2, 4), { offset: positions(1, 2) }),
  'rope: base must be a positive number, got 0': () => ops.rope(x(2, 4), { base: 0 }),
  'concat: takes at least one tensor': () => ops.concat([]),
  'concat: shapes must be the same but for axis 0, got [2, 3], [2, 4]': () => ops.concat([x(2, 3), x(2, 4)]),
  'concat: shapes must be the same but for axis 0, got [2, 3], [2]': () => ops.concat([x(2, 3), x(2)]),
  'concat: [] has no axis 0': () => ops.concat([ops.tensor(backend, 1)]),
  'concat: takes operands of one kind of number, got f32[2], i32[1]': () =>
    ops.concat([x(2), ops.tensor(backend, Int32Array.of(1))]),
  'concat: [2] has no axis 1': () => ops.concat([x(2)], { axis: 1 }),
  'stack: shapes must be the same but for axis 0, got [1, 2], [1, 3]': () => ops.stack([x(2), x(3)]),
  'stack: shapes must be the same but for axis 0, got [1, 2], [1]': () => ops.stack([x(2), ops.tensor(backend, 1)]),
  'pad: pads must be [before, after] of each axis of [2, 3], got [[1, 1]]': () => ops.pad(x(2, 3), [[1, 1]]),
  'pad: pads must be [before, after] of each axis of [2], got [[-1, 1]]': () => ops.pad(x(2), [[-1, 1]]),
  'pad: mode must be constant, reflect, edge, symmetric, wrap, got "mirror"': () =>
    ops.pad(x(2), [[1, 1]], { mode: 'mirror' as 'edge' }),
  'pad: axis 1 of [2, 0] has no edge for mode edge': () =>
    ops.pad(
      x(2, 0),
      [
        [0, 0],
        [1, 0],
      ],
      { mode: 'edge' },
    ),
  'pad: axis 0 of [0] has no edge for mode wrap': () => ops.pad(x(0), [[0, 1]], { mode: 'wrap' }),
  'tile: shape [-1] has -1, which is not a size': () => ops.tile(x(2), [-1]),
  'flip: [2] has no axis 1': () => ops.flip(x(2), { axis: 1 }),
  'slice: step 0 of axis 0 is not a step': () => ops.slice(x(2), [[null, null, 0]]),
  'slice: step -0.5 of axis 0 is not a step': () => ops.slice(x(2), [[null, null, -0.5]]),
  'slice: place 0.5 of axis 0 is not an integer': () => ops.slice(x(2), [[0.5, null, -1]]),
  'unsqueeze: axes [1, 1] name one twice': () => ops.unsqueeze(x(2, 3), [1, -3]),
  'unsqueeze: [2, 3, 1, 1] has no axis 4': () => ops.unsqueeze(x(2, 3), [0, 4]),
  'unsqueeze: [2, 3, 4, 5, 6, 7, 1, 1, 1] has more than 8 axes': () => ops.unsqueeze(x(2, 3, 4, 5, 6, 7), [0, 1, 2]),
  'unsqueeze: axes must be a list, got undefined': () => ops.unsqueeze(x(2), undefined as never),
  'triu: takes matrices [..., m, n], got f32[3]': () => ops.triu(x(3)),
  'tril: diagonal of [2, 2] must be an integer, got 0.5': () => ops.tril(x(2, 2), { diagonal: 0.5 }),
  'triu: diagonal of [2, 2] must be an integer, got -Infinity': () => ops.triu(x(2, 2), { diagonal: -Infinity }),
  'triu: out is f32[2, 3], the result f32[2, 2]': () => ops.triu(x(2, 2), { out: x(2, 3) }),
  'pad: out is f32[3], the result f32[4]': () => ops.pad(x(2), [[1, 1]], { out: x(3) }),
  'layerNorm: options has no field epsilon; did you mean eps?': () => ops.layerNorm(of([2]), { epsilon: 1 } as never),
  'softmax: options has no field axiss; did you mean axis?': () => ops.softmax(of([2]), { axiss: 0 } as never),
  'softmax: takes its options in one object, such as { axis }, got Tensor f32[2] on cpu': () =>
    ops.softmax(of([2]), of([2]) as never),
  'linear: weight must be a tensor, got undefined': () => ops.linear(of([2]), undefined as never),
  'swiglu: weight must be a tensor, got undefined': () => ops.swiglu(x(1, 2), x(4, 2), undefined as never),
  'swiglu: gate and up together must have an even number of rows, got 3': () => ops.swiglu(x(1, 2), x(3, 2), null),
};

const UNSUPPORTED: typeof REFUSED = {
  'resize: [1, 1, 2, 1] to [536870912, 1]: sizes of an axis multiply to 2^30 or more': () =>
    ops.resize(x(1, 1, 2, 1), [2 ** 29, 1]),
  'tile: [2, 2, 2, 2, 2] by [2, 2, 2, 2, 2] has more than 8 axes and repetitions': () =>
    ops.tile(x(2, 2, 2, 2, 2), [2, 2, 2, 2, 2]),
};

const rows = (code: ErrorCode, all: typeof REFUSED) =>
  Object.entries(all).map(([words, call]) => [words, code, call] as const);

test.each([...rows('INVALID_ARGUMENT', REFUSED), ...rows('UNSUPPORTED', UNSUPPORTED)])(
  '%s: and nothing is left',
  (words, code, call) => {
    const before = ops.memory();
    ops.tidy(() => void expectError(call, code, words));
    expect(ops.memory()).toEqual(before);
  },
);
