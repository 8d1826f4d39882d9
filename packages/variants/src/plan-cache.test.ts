import { type CheckedGemm, type KernelCall, OPS } from '@concord/backend-core/implement';
import { expect, it } from 'vitest';
import { PlanCache } from './plan-cache.ts';
import type { VariantPreferences } from './variant-choice.ts';

const sized = (m: number): KernelCall => ({
  kernel: 'gemm',
  call: OPS.gemm.check({ m, n: 8, k: 8 }, false) as CheckedGemm,
});
/** Calls that are alike are one object. */
const GEMM = sized(8);

const fake = (buffer: object, byteOffset = 0): { buffer: object; byteOffset: number; byteLength: number } => ({
  ...{ buffer, byteOffset, byteLength: 256 },
});

it('operands in one buffer share a plan only at the same distances', () => {
  let planned = 0;
  const plans = new PlanCache<object, { steps: []; picks: []; number: number }>({
    ...{ traits: {}, alignment: 256, fakeOperand: (byteLength) => ({ ...fake({}), byteLength }) },
    plan: () => ({ steps: [], picks: [], number: ++planned }),
  });
  const buffer = {};
  const at = (...places: readonly (readonly [object, number])[]): number => {
    const operands = places.map(([own, offset]) => fake(own, offset));
    return plans.of({ ...GEMM, opName: 'gemm', operands, params: [] }).number;
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
    expect(plans.ofShape(GEMM).number, Object.keys(change).join()).toBe(before + 1);
    expect(plans.ofShape(GEMM).number).toBe(before + 1);
  }
});

it('what is preferred by now reaches every plan', () => {
  let planned = 0;
  const traits: { preferences: VariantPreferences } = { preferences: { forced: [], tuned: {} } };
  const plans = new PlanCache<object, { steps: []; picks: []; number: number }>({
    ...{ traits, alignment: 256, fakeOperand: (byteLength) => ({ ...fake({}), byteLength }) },
    plan: () => ({ steps: [], picks: [], number: ++planned }),
  });
  const calls = [600, 1, 300].map(sized);
  for (const call of calls) plans.ofShape(call);
  traits.preferences = { forced: ['a'], tuned: {} };
  for (const call of calls) {
    const before = planned;
    expect(plans.ofShape(call).number).toBe(before + 1);
  }
});

it('keeps the plans of some ways in which the operands of a call lie', () => {
  let planned = 0;
  const plans = new PlanCache<object, { steps: []; picks: []; number: number }>({
    ...{ traits: {}, alignment: 256, fakeOperand: (byteLength) => ({ ...fake({}), byteLength }) },
    plan: () => ({ steps: [], picks: [], number: ++planned }),
  });
  const at = (offset: number): number => {
    const buffer = {};
    // Ever farther from each other in one buffer.
    const operands = [fake(buffer), fake({}), fake(buffer, 256 + offset)];
    return plans.of({ ...GEMM, opName: 'gemm', operands, params: [] }).number;
  };
  const first = [0, 4, 8].map(at);
  expect([0, 4, 8].map(at)).toEqual(first);
  for (let offset = 12; offset < 12 + 4 * 128; offset += 4) at(offset);
  expect(at(0)).toBe(planned);
  expect(planned).toBeGreaterThan(3 + 128);
});
