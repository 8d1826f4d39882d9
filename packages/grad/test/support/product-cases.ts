import * as o from '@concord/ops';
import { tensor } from '@concord/ops';
import { caseOf, type GradCase, ints, unary4 } from './grad-case.ts';

const HALF = { dtype: 'f16', tolerance: 0.03 } as const;

/** Norms, products, convolutions, pooling and attention. */
export const PRODUCT_CASES: readonly GradCase[] = [
  caseOf('layerNorm', (x, weight, bias) => o.layerNorm(x, { weight, bias }), [3, 6], [6], [6]),
  caseOf('layerNorm activation', (x, weight) => o.layerNorm(x, { weight, activation: 'gelu', eps: 0.1 }), [3, 6], [6]),
  caseOf('layerNorm axes', (x) => o.layerNorm(x, { axis: [1, 2] }), [2, 3, 2]),
  caseOf('rmsNorm', (x, weight) => o.rmsNorm(x, { weight, activation: 'silu' }), [3, 6], [6]),
  caseOf(
    'groupNorm',
    (x, weight, bias) => o.groupNorm(x, 2, { weight, bias, activation: 'tanh' }),
    [2, 4, 3],
    [4],
    [4],
  ),
  caseOf('instanceNorm', (x, weight) => o.instanceNorm(x, { weight }), [2, 2, 4], [2]),
  {
    ...caseOf(
      'batchNorm',
      (x, mean, variance, weight, bias) =>
        o.batchNorm(x, {
          mean,
          variance,
          weight,
          bias,
          activation: 'sigmoid',
        }),
      [2, 3, 2],
      [3],
      [3],
      [3],
      [3],
    ),
    range: [0.4, 1.5],
  },

  caseOf('matmul', (a, b) => o.matmul(a, b), [3, 4], [4, 2]),
  caseOf('matmul batches', (a, b) => o.matmul(a, b), [2, 3, 4], [2, 4, 2]),
  caseOf('matmul broadcast', (a, b) => o.matmul(a, b), [2, 1, 3, 4], [3, 4, 2]),
  caseOf('matmul of one weight', (a, b) => o.matmul(a, b), [2, 3, 4], [4, 2]),
  caseOf('matmul of vectors', (a, b) => o.matmul(a, b), [4], [4]),
  caseOf('matmul transposed', (a, b) => o.matmul(o.transpose(a), o.transpose(b)), [4, 3], [2, 4]),
  caseOf('matmul with itself', (a) => o.matmul(a, a), [3, 3]),
  caseOf('linear', (x, w) => o.linear(x, w), [3, 4], [2, 4]),
  ...(['relu', 'gelu', 'geluTanh', 'silu', 'sigmoid', 'tanh'] as const).map((activation): GradCase => ({
    ...caseOf(
      `linear ${activation}`,
      (x, w, bias, residual) => o.linear(x, w, { bias, residual, activation }),
      [2, 2, 4],
      [3, 4],
      [3],
      [2, 2, 3],
    ),
    isApart: activation === 'relu',
  })),
  caseOf(
    'linear strided',
    (x, w, residual) => o.linear(o.permute(x, [1, 0, 2]), o.transpose(o.reshape(w, [4, 3])), { residual }),
    [2, 3, 4],
    [3, 4],
    [1, 3],
  ),
  caseOf(
    'linear quantized i8',
    (x) => o.linear(x, o.quantizeWeight(o.sin(o.reshape(o.arange(x.backend, 0, 128), [4, 32])), { block: 16 })),
    [2, 32],
  ),
  caseOf(
    'linear quantized u4',
    (x) =>
      o.linear(x, o.quantizeWeight(o.sin(o.reshape(o.arange(x.backend, 0, 128), [4, 32])), { dtype: 'u4', block: 16 })),
    [2, 32],
  ),
  caseOf(
    'linear quantized zeros, offsets',
    (x) => {
      const data = new Uint8Array([0x91, 0xa5, 0x0f, 0x3c, 0x77, 0x0e]);
      const own = { shape: [2, 5], block: 2, data, scales: [0.5, 0.25, 1, -0.5, 0.125, 0.75] };
      const zeros = new Uint8Array([0x57, 0x09, 0xb3, 0x01]);
      const offsets = [0.5, -1, 0.25, 2, 0, 1];
      const first = o.quantizedTensor(x.backend, { ...own, dtype: 'u4', zeros });
      const other = o.quantizedTensor(x.backend, { ...own, dtype: 'i4', offsets, dtypeScales: 'f16' });
      return o.mul(o.linear(x, first), o.linear(x, other));
    },
    [2, 5],
  ),
  caseOf(
    'linear quantized, three zeros of four bits in a row',
    (x) => {
      const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 37) & 255);
      const blocks = { b: bytes(48), scales: new Float32Array(6).fill(0.1), zeroPoints: bytes(4) };
      return o.linear(x, o.fromMatMulNBits(x.backend, { n: 2, k: 48, bits: 4, blockSize: 16, ...blocks }));
    },
    [2, 48],
  ),
  caseOf('swiglu', (x, gate, up) => o.swiglu(x, gate, up), [3, 4], [2, 4], [2, 4]),
  caseOf('swiglu, gate and up in one weight', (x, gate) => o.swiglu(x, gate, null), [3, 4], [4, 4]),

  caseOf('conv2d', (x, w, bias) => o.conv2d(x, w, { bias }), [2, 3, 4, 5], [2, 3, 2, 3], [2]),
  caseOf(
    'conv2d stride, padding',
    (x, w) => o.conv2d(x, w, { stride: [2, 3], padding: [1, 0, 2, 1] }),
    [1, 2, 5, 6],
    [2, 2, 3, 2],
  ),
  caseOf(
    'conv2d dilation',
    (x, w) => o.conv2d(x, w, { stride: 2, dilation: [3, 2], padding: 1 }),
    [1, 2, 6, 6],
    [2, 2, 2, 3],
  ),
  caseOf(
    'conv2d groups',
    (x, w, residual) => o.conv2d(x, w, { groups: 2, residual, activation: 'silu' }),
    [2, 4, 3, 3],
    [6, 2, 2, 2],
    [2, 6, 2, 2],
  ),
  caseOf('conv2d depthwise', (x, w) => o.conv2d(x, w, { groups: 3, padding: 'same' }), [1, 3, 4, 4], [3, 1, 3, 3]),
  caseOf('conv1d', (x, w, bias) => o.conv1d(x, w, { bias, stride: 2, padding: 1 }), [2, 2, 5], [3, 2, 2], [3]),
  caseOf('conv3d', (x, w) => o.conv3d(x, w, { padding: 1, stride: 2 }), [1, 2, 3, 3, 3], [2, 2, 2, 2, 2]),
  caseOf(
    'convTranspose2d',
    (x, w, bias) => o.convTranspose2d(x, w, { stride: 2, padding: [1, 0], outputPadding: 1, bias }),
    [1, 2, 2, 3],
    [2, 2, 2, 2],
    [2],
  ),
  caseOf(
    'convTranspose2d dilation',
    (x, w) => o.convTranspose2d(x, w, { dilation: 2, outputPadding: 1, groups: 2 }),
    [1, 2, 2, 2],
    [2, 1, 2, 2],
  ),
  caseOf('convTranspose1d', (x, w) => o.convTranspose1d(x, w, { stride: 2 }), [1, 2, 3], [2, 2, 2]),

  unary4('maxPool', (x) => o.maxPool(x, 2), true),
  unary4('maxPool overlapping', (x) => o.maxPool(x, 3, { stride: 1, padding: 1 }), true),
  unary4('maxPoolWithIndices', (x) => o.maxPoolWithIndices(x, 2, { stride: 1 }).values, true),
  unary4('avgPool', (x) => o.avgPool(x, 2)),
  unary4('avgPool overlapping', (x) => o.avgPool(x, [3, 2], { stride: 1, padding: 1, countIncludePad: false })),
  unary4('avgPool ceil', (x) => o.avgPool(x, 3, { stride: 2, ceilMode: true })),
  unary4('globalAveragePool', (x) => o.globalAveragePool(x)),
  { ...caseOf('maxPool3d', (x) => o.maxPool3d(x, 2, { stride: 1 }), [1, 1, 3, 3, 3]), isApart: true },
  {
    ...caseOf('maxPool3dWithIndices', (x) => o.maxPool3dWithIndices(x, 2, { stride: 1 }).values, [1, 1, 3, 3, 3]),
    isApart: true,
  },
  caseOf('avgPool3d', (x) => o.avgPool3d(x, 2, { stride: 1, padding: 1 }), [1, 1, 3, 3, 3]),
  unary4('resize nearest', (x) => o.resize(x, [3, 7])),
  unary4('resize bilinear', (x) => o.resize(x, [3, 7], { mode: 'bilinear' })),
  unary4('resize aligned', (x) => o.resize(x, [6, 3], { mode: 'bilinear', alignCorners: true })),

  caseOf('attention', (q, k, v) => o.attention(q, k, v), [1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 5, 4]),
  caseOf(
    'attention causal',
    (q, k, v) => o.attention(q, k, v, { causal: true, scale: 0.7 }),
    [2, 2, 3, 4],
    [2, 1, 4, 4],
    [2, 1, 4, 3],
  ),
  caseOf(
    'attention mask',
    (q, k, v, mask) => o.attention(q, k, v, { mask, softcap: 2 }),
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [3, 3],
  ),
  caseOf(
    'attention u8 mask',
    (q, k, v) => o.attention(q, k, v, { mask: tensor(q.backend, new Uint8Array([1, 0, 1, 0, 0, 0]), [2, 3]) }),
    [1, 1, 2, 4],
    [1, 1, 3, 4],
    [1, 1, 3, 4],
  ),
  caseOf(
    'attention window',
    (q, k, v) => o.attention(q, k, v, { causal: true, window: 2 }),
    [1, 2, 5, 4],
    [1, 2, 5, 4],
    [1, 2, 5, 4],
  ),
  caseOf(
    'attention lengths',
    (q, k, v) => o.attention(q, k, v, { causal: true, lengths: tensor(q.backend, [3, 2], [2], { dtype: 'u32' }) }),
    [2, 2, 2, 4],
    [2, 2, 4, 4],
    [2, 2, 4, 4],
  ),
  caseOf(
    'attention starts',
    (q, k, v) => o.attention(q, k, v, { causal: true, starts: tensor(q.backend, [0, 1], [2], { dtype: 'i32' }) }),
    [2, 2, 2, 4],
    [2, 2, 4, 4],
    [2, 2, 4, 4],
  ),
  caseOf(
    'attention lse',
    (q, k, v) => {
      const lse = o.empty(q.backend, [1, 2, 3]);
      const out = o.attention(q, k, v, { lse });
      return o.concat([o.flatten(out), o.flatten(lse)]);
    },
    [1, 2, 3, 4],
    [1, 2, 3, 4],
    [1, 2, 3, 4],
  ),
  caseOf(
    'attention of many queries',
    (q, k, v, mask) => {
      const lse = o.empty(q.backend, [2, 2, 11]);
      const lengths = tensor(q.backend, [12, 11], [2], { dtype: 'u32' });
      const options = { causal: true, window: 5, mask, lengths, lse };
      const out = o.attention(q, k, v, options);
      return o.concat([o.flatten(out), o.flatten(lse)]);
    },
    [2, 2, 11, 1],
    [2, 1, 12, 1],
    [2, 1, 12, 1],
    [11, 1],
  ),
  caseOf('rope', (x) => o.rope(x), [1, 2, 3, 4]),
  caseOf('rope interleaved', (x) => o.rope(x, { interleaved: true, positions: ints(x, [4, 0, 2], [3]) }), [1, 2, 3, 4]),

  {
    ...caseOf(
      'linear f16',
      (x, w, bias) => o.cast(o.linear(x, w, { bias, activation: 'gelu' }), 'f32'),
      [3, 4],
      [2, 4],
      [2],
    ),
    ...HALF,
  },
  { ...caseOf('matmul f16 batches', (a, b) => o.cast(o.matmul(a, b), 'f32'), [2, 3, 4], [1, 4, 2]), ...HALF },
  {
    ...caseOf('conv2d f16', (x, w) => o.cast(o.conv2d(x, w, { stride: 2 }), 'f32'), [1, 2, 4, 4], [2, 2, 2, 2]),
    ...HALF,
  },
  {
    ...caseOf(
      'attention f16',
      (q, k, v) => o.cast(o.attention(q, k, v), 'f32'),
      [1, 2, 2, 4],
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ),
    ...HALF,
  },
  { ...caseOf('softmax f16', (x) => o.cast(o.softmax(x), 'f32'), [2, 5]), ...HALF },
  caseOf(
    'linear of bf16 weights',
    (x) => o.linear(x, o.cast(tensor(x.backend, [1, 0.5, -2, 3, 0.25, 1, 1, -1], [2, 4]), 'bf16')),
    [2, 4],
  ),
];
