import { expect, it } from 'vitest';
import { limitCases } from './cases.ts';

it('names the cases as the other side does', () => {
  const all = limitCases(false).map(({ op, name }) => `${op} ${name}`);
  expect(new Set(all).size).toBe(all.length);
  expect(all).toEqual(
    expect.arrayContaining([
      'gemm 4096',
      'gemm_f16 4096',
      'gemm 37x1999x511',
      'batched_gemm 96x128x128x64',
      'conv2d n16c3hw224k64f7s2p3',
      'attention b2h16q2048k2048d64',
      'attention b1h32q4096k4096d128c',
      'reduce_sum 67108864@0',
      'reduce_max 64x256x56x56@1',
      'binary_add 134217728',
      'unary_tanh 134217728',
    ]),
  );
});
