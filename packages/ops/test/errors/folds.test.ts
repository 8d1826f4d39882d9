import { CpuBackend } from '@concord/backend-cpu';
import type { DType } from '@concord/backend-core';
import { afterAll, beforeAll, test } from 'vitest';
import { expectInvalid } from '../../../backend-core/test/expect-error.ts';
import { crossEntropy, empty, logSumExp, softmax, sum, type Tensor, tidy, zeros } from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());
const of = (shape: number[], dtype: DType = 'f32'): Tensor => zeros(backend, shape, { dtype });

test.each<[string, () => unknown, string]>([
  ['sum: axis', () => sum(of([2, 3]), { axis: 2 }), 'sum: [2, 3] has no axis 2'],
  ['sum: axis twice', () => sum(of([2, 3]), { axis: [1, -1] }), 'sum: axes [1, 1] name one twice'],
  ['softmax: integers', () => softmax(of([2, 3], 'i32')), 'softmax: takes f32, got i32[2, 3]'],
  ['softmax: axis', () => softmax(of([2, 3]), { axis: -3 }), 'softmax: [2, 3] has no axis -3'],
  [
    'softmax: out',
    () => softmax(of([2, 3]), { out: empty(backend, [3, 2]) }),
    'softmax: out is f32[3, 2], the result f32[2, 3]',
  ],
  ['logSumExp: integers', () => logSumExp(of([2, 3], 'u8')), 'logSumExp: takes f32, got u8[2, 3]'],
  [
    'crossEntropy: shapes',
    () => crossEntropy(of([2, 3]), of([3], 'i32')),
    'crossEntropy: takes logits [n, c] with targets [n], got f32[2, 3] with i32[3]',
  ],
  [
    'crossEntropy: kinds',
    () => crossEntropy(of([2, 3]), of([2])),
    'crossEntropy: takes floats as logits and integers as targets, got f32[2, 3] with f32[2]',
  ],
  [
    'crossEntropy: reduction',
    () => crossEntropy(of([2, 3]), of([2], 'i32'), { reduction: 'average' as 'mean' }),
    'crossEntropy: reduction must be mean, sum or none, got average',
  ],
  [
    'crossEntropy: ignoreIndex of u32',
    () => crossEntropy(of([2, 3]), of([2], 'u32'), { ignoreIndex: -1 }),
    'crossEntropy(f32[2, 3], u32[2]): kernel crossEntropy: params.ignore must be an integer from 0 to 4294967295, got -1',
  ],
])('%s', (_, action, message) => {
  tidy(() => {
    expectInvalid(action, message);
  });
});
