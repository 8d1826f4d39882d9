import { CpuBackend } from '@concord/backend-cpu';
import type { DType } from '@concord/backend-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectError, expectInvalid } from '../../../backend-core/test/expect-error.ts';
import {
  cast,
  cumsum,
  dequantize,
  gatherNd,
  sort,
  takeAlongAxis,
  tensor,
  type Tensor,
  tidy,
  topK,
  zeros,
} from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());
const of = (shape: number[], dtype: DType = 'f32'): Tensor => zeros(backend, shape, { dtype });

test.each<[string, () => unknown, string]>([
  ['sort: axis', () => sort(of([2, 3]), { axis: 2 }), 'sort: [2, 3] has no axis 2'],
  ['cumsum: axis', () => cumsum(of([])), 'cumsum: [] has no axis -1'],
  [
    'gatherNd: too many indices',
    () => gatherNd(of([2]), of([1, 2], 'i32')),
    'gatherNd: i32[1, 2] are no places in [2]',
  ],
  ['gatherNd: floats', () => gatherNd(of([2]), of([1, 1])), 'gatherNd: f32[1, 1] are no places in [2]'],
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

/** A backend as others write them, before there were scans. */
class WithoutScans extends CpuBackend {
  constructor() {
    super();
    Object.assign(this.kernels, { run: { ...this.kernels.run, features: ['scatter'] } });
  }
}

test('sorts and scans on a backend that has none are UNSUPPORTED, with the shapes', async () => {
  const other = new WithoutScans();
  await other.init();
  tidy(() => {
    const x = tensor(other, [[1, 2]]);
    expect(expectError(() => cumsum(x), 'UNSUPPORTED').message).toContain('cumsum(f32[1, 2])');
    expect(expectError(() => sort(x), 'UNSUPPORTED').message).toContain('sort(f32[1, 2])');
    expect(expectError(() => topK(cast(x, 'i32'), 1), 'UNSUPPORTED').message).toContain('topK(i32[1, 2])');
  });
  await other.dispose();
});
