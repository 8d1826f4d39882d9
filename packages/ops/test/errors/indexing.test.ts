import { CpuBackend } from '@concord/backend-cpu';
import type { DType } from '@concord/backend-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectError, expectInvalid } from '../../../backend-core/test/expect-error.ts';
import { dequantize, takeAlongAxis, type Tensor, tidy, topK, zeros } from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());
const of = (shape: number[], dtype: DType = 'f32'): Tensor => zeros(backend, shape, { dtype });

test.each<[string, () => unknown, string]>([
  ['topK: integers', () => topK(of([2, 3], 'i32'), 1), 'topK: takes f32, got i32[2, 3]'],
  ['topK: axis', () => topK(of([2, 3]), 1, { axis: 2 }), 'topK: [2, 3] has no axis 2'],
  ['topK: k', () => topK(of([2, 3]), 4), 'topK: k must be an integer from 0 to 3, axis 1 of f32[2, 3], got 4'],
  [
    'takeAlongAxis: floats',
    () => takeAlongAxis(of([2, 3]), of([2, 3])),
    'takeAlongAxis: takes integers as indices, got f32[2, 3]',
  ],
  [
    'takeAlongAxis: axes',
    () => takeAlongAxis(of([2, 3]), of([3], 'i32'), 1),
    'takeAlongAxis: indices [3] do not fit [2, 3]: but for axis 1 sizes must be equal or 1',
  ],
  [
    'takeAlongAxis: sizes',
    () => takeAlongAxis(of([2, 3]), of([3, 5], 'i32'), 1),
    'takeAlongAxis: indices [3, 5] do not fit [2, 3]: but for axis 1 sizes must be equal or 1',
  ],
  ['dequantize: floats', () => dequantize(of([2]), 1), 'dequantize: takes i8 and u8, got Tensor f32[2] on cpu'],
  ['dequantize: bits', () => dequantize(of([2], 'u8'), 1, { bits: 2 as 4 }), 'dequantize: bits must be 8 or 4, got 2'],
  [
    'dequantize: scale',
    () => dequantize(of([2, 3], 'u8'), of([2])),
    'dequantize: scale [2] does not fit axis 1 of [2, 3]',
  ],
  [
    'dequantize: integers as scale',
    () => dequantize(of([2, 3], 'u8'), of([3], 'i32')),
    'dequantize: takes floats as scale, got Tensor i32[3] on cpu',
  ],
  [
    'dequantize: zero point',
    () => dequantize(of([2, 3], 'u8'), of([3]), { zeroPoint: of([2], 'u8') }),
    'dequantize: zeroPoint [2] is not of the shape of scale, [3]',
  ],
  [
    'dequantize: floats as zero point',
    () => dequantize(of([2, 3], 'u8'), 1, { zeroPoint: of([]) }),
    'dequantize: takes integers as zeroPoint, got Tensor f32[] on cpu',
  ],
  [
    'dequantize: blocks',
    () => dequantize(of([2, 6], 'u8'), of([2, 2]), { blockSize: 4 }),
    'dequantize: axis 1 of [2, 6] is not whole blocks of 4',
  ],
  [
    'dequantize: scale of blocks',
    () => dequantize(of([2, 6], 'u8'), of([2, 3]), { blockSize: 3 }),
    'dequantize: scale [2, 3] is not [2, 2], one for 3 of [2, 6]',
  ],
  [
    'dequantize: odd blocks of nibbles',
    () => dequantize(of([2, 6], 'u8'), of([2, 4]), { blockSize: 3, bits: 4 }),
    'dequantize: blocks of 3 along axis 1 of [2, 12] part the bytes of 4-bit numbers',
  ],
  [
    'dequantize: a number of 4 bits',
    () => dequantize(of([], 'u8'), 1, { bits: 4 }),
    'dequantize: a number of 4 bits needs an axis to be packed along, got []',
  ],
])('%s', (_, action, message) => {
  tidy(() => {
    expectInvalid(action, message);
  });
});

test('topK beyond what the backend has is UNSUPPORTED, with the shapes', () => {
  const { maxTopK } = backend.capabilities.limits;
  tidy(() => {
    const { message } = expectError(() => topK(of([1, maxTopK + 1]), maxTopK + 1), 'UNSUPPORTED');
    expect(message).toContain(`topK(f32[1, ${maxTopK + 1}])`);
  });
});
