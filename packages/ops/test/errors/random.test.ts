import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, test } from 'vitest';
import { expectInvalid } from '../../../backend-core/test/expect-error.ts';
import { arange, dropout, full, oneHot, randomNormal, randomUniform, tidy, zeros } from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

test.each<[string, () => unknown, string]>([
  ['full: range', () => full(backend, [2], -1, { dtype: 'u8' }), 'full: -1 is no u8, which goes from 0 to 255'],
  ['full: shape', () => full(backend, [-2], 1), 'full: shape [-2] has -2, which is no size'],
  [
    'arange: step 0',
    () => arange(backend, 0, 3, 0),
    'arange: takes finite numbers and a step other than 0, got 0 to 3 by 0',
  ],
  [
    'arange: no integer',
    () => arange(backend, 0, 3, 0.5, { dtype: 'i32' }),
    'arange: takes integers for i32, got 0 to 3 by 0.5',
  ],
  [
    'arange: range',
    () => arange(backend, 3, -2, -1, { dtype: 'u32' }),
    'arange: -1 is no u32, which goes from 0 to 4294967295',
  ],
  [
    'randomUniform: seed',
    () => randomUniform(backend, [2], { seed: -1 }),
    'randomUniform: seed must be an integer from 0 to 2^32 - 1, got -1',
  ],
  [
    'randomUniform: bounds',
    () => randomUniform(backend, [2], { seed: 1, high: Infinity }),
    'randomUniform: high must be finite, got Infinity',
  ],
  [
    'randomUniform: too many',
    () => randomUniform(backend, [2 ** 16, 2 ** 16], { seed: 1 }),
    'randomUniform: [65536, 65536] has 4294967296 elements, a stream of random numbers 2^32',
  ],
  [
    'randomNormal: integers',
    () => randomNormal(backend, [2, 3], { seed: 1, dtype: 'i32' }),
    'randomNormal: takes f32, f16, bf16, got i32[2, 3]',
  ],
  [
    'randomNormal: a seed of several',
    () => randomNormal(backend, [2], { seed: zeros(backend, [2], { dtype: 'u32' }) }),
    'randomNormal: seed must be one integer, got Tensor u32[2] on cpu',
  ],
  [
    'randomUniform: a float as offset',
    () => randomUniform(backend, [2], { seed: 1, offset: zeros(backend, []) }),
    'randomUniform: offset must be one integer, got Tensor f32[] on cpu',
  ],
  [
    'dropout: an integer as p',
    () => dropout(zeros(backend, [2]), zeros(backend, [], { dtype: 'i32' }), { seed: 1 }),
    'dropout: p must be one float, got Tensor i32[] on cpu',
  ],
  ['dropout: p', () => dropout(zeros(backend, [2]), 1.5, { seed: 1 }), 'dropout: p must be from 0 to 1, got 1.5'],
  [
    'dropout: integers',
    () => dropout(zeros(backend, [2, 3], { dtype: 'i8' }), 0.5, { seed: 1 }),
    'dropout: takes f32, got i8[2, 3]',
  ],
  ['oneHot: floats', () => oneHot(zeros(backend, [2, 3]), 3), 'oneHot: takes integers, got f32[2, 3]'],
  [
    'oneHot: depth',
    () => oneHot(zeros(backend, [2], { dtype: 'u8' }), 1.5),
    'oneHot: shape [2, 1.5] has 1.5, which is no size',
  ],
])('%s', (_, action, message) => {
  tidy(() => {
    expectInvalid(action, message);
  });
});
