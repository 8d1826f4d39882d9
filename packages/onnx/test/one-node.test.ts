import { describe, it } from 'vitest';
import { hostTensor } from '../src/graph/host-tensor.ts';
import {
  expectAsRuntime,
  expectModelAsRuntime,
  expectRefused,
  Numbers,
  type OneNode,
} from './support/against-runtime.ts';
import { onBackends } from './support/backends.ts';
import { f32, i64, modelBytes, node, value } from './support/write-model.ts';

const all = (dims: readonly number[]) => new Numbers(dims.length).tensor(dims);
const none = i64([0], []);
const point = (type: 'uint8' | 'int8', at: number) => hostTensor(type, [], [at]);
const u8 = (...values: number[]) => hostTensor('uint8', [values.length], values);
const i32 = (...values: number[]) => hostTensor('int32', [values.length], values);

/** Nodes whose numbers were once others than those of ONNX Runtime. */
const NODES: readonly (OneNode & { readonly why: string })[] = [
  ...['ReduceL1', 'ReduceL2', 'ReduceSumSquare', 'ReduceSum', 'ReduceMean', 'ReduceMax'].map((op) => ({
    ...{ why: 'of no axes', op, inputs: [f32([3], [-2, 0.5, 3]), none], constant: [1], opset: 18 },
    attributes: { noop_with_empty_axes: 1 },
  })),
  {
    ...{ why: 'to the end, backwards', op: 'Slice', opset: 13, constant: [1, 2, 3, 4] },
    inputs: [all([3, 2]), i64([1], [-1]), i64([1], [2 ** 31 - 1]), i64([1], [0]), i64([1], [-1])],
  },
  { why: 'of a large number', op: 'Acosh', inputs: [f32([3], [1, 2, 1e20])] },
  {
    why: 'by a divisor without end',
    op: 'Mod',
    inputs: [f32([1], [5]), f32([1], [Infinity])],
    attributes: { fmod: 1 },
  },
  ...[2, 0.5].map((power) => ({
    ...{ why: `${power}, of more axes`, op: 'Pow', inputs: [f32([2], [3, 4]), f32([1, 1], [power])], constant: [1] },
  })),
  { why: 'of 1', op: 'Pow', inputs: [f32([3], [1, 1, -1]), f32([3], [NaN, Infinity, Infinity])], constant: [0, 1] },
  {
    ...{ why: 'of 64 bits that wrap', op: 'Mul', constant: [0, 1], relative: 0, absolute: 0 },
    inputs: [i32(123456789, -2147483647), i32(987654321, 2147483647)],
  },
  { why: 'of nothing', op: 'ReduceSum', inputs: [f32([0, 2], []), i64([1], [0])], constant: [0, 1] },
];

const heads = [2, 4, 3, 8];

/** What operator sets from 12 on brought, that nothing else tests. */
const LATER: readonly (OneNode & { readonly why: string })[] = [
  ...[0, 3].map((mode) => ({
    ...{ why: `whose scores are a result, as of mode ${mode}`, op: 'Attention', opset: 24 },
    inputs: [all(heads), all([2, 2, 5, 8]), all([2, 2, 5, 8])],
    attributes: { qk_matmul_output_mode: mode, scale: { f: 0.5 } },
    outputs: [0, 3],
  })),
  {
    ...{ why: 'of a cache that is partly filled', op: 'Attention', opset: 24, attributes: { is_causal: 1 } },
    inputs: [all(heads), all([2, 4, 7, 8]), all([2, 4, 7, 8]), undefined, undefined, undefined, i64([2], [4, 7])],
  },
  ...['linear', 'circular'].map((mode) => ({
    ...{ why: mode, op: 'TensorScatter', opset: 24, attributes: { mode } },
    inputs: [all([2, 3, 4, 2]), all([2, 3, 2, 2]), i64([2], [1, mode === 'linear' ? 2 : 3])],
  })),
  ...['none', 'sum', 'mean'].map((reduction) => ({
    ...{ why: reduction, op: 'SoftmaxCrossEntropyLoss', opset: 13, outputs: [0, 1] },
    inputs: [all([3, 5, 2]), i64([3, 2], [0, 4, -1, 2, 1, 3]), f32([5], [1, 0.5, 2, 1, 3])],
    attributes: { reduction, ignore_index: -1 },
  })),
  { why: 'of more and less', op: 'CenterCropPad', opset: 18, inputs: [all([3, 6]), i64([2], [6, 3])], constant: [1] },
  {
    why: 'with padding',
    op: 'LpPool',
    opset: 18,
    inputs: [all([1, 2, 5])],
    attributes: { kernel_shape: [3], pads: [1, 1] },
  },
];

const hertz = [f32([], [0]), f32([], [4000])];

/** Transforms to frequencies and back. */
const SPECTRAL: readonly (OneNode & { readonly why: string })[] = [
  ...[1, 2].flatMap((parts) =>
    [0, 1].flatMap((inverse) =>
      [undefined, 5, 9].map((length) => ({
        ...{ why: `of ${parts}, inverse ${inverse}, length ${length}`, op: 'DFT', opset: 17, constant: [1] },
        inputs: [all([2, 7, 3, parts]), length === undefined ? undefined : i64([], [length])],
        attributes: { inverse, axis: 1 },
        ...{ relative: 1e-5, absolute: 1e-5 },
      })),
    ),
  ),
  ...[8, 9].map((length) => ({
    ...{ why: `of ${length}, one side, by an input`, op: 'DFT', opset: 20, constant: [1, 2] },
    inputs: [all([2, 3, length, 1]), undefined, i64([], [-2])],
    ...{ attributes: { onesided: 1 }, relative: 1e-5, absolute: 1e-5 },
  })),
  ...[undefined, 10, 11].map((length) => ({
    ...{ why: `back from one side, of ${length}`, op: 'DFT', opset: 20, constant: [1, 2] },
    inputs: [all([2, 3, 6, 2]), length === undefined ? undefined : i64([], [length]), i64([], [-2])],
    ...{ attributes: { inverse: 1, onesided: 1 }, relative: 1e-5, absolute: 1e-5 },
  })),
  ...[true, false].flatMap((hasWindow) =>
    [0, 1].map((onesided) => ({
      ...{ why: `window ${hasWindow}, one side ${onesided}`, op: 'STFT', opset: 17, constant: [1, 2, 3] },
      inputs: [all([2, 30, 1]), i64([], [4]), hasWindow ? all([9]) : undefined, i64([], [9])],
      ...{ attributes: { onesided }, relative: 1e-5, absolute: 1e-5 },
    })),
  ),
  {
    ...{ why: 'of 8', op: 'MelWeightMatrix', opset: 17, constant: [0, 1, 2, 3, 4], relative: 1e-6 },
    inputs: [i64([], [8]), i64([], [64]), i64([], [8192]), ...hertz],
  },
];

/** Defaults of attributes, edges, and attributes that differ from one node to the next. */
const EDGES: readonly (OneNode & { readonly why: string })[] = [
  { why: 'a column as long as a row', op: 'Gemm', inputs: [all([3, 2]), all([2, 3]), all([3, 1])], constant: [1, 2] },
  { why: 'of order 3', op: 'LpPool', inputs: [all([1, 2, 5])], attributes: { kernel_shape: [2], p: 3 } },
  {
    ...{ why: 'with places in all images', op: 'MaxPool', inputs: [all([2, 2, 4, 4])] },
    ...{ attributes: { kernel_shape: [2, 2], strides: [2, 2] }, outputs: [0, 1] },
  },
  {
    ...{
      why: 'with pads',
      op: 'MaxUnpool',
      inputs: [f32([1, 1, 2, 2], [1, 2, 3, 4]), i64([1, 1, 2, 2], [0, 2, 6, 8])],
    },
    attributes: { kernel_shape: [2, 2], strides: [2, 2], pads: [0, 0, 1, 1] },
  },
  ...[1, 2].map((p) => ({
    ...{ why: `${p} of zeros`, op: 'LpNormalization', inputs: [f32([2, 2], [0, 0, 3, -1])] },
    attributes: { p, axis: -1 },
  })),
  {
    why: 'of slices that begin alike',
    op: 'Unique',
    inputs: [f32([3, 2], [1, 5, 1, 2, 1, 5])],
    attributes: { axis: 0 },
  },
  { why: 'without axes', op: 'ReverseSequence', inputs: [all([3, 2, 2]), i64([2], [2, 3])] },
  { why: 'without an axis, of old', op: 'Softmax', inputs: [all([2, 3, 4])], opset: 11 },
  ...[-4, -3, 1].map((start) => ({
    ...{ why: `from ${start}`, op: 'Shape', inputs: [all([2, 3, 4])], attributes: { start } },
  })),
  {
    ...{ why: 'on the host, from beyond the end, backwards', op: 'Slice', constant: [0, 1, 2, 3, 4] },
    inputs: [i64([3], [1, 2, 3]), i64([1], [9]), i64([1], [-9]), i64([1], [0]), i64([1], [-1])],
  },
  { why: 'of large numbers', op: 'Asinh', inputs: [f32([4], [1e20, -1e20, 1e-4, -3])] },
  ...(['uint8', 'int8'] as const).map((type) => ({
    ...{ why: `to ${type}`, op: 'Cast', inputs: [i32(300, -1, 200, 127)] },
    attributes: { to: type === 'int8' ? 3 : 2 },
  })),
  { why: 'to int64, below 0', op: 'Cast', inputs: [f32([3], [-1.5, 1.5, -0.5])], constant: [0], attributes: { to: 7 } },
  { why: 'of a negative exponent', op: 'Pow', inputs: [i64([2], [2, 3]), i64([2], [-1, 2])], constant: [0, 1] },
  { why: 'without an arrow', op: 'Einsum', inputs: [all([2, 3])], attributes: { equation: 'ba' } },
  {
    ...{ why: 'of no axes on the host', op: 'ReduceSum', constant: [0, 1] },
    ...{ inputs: [i64([2], [3, 4]), none], attributes: { noop_with_empty_axes: 1 } },
  },
  ...['Tanh', 'Sigmoid'].map((f) => ({
    ...{ why: `whose gates are of ${f}`, op: 'GRU' },
    ...{
      inputs: [all([2, 1, 2]), all([1, 6, 2]), all([1, 6, 2])],
      attributes: { hidden_size: 2, activations: { strings: [f, 'Tanh'] } },
    },
  })),
  ...[
    [3, 0.5, 0.4],
    [3, 1 / 3, 0.4],
    [0, 0.5, 0.4],
    [1, 0.9, 0.5],
  ].map(([limit = 0, overlap = 0, least = 0]) => ({
    ...{ why: `of ${limit}, ${overlap}, ${least}`, op: 'NonMaxSuppression' },
    inputs: [
      f32([1, 4, 4], [0, 0, 1, 2, 0, 1, 1, 3, 0, 0, 1, 1, 5, 5, 6, 6]),
      f32([1, 1, 4], [0.9, 0.5, 0.6, 0.4]),
      ...(limit === 0 ? [undefined] : [i64([1], [limit])]),
      ...[f32([1], [overlap]), f32([1], [least])],
    ],
  })),
  {
    ...{ why: 'without a slope', op: 'com.microsoft.QLinearLeakyRelu' },
    inputs: [u8(0, 100, 128, 255), f32([], [0.1]), point('uint8', 128), f32([], [0.01]), point('uint8', 128)],
  },
  {
    ...{ why: 'down to the least byte', op: 'QLinearMatMul' },
    inputs: [-128, 127]
      .flatMap((each) => [hostTensor('int8', [1, 1], [each]), f32([], [1]), point('int8', 0)])
      .concat([f32([], [100]), point('int8', 0)]),
  },
  ...[undefined, 1e-3, 1e-4].map((epsilon) => ({
    ...{ why: `of an epsilon of ${epsilon}`, op: 'com.microsoft.SkipLayerNormalization' },
    inputs: [f32([1, 1, 4], [1e-3, 3e-3, 0, 2e-3]), f32([1, 1, 4], [0, 0, 1e-3, 0]), f32([4], [1, 1, 1, 1])],
    attributes: epsilon === undefined ? {} : { epsilon },
  })),
  ...[-1.5, -3.5].flatMap((mask_filter_value) =>
    [i32(1, 2), hostTensor('int32', [2, 3], [0, 1, 2, 1, 0, 0])].map((mask) => ({
      ...{ why: `of a mask of ${mask.dims.length} axes, ${mask_filter_value}`, op: 'com.microsoft.MultiHeadAttention' },
      inputs: [all([2, 3, 4]), all([2, 3, 4]), all([2, 3, 4]), undefined, mask],
      attributes: { num_heads: 2, mask_filter_value },
    })),
  ),
  {
    ...{ why: 'with a cap and a mask', op: 'Attention', opset: 24 },
    inputs: [all(heads), all([2, 2, 5, 8]), all([2, 2, 5, 8]), all([3, 5])],
    attributes: { softcap: { f: 0.5 } },
    outputs: [0, 3],
  },
];

onBackends('one node', (backend) => {
  it.each([...NODES, ...LATER, ...SPECTRAL, ...EDGES])('$op $why', (given) => expectAsRuntime(backend(), given));

  it.each([
    { op: 'LpPool', inputs: [all([1, 1, 4])], attributes: { kernel_shape: [3], strides: [2], ceil_mode: 1 } },
    { op: 'BitwiseNot', inputs: [hostTensor('uint64', [1], [1])] },
    {
      ...{ op: 'AveragePool', inputs: [all([1, 1, 3, 3, 3])], opset: 19 },
      attributes: { kernel_shape: [2, 2, 2], strides: [2, 2, 2], ceil_mode: 1, count_include_pad: 1 },
    },
  ])('$op, that would give others, is refused', (given) => expectRefused(backend(), given, 'UNSUPPORTED', /_out0/));

  const [x, image] = [all([2, 3]), all([1, 2, 4, 4])];
  it.each([
    { op: 'Split', inputs: [x, i64([1], [3])], attributes: { axis: 1 }, outputs: [0, 1] },
    { op: 'Conv', inputs: [image, all([1, 2, 2, 2])], attributes: { pads: [1, 1] } },
    { op: 'MaxPool', inputs: [image], attributes: { kernel_shape: [2, 2], strides: [2] } },
    { op: 'Conv', inputs: [image, all([1, 2, 2, 2])], attributes: { kernel_shape: [3, 3] } },
    { op: 'Slice', inputs: [x, i64([2], [0, 0]), i64([2], [2, 3]), i64([2], [0, 1]), i64([1], [1])] },
    { op: 'Compress', inputs: [x, hostTensor('bool', [3], [1, 1, 1])], attributes: { axis: 0 } },
    { op: 'Concat', inputs: [i64([1], [2]), i64([1, 1], [3])], constant: [0, 1], attributes: { axis: 0 } },
    { op: 'Einsum', inputs: [x], attributes: { equation: 'ij->k' } },
  ])('$op of what does not fit is refused', (given: OneNode) =>
    expectRefused(backend(), given, 'INVALID_ARGUMENT', /_out0|"out1"/),
  );

  describe('a constant of more axes than what it meets is not fused away', () => {
    it.each(['gelu', 'attention'])('%s', async (what) => {
      const [x, number] = [all([3, 3]), (each: number) => f32([1, 1, 1], [each])];
      const nodes =
        what === 'gelu'
          ? [
              ...[node('Div', ['x', 'a'], ['p']), node('Erf', ['p'], ['q']), node('Add', ['q', 'b'], ['r'])],
              ...[node('Mul', ['x', 'r'], ['s']), node('Mul', ['s', 'c'], ['y'])],
            ]
          : [
              ...[node('MatMul', ['x', 'x'], ['p']), node('Mul', ['p', 'c'], ['q'])],
              ...[node('Softmax', ['q'], ['r']), node('MatMul', ['r', 'x'], ['y'])],
            ];
      const constants = { a: number(Math.SQRT2), b: number(1), c: number(0.5) };
      const bytes = modelBytes({ inputs: [value('x', 'float32', [3, 3])], constants, nodes, outputs: ['y'] });
      await expectModelAsRuntime(backend(), bytes, { x });
    });
  });
});
