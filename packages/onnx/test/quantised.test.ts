import { expect, it } from 'vitest';
import { type ElementType, type HostTensor, hostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import {
  expectAsRuntime,
  expectModelAsRuntime,
  expectRefused,
  modelOf,
  Numbers,
  type OneNode,
} from './support/against-runtime.ts';
import { onBackends } from './support/backends.ts';
import { f32, modelBytes, node, value } from './support/write-model.ts';

const numbers = new Numbers(7);
const x = (dims: readonly number[], type: ElementType = 'float32', low = -2, high = 2): HostTensor =>
  numbers.tensor(dims, type, low, high);
const u8 = (dims: readonly number[]): HostTensor => numbers.bytes(dims);
const i8 = (dims: readonly number[]): HostTensor => numbers.bytes(dims, 'int8');
// Products of pairs stay in 16 bits, beyond which ONNX Runtime saturates on processors without VNNI.
const weights = (dims: readonly number[]): HostTensor => x(dims, 'int8', -64, 63);
const scales = (dims: readonly number[], type: ElementType = 'float32'): HostTensor => x(dims, type, 0.01, 0.05);

const CASES: Readonly<Record<string, OneNode>> = {
  'QuantizeLinear to u8': { op: 'QuantizeLinear', inputs: [x([3, 7]), scales([]), u8([])] },
  'QuantizeLinear without a zero point': { op: 'QuantizeLinear', inputs: [x([3, 7]), scales([])] },
  'QuantizeLinear to i8 along an axis': {
    op: 'QuantizeLinear',
    inputs: [x([2, 5, 3]), scales([5]), i8([5])],
    attributes: { axis: -2 },
  },
  'QuantizeLinear to i8 by output_dtype': {
    op: 'QuantizeLinear',
    inputs: [x([2, 8]), scales([2, 2])],
    attributes: { axis: 1, block_size: 4, output_dtype: 3 },
  },
  'QuantizeLinear of f16': { op: 'QuantizeLinear', inputs: [x([4, 4], 'float16'), scales([4], 'float16'), i8([4])] },
  'DequantizeLinear of u8': { op: 'DequantizeLinear', inputs: [u8([4, 5]), scales([1]), u8([1])], opset: 13 },
  'DequantizeLinear of i8 along an axis': {
    op: 'DequantizeLinear',
    inputs: [i8([4, 5]), scales([4]), i8([4])],
    attributes: { axis: 0 },
    constant: [0, 1, 2],
  },
  'DequantizeLinear of i32': {
    op: 'DequantizeLinear',
    inputs: [x([4, 5], 'int32', -5000, 5000), scales([5])],
    constant: [1],
  },
  'DequantizeLinear of blocks': {
    op: 'DequantizeLinear',
    inputs: [u8([8, 3]), scales([2, 3]), u8([2, 3])],
    attributes: { axis: 0, block_size: 4 },
  },
  'DequantizeLinear of u4 in blocks': {
    op: 'DequantizeLinear',
    inputs: [numbers.bytes([6, 8], 'uint4'), scales([6, 2]), numbers.bytes([6, 2], 'uint4')],
    attributes: { block_size: 4 },
    constant: [0, 1, 2],
  },
  'DequantizeLinear of i4 to f16': {
    op: 'DequantizeLinear',
    inputs: [numbers.bytes([3, 5], 'int4'), scales([3], 'float16')],
    attributes: { axis: 0 },
    constant: [0],
    relative: 2e-3,
  },
  'com.microsoft.DequantizeLinear': {
    op: 'com.microsoft.DequantizeLinear',
    inputs: [u8([4, 5]), scales([5]), u8([5])],
    attributes: { axis: 1 },
  },
  DynamicQuantizeLinear: { op: 'DynamicQuantizeLinear', inputs: [x([4, 9], 'float32', -1, 3)], outputs: [0, 1, 2] },
  'DynamicQuantizeLinear of zeros': { op: 'DynamicQuantizeLinear', inputs: [f32([3], [0, 0, 0])], outputs: [0, 1, 2] },
  MatMulInteger: { op: 'MatMulInteger', inputs: [u8([3, 8]), weights([8, 5])] },
  'MatMulInteger of sums beyond 2^24': {
    op: 'MatMulInteger',
    inputs: [x([2, 1500], 'uint8', 250, 255), x([1500, 4], 'uint8', 253, 255)],
  },
  'MatMulInteger with zero points': {
    op: 'MatMulInteger',
    inputs: [u8([2, 3, 700]), u8([700, 6]), u8([]), u8([6])],
    constant: [1, 3],
  },
  'ConvInteger with padding': {
    op: 'ConvInteger',
    inputs: [u8([2, 3, 6, 6]), u8([4, 3, 3, 3]), u8([]), u8([])],
    attributes: { pads: [1, 1, 1, 1], strides: [2, 1] },
  },
  'ConvInteger of groups and many channels': {
    op: 'ConvInteger',
    inputs: [u8([1, 140, 5, 5]), u8([4, 70, 3, 3]), u8([])],
    constant: [1],
    attributes: { group: 2 },
  },
  QLinearMatMul: {
    op: 'QLinearMatMul',
    inputs: [u8([4, 300]), scales([]), u8([]), weights([300, 6]), scales([6]), i8([6]), f32([], [3]), u8([])],
    constant: [3, 4, 5],
  },
  QLinearConv: {
    op: 'QLinearConv',
    inputs: [
      ...[
        u8([1, 4, 7, 7]),
        scales([]),
        u8([]),
        weights([6, 4, 3, 3]),
        scales([6]),
        hostTensor('int8', [6], [0, 0, 0, 0, 0, 0]),
      ],
      ...[f32([], [0.3]), u8([]), x([6], 'int32', -900, 900)],
    ],
    constant: [3, 4, 5, 8],
    attributes: { pads: [1, 1, 1, 1] },
  },
  MatMulIntegerToFloat: {
    op: 'com.microsoft.MatMulIntegerToFloat',
    inputs: [u8([4, 300]), weights([300, 6]), scales([1]), scales([6]), u8([1]), i8([6]), x([6])],
    constant: [1, 3, 5, 6],
  },
  DynamicQuantizeMatMul: {
    op: 'com.microsoft.DynamicQuantizeMatMul',
    inputs: [x([2, 4, 32]), weights([32, 6]), scales([6]), i8([6]), x([6])],
    constant: [1, 2, 3, 4],
  },
  QLinearAdd: {
    op: 'com.microsoft.QLinearAdd',
    inputs: [u8([3, 4]), scales([]), u8([]), u8([4]), scales([]), u8([]), f32([], [0.07]), u8([])],
    constant: [1, 2, 4, 5, 6, 7],
  },
  QLinearMul: {
    op: 'com.microsoft.QLinearMul',
    inputs: [i8([3, 4]), scales([]), i8([]), i8([3, 4]), scales([]), i8([]), f32([], [0.07]), i8([])],
    constant: [1, 2, 4, 5, 6, 7],
  },
  QLinearSigmoid: {
    op: 'com.microsoft.QLinearSigmoid',
    inputs: [u8([3, 40]), scales([]), u8([]), f32([], [1 / 256]), u8([])],
    constant: [1, 2, 3, 4],
  },
  QLinearLeakyRelu: {
    op: 'com.microsoft.QLinearLeakyRelu',
    inputs: [u8([3, 40]), scales([]), u8([]), scales([]), u8([])],
    attributes: { alpha: { f: 0.2 } },
    constant: [1, 2, 3, 4],
  },
};

/** What ONNX Runtime has no kernel for, or what is refused. */
const REFUSED: readonly OneNode[] = [
  { op: 'DequantizeLinear', inputs: [x([3], 'uint16', 0, 9), scales([]), x([], 'uint16', 0, 9)], constant: [0, 2] },
  { op: 'ConvInteger', inputs: [u8([1, 1, 20, 20]), u8([1, 1, 17, 17])] },
];

onBackends('quantised operators', (backend) => {
  it.each(Object.entries(CASES))('%s', (_, given) => expectAsRuntime(backend(), given));

  it('MatMulInteger is exact with all of 8 bits', async () => {
    const [m, k, n] = [3, 300, 5];
    const [a, b] = [u8([m, k]), i8([k, n])];
    const { parts, feeds } = modelOf({ op: 'MatMulInteger', inputs: [a, b] });
    using model = await loadOnnx(backend(), modelBytes(parts));
    const { out0 } = await model.runOnHost(feeds);
    const dot = (row: number, column: number): number =>
      Array.from({ length: k }, (_, t) => Number(a.data[row * k + t]) * Number(b.data[t * n + column])).reduce(
        (sum, each) => sum + each,
      );
    const want = Array.from({ length: m * n }, (_, at) => dot(Math.floor(at / n), at % n));
    expect(Array.from(out0?.data ?? [], Number)).toEqual(want);
  });

  it('of constants leave the copies of later runs alone', () => {
    const nodes = [
      node('DequantizeLinear', ['q', 's'], ['w']),
      node('Shape', ['x'], ['dims']),
      node('Cast', ['dims'], ['sizes'], { to: 1 }),
      node('Add', ['x', 'sizes'], ['sum']),
      node('Add', ['sum', 'w'], ['y']),
    ];
    const constants = { q: numbers.bytes([4, 2], 'int4'), s: f32([], [0.5]) };
    const inputs = [value('x', 'float32', [4, 2])];
    const bytes = modelBytes({ inputs, constants, nodes, outputs: ['y'], opset: 21, more: { irVersion: 10n } });
    return expectModelAsRuntime(backend(), bytes, { x: x([4, 2]) });
  });

  it.each(REFUSED)('refuse what they cannot compute: $op', (given) =>
    expectRefused(backend(), given, 'UNSUPPORTED', new RegExp(given.op)),
  );
});
