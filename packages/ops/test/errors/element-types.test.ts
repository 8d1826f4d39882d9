import { CpuBackend } from '@concord/backend-cpu';
import { type DType, DTYPES, isBackendError } from '@concord/backend-core';
import { afterAll, expect, test } from 'vitest';
import * as ops from '../../src/index.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());
const of = (shape: number[], dtype: DType = 'f32'): ops.Tensor => ops.zeros(backend, shape, { dtype });

/** An operand whose element type is not converted, a call with it in that type, all else in f32, and the other types that it takes. */
const OPERANDS: readonly (readonly [string, (dtype: DType) => unknown, taken?: readonly DType[]])[] = [
  ['mask of attention', (dtype) => attentionOf({}, of([2, 3], dtype)), ['u8']],
  ['q of attention', (dtype) => attentionOf({ q: of([1, 1, 2, 4], dtype) })],
  ['k of attention', (dtype) => attentionOf({ k: of([1, 1, 3, 4], dtype) })],
  ['v of attention', (dtype) => attentionOf({ v: of([1, 1, 3, 4], dtype) })],
  [
    'k and v of attention',
    (dtype) => attentionOf({ k: of([1, 1, 3, 4], dtype), v: of([1, 1, 3, 4], dtype) }),
    ['f16', 'bf16'],
  ],
  ['x of linear', (dtype) => ops.linear(of([2, 4], dtype), of([3, 4])), ['f16', 'bf16']],
  ['weight of linear', (dtype) => ops.linear(of([2, 4]), of([3, 4], dtype)), ['f16', 'bf16']],
  ['bias of linear', (dtype) => ops.linear(of([2, 4]), of([3, 4]), { bias: of([3], dtype) })],
  ['residual of linear', (dtype) => ops.linear(of([2, 4]), of([3, 4]), { residual: of([2, 3], dtype) })],
  ['b of matmul', (dtype) => ops.matmul(of([2, 4]), of([4, 3], dtype)), ['f16', 'bf16']],
  ['filter of conv2d', (dtype) => ops.conv2d(of([1, 1, 4, 4]), of([2, 1, 3, 3], dtype)), ['f16', 'bf16']],
  ['bias of conv2d', (dtype) => ops.conv2d(of([1, 1, 4, 4]), of([2, 1, 3, 3]), { bias: of([2], dtype) })],
];

function attentionOf({ q, k, v }: { q?: ops.Tensor; k?: ops.Tensor; v?: ops.Tensor }, mask?: ops.Tensor): ops.Tensor {
  return ops.attention(q ?? of([1, 1, 2, 4]), k ?? of([1, 1, 3, 4]), v ?? of([1, 1, 3, 4]), { mask });
}

const CASES = OPERANDS.map(([name, call, taken = []]) => [name, call, taken] as const);

test.each(CASES)('%s in any other type than f32 is refused, not read as f32', (_, call, taken) => {
  ops.tidy(() => {
    call('f32');
    for (const dtype of DTYPES) {
      const isTaken = dtype === 'f32' || taken.includes(dtype);
      expect(
        refusalOf(() => call(dtype)),
        dtype,
      ).toBe(isTaken ? undefined : 'INVALID_ARGUMENT');
    }
  });
});

/** An operand of a norm may be in any float type. */
const PARTS: readonly (readonly [string, (dtype: DType) => unknown])[] = [
  ['layerNorm', (dtype) => ops.layerNorm(of([2, 4]), { weight: of([4], dtype), bias: of([4], dtype) })],
  ['rmsNorm', (dtype) => ops.rmsNorm(of([2, 4]), { weight: of([4], dtype) })],
  ['groupNorm', (dtype) => ops.groupNorm(of([1, 4, 2]), 2, { weight: of([4], dtype), bias: of([4], dtype) })],
  ['batchNorm', (dtype) => ops.batchNorm(of([1, 4, 2]), { mean: of([4], dtype), variance: of([4], dtype) })],
];

test.each(PARTS)('%s takes its factors in every float type, and no integers', (_, call) => {
  ops.tidy(() => {
    for (const dtype of DTYPES) {
      const isFloat = ['f32', 'f16', 'bf16'].includes(dtype);
      expect(
        refusalOf(() => call(dtype)),
        dtype,
      ).toBe(isFloat ? undefined : 'INVALID_ARGUMENT');
    }
  });
});

function refusalOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return isBackendError(error) ? error.code : String(error);
  }
}
