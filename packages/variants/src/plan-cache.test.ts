import { type CheckedGemm, type KernelCall, OPS } from '@concord/backend-core/implement';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { PlanCache } from './plan-cache.ts';
import type { VariantPreferences } from './variant-choice.ts';

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

const fake = (buffer: object, byteOffset = 0): { buffer: object; byteOffset: number; byteLength: number } => ({
  ...{ buffer, byteOffset, byteLength: 256 },
});

it('operands in one buffer share a plan only at the same distances', () => {
  let planned = 0;
  const plans = new PlanCache<object, { steps: []; picks: []; number: number }>({
    ...{ traits: {}, alignment: 256, fakeOperand: (byteLength) => ({ ...fake({}), byteLength }) },
    plan: () => ({ steps: [], picks: [], number: ++planned }),
  });
  const { kernel, call } = gemm();
  const buffer = {};
  const at = (...places: readonly (readonly [object, number])[]): number => {
    const [a, b, c] = places.map(([own, offset]) => fake(own, offset));
    return plans.of({ kernel, call: { ...call, a, b, c } } as never, [a, b, c] as never).number;
  };
  const first = at([buffer, 0], [buffer, 256], [buffer, 512]);
  // Elsewhere, as far apart.
  expect(at([buffer, 256], [buffer, 512], [buffer, 768])).toBe(first);
  const others = [
    at([buffer, 0], [buffer, 512], [buffer, 256]),
    at([buffer, 0], [buffer, 256], [buffer, 1024]),
    at([buffer, 0], [buffer, 260], [buffer, 512]),
    at([buffer, 4], [buffer, 260], [buffer, 516]),
    at([buffer, 0], [buffer, 256], [{}, 0]),
    at([buffer, 0], [{}, 0], [buffer, 512]),
    at([buffer, 0], [{}, 0], [{}, 0]),
  ];
  expect(new Set([first, ...others]).size).toBe(others.length + 1);
});

it('plans anew when what is preferred changes, or a variant is left out', () => {
  let planned = 0;
  const preferences: VariantPreferences = { forced: [], tuned: {} };
  const traits = { preferences };
  const plans = new PlanCache<object, { steps: []; picks: []; number: number }>({
    ...{ traits, alignment: 256, fakeOperand: (byteLength) => ({ ...fake({}), byteLength }) },
    plan: () => ({ steps: [], picks: [], number: ++planned }),
  });
  const leftOut = new Map([['a', { id: 'a', reason: 'why' }]]);
  for (const change of [{}, { forced: ['a'] }, { tuned: { shape: 'a' } }, { leftOut }]) {
    traits.preferences = { ...traits.preferences, ...change };
    const before = planned;
    expect(plans.ofShape(gemm()).number, Object.keys(change).join()).toBe(before + 1);
    expect(plans.ofShape(gemm()).number).toBe(before + 1);
  }
});

it('what is preferred by now reaches plans of both generations', () => {
  let planned = 0;
  const traits: { preferences: VariantPreferences } = { preferences: { forced: [], tuned: {} } };
  const plans = new PlanCache<object, { steps: []; picks: []; number: number }>({
    ...{ traits, alignment: 256, fakeOperand: (byteLength) => ({ ...fake({}), byteLength }) },
    plan: () => ({ steps: [], picks: [], number: ++planned }),
  });
  const sized = (m: number): KernelCall => ({
    kernel: 'gemm',
    call: OPS.gemm.check({ m, n: 8, k: 8 }, false) as CheckedGemm,
  });
  // More than a generation holds, so that the first of them are of the older one.
  for (let m = 1; m <= 600; m++) plans.ofShape(sized(m));
  traits.preferences = { forced: ['a'], tuned: {} };
  for (const m of [600, 1, 300]) {
    const before = planned;
    expect(plans.ofShape(sized(m)).number, `m = ${m}`).toBe(before + 1);
  }
});
