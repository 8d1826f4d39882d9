import { type CheckedGemm, type KernelCall, OPS } from '@concord/backend-core/implement';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { PlanCache } from './plan-cache.ts';

const relu = defineKernel('relu', { inputs: { acc: 'f32' } }, ({ acc }, k) => ({ y: k.max(acc, 0) }));
const square = defineKernel('square', { inputs: { acc: 'f32' } }, ({ acc }, k) => ({ y: k.mul(acc, acc) }));

function gemm(kernel?: Kernel): KernelCall {
  const epilogue = kernel === undefined ? {} : { epilogue: { kernel } };
  const checked = OPS.gemm.check({ m: 8, n: 8, k: 8, ...epilogue }, false);
  return { kernel: 'gemm', call: checked as CheckedGemm };
}

it('products of one shape share a plan unless their epilogues differ', () => {
  const plans = new PlanCache({
    traits: {},
    alignment: 256,
    plan: () => ({ steps: [], picks: [] }),
    fakeOperand: (byteLength) => ({ buffer: {}, byteOffset: 0, byteLength }),
  });
  const [plain, first, second] = [gemm(), gemm(relu), gemm(square)].map((call) => plans.ofShape(call));
  expect(new Set([plain, first, second]).size).toBe(3);
  expect(plans.ofShape(gemm(relu))).toBe(first);
  expect(plans.ofShape(gemm(square))).toBe(second);
  expect(plans.ofShape(gemm())).toBe(plain);
});
