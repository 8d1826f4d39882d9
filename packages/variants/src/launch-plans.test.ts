import { type CheckedGemm, type KernelCall, OPS } from '@concord/backend-core/implement';
import { expect, it } from 'vitest';
import { LaunchPlans, type Planning } from './launch-plans.ts';
import type { VariantChooser, VariantPreferences } from './variant-choice.ts';

const sized = (m: number): KernelCall => ({
  kernel: 'gemm',
  call: OPS.gemm.check({ m, n: 8, k: 8 }, false) as CheckedGemm,
});
/** Calls that are alike are one object. */
const GEMM = sized(8);

const fake = (buffer: object, byteOffset = 0): { buffer: object; byteOffset: number; byteLength: number } => ({
  ...{ buffer, byteOffset, byteLength: 256 },
});

type Plan = { readonly steps: []; readonly scratch: []; readonly picks: []; readonly number: number };

/** Plans that are numbered, the first 1. */
function plansFor(
  traits: VariantChooser['traits'] = {},
): LaunchPlans<object, Plan, VariantChooser, unknown> & { count: number } {
  let count = 0;
  const planning: Planning<object, Plan, VariantChooser, unknown> = {
    families: {},
    alignment: 256,
    fakeOperand: (byteLength) => ({ ...fake({}), byteLength }),
    plan: () => ({ steps: [], scratch: [], picks: [], number: ++count }),
  };
  return Object.defineProperty(new LaunchPlans(planning, traits), 'count', { get: () => count }) as never;
}

it('operands in one buffer share a plan only at the same distances', () => {
  const plans = plansFor();
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

it('plans anew when what is preferred changes, or a variant is excluded', () => {
  const preferences: VariantPreferences = { forced: [], tuned: {} };
  const traits = { preferences };
  const plans = plansFor(traits);
  const excluded = new Map([['a', { id: 'a', reason: 'why' }]]);
  for (const change of [{}, { forced: ['a'] }, { tuned: { shape: 'a' } }, { excluded }]) {
    traits.preferences = { ...traits.preferences, ...change };
    const before = plans.count;
    expect(plans.ofShape(GEMM).number, Object.keys(change).join()).toBe(before + 1);
    expect(plans.ofShape(GEMM).number).toBe(before + 1);
  }
});

it('what is preferred by now reaches every plan', () => {
  const traits: { preferences: VariantPreferences } = { preferences: { forced: [], tuned: {} } };
  const plans = plansFor(traits);
  const calls = [600, 1, 300].map(sized);
  for (const call of calls) plans.ofShape(call);
  traits.preferences = { forced: ['a'], tuned: {} };
  for (const call of calls) {
    const before = plans.count;
    expect(plans.ofShape(call).number).toBe(before + 1);
  }
});

it('keeps the plans of some ways in which the operands of a call lie', () => {
  const plans = plansFor();
  const at = (offset: number): number => {
    const buffer = {};
    // Ever farther from each other in one buffer.
    const operands = [fake(buffer), fake({}), fake(buffer, 256 + offset)];
    return plans.of({ ...GEMM, opName: 'gemm', operands, params: [] }).number;
  };
  const first = [0, 4, 8].map(at);
  expect([0, 4, 8].map(at)).toEqual(first);
  for (let offset = 12; offset < 12 + 4 * 128; offset += 4) at(offset);
  expect(at(0)).toBe(plans.count);
  expect(plans.count).toBeGreaterThan(3 + 128);
});
