import * as o from '@concord/ops';
import { tensor } from '@concord/ops';
import { at, type GradCase, ints, unary4 } from './grad-case.ts';

const HALF = { dtype: 'f16', tolerance: 0.03 } as const;

/** Norms, products, convolutions, pooling and attention. */
export const PRODUCT_CASES: readonly GradCase[] = [
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
    name: 'linear quantized zeros, offsets',
    shapes: [[2, 5]],
    f: (xs, b) => {
      const data = new Uint8Array([0x91, 0xa5, 0x0f, 0x3c, 0x77, 0x0e]);
      const own = { shape: [2, 5], block: 2, data, scales: [0.5, 0.25, 1, -0.5, 0.125, 0.75] };
      const zeros = new Uint8Array([0x57, 0x09, 0xb3, 0x01]);
      const offsets = [0.5, -1, 0.25, 2, 0, 1];
      const first = o.quantizedTensor(b, { ...own, dtype: 'u4', zeros });
      const other = o.quantizedTensor(b, { ...own, dtype: 'i4', offsets, dtypeScales: 'f16' });
      return o.mul(o.linear(at(xs, 0), first), o.linear(at(xs, 0), other));
    },
  },
  {
    name: 'linear quantized, three zeros of four bits in a row',
    shapes: [[2, 48]],
    f: (xs, b) => {
      const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 37) & 255);
      const blocks = { b: bytes(48), scales: new Float32Array(6).fill(0.1), zeroPoints: bytes(4) };
      return o.linear(at(xs, 0), o.fromMatMulNBits(b, { n: 2, k: 48, bits: 4, blockSize: 16, ...blocks }));
    },
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
    name: 'swiglu, gate and up in one weight',
    shapes: [
      [3, 4],
      [4, 4],
    ],
    f: (xs) => o.swiglu(at(xs, 0), at(xs, 1), null),
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
  {
    name: 'maxPool3dWithIndices',
    shapes: [[1, 1, 3, 3, 3]],
    isApart: true,
    f: (xs) => o.maxPool3dWithIndices(at(xs, 0), 2, { stride: 1 }).values,
  },
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
  {
    name: 'attention of many queries',
    shapes: [
      [2, 2, 11, 1],
      [2, 1, 12, 1],
      [2, 1, 12, 1],
      [11, 1],
    ],
    f: (xs, b) => {
      const lse = o.empty(b, [2, 2, 11]);
      const lengths = tensor(b, [12, 11], [2], { dtype: 'u32' });
      const options = { causal: true, window: 5, mask: at(xs, 3), lengths, lse };
      const out = o.attention(at(xs, 0), at(xs, 1), at(xs, 2), options);
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
];
