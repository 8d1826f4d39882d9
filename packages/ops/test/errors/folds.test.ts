import { CpuBackend } from '@concord/backend-cpu';
import type { DType } from '@concord/backend-core';
import { afterAll, beforeAll, test } from 'vitest';
import { expectInvalid } from '../../../backend-core/test/expect-error.ts';
import {
  batchNorm,
  type BatchNormOptions,
  crossEntropy,
  empty,
  groupNorm,
  instanceNorm,
  layerNorm,
  logSumExp,
  norm,
  softmax,
  std,
  sum,
  type Tensor,
  tidy,
  variance,
  zeros,
} from '../../src/index.ts';

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
  [
    'variance: correction',
    () => variance(of([2, 3]), { correction: NaN }),
    'variance: correction of [2, 3] must be finite, got NaN',
  ],
  ['std: integers', () => std(of([2, 3], 'i8')), 'std: takes f32, got i8[2, 3]'],
  ['norm: ord', () => norm(of([2, 3]), { ord: 3 }), 'norm: ord of [2, 3] must be 1, 2 or Infinity, got 3'],
  ['batchNorm: axes', () => batchNorm(of([3]), { mean: of([3]), variance: of([3]) }), 'batchNorm: [3] has no axis 1'],
  [
    'batchNorm: activation',
    () => batchNorm(of([2, 3]), { mean: of([3]), variance: of([3]), activation: 'swish' as 'silu' }),
    'batchNorm: activation must be one of relu, gelu, geluTanh, silu, sigmoid, tanh, got swish',
  ],
  [
    'layerNorm: a weight in another order',
    () => layerNorm(of([2, 3, 4]), { axis: [2, 1], weight: of([3, 4]) }),
    'layerNorm: [3, 4] does not broadcast to [4, 3] of [2, 3, 4]',
  ],
  ['layerNorm: axes', () => layerNorm(of([2, 3]), { axis: [1, -1] }), 'layerNorm: axes [1, 1] name one twice'],
  [
    'batchNorm: no mean',
    () => batchNorm(of([2, 3]), {} as BatchNormOptions),
    'batchNorm: takes the mean and the variance of the channels of [2, 3]',
  ],
  [
    'batchNorm: channels',
    () => batchNorm(of([2, 3, 4]), { mean: of([3]), variance: of([4]) }),
    'batchNorm: variance is f32[4], the channels of f32[2, 3, 4] take floats [3]',
  ],
  [
    'groupNorm: groups',
    () => groupNorm(of([2, 3, 4]), 2),
    'groupNorm: 2 groups do not part the 3 channels of [2, 3, 4]',
  ],
  ['groupNorm: no group', () => groupNorm(of([2, 3]), 0), 'groupNorm: 0 groups do not part the 3 channels of [2, 3]'],
  [
    'instanceNorm: axes',
    () => instanceNorm(of([1, 1, 1, 1, 1, 1, 1, 1])),
    'instanceNorm: takes at most 7 axes, got [1, 1, 1, 1, 1, 1, 1, 1]',
  ],
  [
    'instanceNorm: kinds',
    () => instanceNorm(of([2, 3, 4]), { weight: of([3], 'i32') }),
    'instanceNorm: weight is i32[3], the channels of f32[2, 3, 4] take floats [3]',
  ],
])('%s', (_, action, message) => {
  tidy(() => {
    expectInvalid(action, message);
  });
});
