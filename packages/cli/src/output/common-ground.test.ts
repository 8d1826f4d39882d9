import type { CaseResult } from '@concord/conformance';
import { expect, test } from 'vitest';
import { commonGround } from './case-printer.ts';

const result = (id: string, status: CaseResult['status']): CaseResult => ({ id, op: 'gemm', status, ms: 1 });

test('names what all failing cases have and no passing one has', () => {
  const cases = [
    result('gemm/exact/m=2,n=3,k=4', 'passed'),
    result('gemm/exact/m=2,n=3,k=4,TN', 'passed'),
    result('gemm/exact/m=2,n=3,k=4,NT', 'failed'),
    result('gemm/bounded/m=7,n=3,k=4,TT', 'failed'),
  ];
  expect(commonGround(cases)).toBe('2 failing cases have in common: transposeB=true; none of the passing');
});

test('names a check that fails whatever its parameters', () => {
  const cases = [
    result('gemm/exact/m=2,n=3,k=4', 'passed'),
    result('gemm/exact/m=5,n=3,k=4', 'passed'),
    result('gemm/specials/m=2,n=3,k=4', 'failed'),
    result('gemm/specials/m=5,n=3,k=4', 'failed'),
  ];
  expect(commonGround(cases)).toBe('2 failing cases have in common: check specials; none of the passing');
});

test('says nothing where there is nothing to say', () => {
  const passed = result('gemm/exact/m=2,n=3,k=4', 'passed');
  const failed = result('gemm/exact/m=5,n=3,k=4', 'failed');
  expect(commonGround([passed, failed])).toBeUndefined();
  expect(commonGround([failed, failed])).toBeUndefined();
  expect(commonGround([passed, failed, result('gemm/exact/m=2,n=3,k=4', 'failed')])).toBeUndefined();
});
