import { CpuBackend } from '@concord/backend-cpu';
import type { DType } from '@concord/backend-core';
import { afterAll, beforeAll, test } from 'vitest';
import { expectInvalid } from '../../../backend-core/test/expect-error.ts';
import { cast, clamp, empty, tensor, type Tensor, tidy, where, zeros } from '../../src/index.ts';

const backend = new CpuBackend();
const other = new CpuBackend();
beforeAll(() => Promise.all([backend.init(), other.init()]));
afterAll(() => Promise.all([backend.dispose(), other.dispose()]));
const of = (shape: number[], dtype: DType = 'f32'): Tensor => zeros(backend, shape, { dtype });

test.each<[string, () => unknown, string]>([
  ['where: three numbers', () => where(1, 2, 3), 'where: takes tensors and numbers, at least one tensor, got 1, 2, 3'],
  [
    'where: shapes',
    () => where(of([2, 1]), of([3]), of([4])),
    'where: cannot broadcast [2, 1] with [3] with [4]: sizes must be equal or 1, from the last axis on',
  ],
  [
    'where: kinds',
    () => where(of([2]), of([2], 'i32'), of([2], 'u8')),
    'where: takes a and b of one kind of number, got i32[2], u8[2]',
  ],
  [
    'where: another backend',
    () => where(of([2]), tensor(other, [1, 2]), 0),
    'where: Tensor f32[2] on cpu is not on the backend of the first operand, cpu',
  ],
  [
    'where: a number out of range',
    () => where(of([2]), of([2], 'u32'), -1),
    'where(f32[2], u32[2]): kernel where: params.b must be an integer from 0 to 4294967295, got -1',
  ],
  ['clamp: no bound', () => clamp(of([2]), {}), 'clamp: takes min, max or both for Tensor f32[2] on cpu, got neither'],
  [
    'clamp: kinds',
    () => clamp(of([2]), { min: of([2], 'i32') }),
    'clamp: takes operands of one kind of number, got f32[2], i32[2]',
  ],
  [
    'cast: no element type',
    () => cast(of([2]), 'f64' as DType),
    'cast: dtype must be one of f32, f16, bf16, i32, u32, i8, u8, got f64',
  ],
  [
    'cast: out of another type',
    () => cast(of([2, 3]), 'u8', { out: empty(backend, [2, 3]) }),
    'cast: out is f32[2, 3], the result u8[2, 3]',
  ],
])('%s', (_, action, message) => {
  tidy(() => {
    expectInvalid(action, message);
  });
});
