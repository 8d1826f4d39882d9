import type { ComputeBackend } from '@concord/backend-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_CASES } from '../cases/index.ts';
import { checkPrograms } from '../programs/run-programs.ts';
import type { Layout } from './laid-out.ts';
import { checkWeights } from './check-weights.ts';
import { checkCase } from './op-case.ts';

/**
 * Runs the cases of all functions on one backend.
 *
 * @param programs - random ones; few where each compiles kernels for seconds
 * @param layouts - of the operands of the cases
 */
export function testOn(backend: ComputeBackend, programs = 300, layouts: readonly Layout[] = ['dense']): void {
  beforeAll(() => backend.init());
  afterAll(() => backend.dispose());

  for (const [name, cases] of Object.entries(ALL_CASES)) {
    describe(name, () => {
      for (const [what, each] of Object.entries(cases))
        test.each(layouts)(`${what}, %s`, (layout) => checkCase(each, backend, layout));
    });
  }

  test('weights go to a file and come back, also as another type', () => checkWeights(backend));

  test('random programs are what plain loops make of them', () => checkPrograms(backend, programs, 1), 600_000);

  test('nothing remains allocated', () => {
    expect(backend.memory().liveAllocations).toBe(0);
  });
}
