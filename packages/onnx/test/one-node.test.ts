import { describe, expect, it } from 'vitest';
import { hostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import { expectAsRuntime, expectModelAsRuntime, modelOf, Numbers, type OneNode } from './support/against-runtime.ts';
import { onBackends } from './support/backends.ts';
import { f32, i64, modelBytes, node, value } from './support/write-model.ts';

const all = (dims: readonly number[]) => new Numbers(dims.length).tensor(dims);
const none = i64([0], []);
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
    ...{ why: 'of 64 bits that wrap', op: 'Mul', outputs: ['int32'], constant: [0, 1], relative: 0, absolute: 0 },
    inputs: [i32(123456789, -2147483647), i32(987654321, 2147483647)],
  },
  { why: 'of nothing', op: 'ReduceSum', inputs: [f32([0, 2], []), i64([1], [0])], constant: [0, 1] },
];

onBackends('one node', (backend) => {
  it.each(NODES)('$op $why', (given) => expectAsRuntime(backend(), given));

  it.each([
    { op: 'LpPool', inputs: [all([1, 1, 4])], attributes: { kernel_shape: [3], strides: [2], ceil_mode: 1 } },
    { op: 'BitwiseNot', inputs: [hostTensor('uint64', [1], [1])], outputs: ['uint64'] as const },
    {
      ...{ op: 'AveragePool', inputs: [all([1, 1, 3, 3, 3])], opset: 19 },
      attributes: { kernel_shape: [2, 2, 2], strides: [2, 2, 2], ceil_mode: 1, count_include_pad: 1 },
    },
  ])('$op, that would give others, is refused', async (given) => {
    const { parts, feeds } = modelOf(given);
    using model = await loadOnnx(backend(), modelBytes(parts));
    await expect(model.runOnHost(feeds)).rejects.toMatchObject({ code: 'UNSUPPORTED', detail: /_out0/ });
  });

  const [x, image] = [all([2, 3]), all([1, 2, 4, 4])];
  it.each([
    { op: 'Split', inputs: [x, i64([1], [3])], attributes: { axis: 1 }, outputs: ['float32', 'float32'] as const },
    { op: 'Conv', inputs: [image, all([1, 2, 2, 2])], attributes: { pads: [1, 1] } },
    { op: 'MaxPool', inputs: [image], attributes: { kernel_shape: [2, 2], strides: [2] } },
    { op: 'Conv', inputs: [image, all([1, 2, 2, 2])], attributes: { kernel_shape: [3, 3] } },
    { op: 'Slice', inputs: [x, i64([2], [0, 0]), i64([2], [2, 3]), i64([2], [0, 1]), i64([1], [1])] },
    { op: 'Compress', inputs: [x, hostTensor('bool', [3], [1, 1, 1])], attributes: { axis: 0 } },
    { op: 'Concat', inputs: [i64([1], [2]), i64([1, 1], [3])], constant: [0, 1], attributes: { axis: 0 } },
    { op: 'Einsum', inputs: [x], attributes: { equation: 'ij->k' } },
  ])('$op of what does not fit is refused', async (given: OneNode) => {
    const { parts, feeds } = modelOf(given);
    using model = await loadOnnx(backend(), modelBytes(parts));
    await expect(model.runOnHost(feeds)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', detail: /_out0|"out1"/ });
  });

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
