import type { ComputeBackend } from '@concord/backend-core';
import { afterAll, describe, expect, it } from 'vitest';
import { type BackendFactory, judgeInitError, runCase, variantRunsOf } from './run-conformance.ts';
import { type CaseSelection, selectCases } from './select-cases.ts';

/** Options of {@link describeConformance}. */
export interface DescribeOptions extends CaseSelection {
  /** Title of the block. Default: `conformance of <name>`. */
  readonly title?: string;
}

/**
 * Registers one vitest test per case. `unsupported` cases show as skipped, with the declared reason. Without a device
 * there is one skipped test that says why, or, where `CONCORD_REQUIRE` names the backend, a failing one; an `init` that
 * breaks is a failing test too.
 *
 * Await it at the top level of the test file: whether there is a device decides which tests there are.
 */
export async function describeConformance(create: BackendFactory, options: DescribeOptions = {}): Promise<void> {
  const cases = selectCases(options);
  const backend = await create();
  const title = options.title ?? `conformance of ${backend.name}`;
  try {
    await backend.init();
  } catch (error) {
    await backend.dispose().catch(() => undefined);
    describeNotRun(title, backend.name, error);
    return;
  }
  describe(title, () => {
    registerCases(cases, backend, create);
  });
}

function registerCases(cases: ReturnType<typeof selectCases>, backend: ComputeBackend, create: BackendFactory): void {
  let passed = 0;
  afterAll(() => backend.dispose());
  for (const testCase of cases) {
    it(testCase.id, async (context) => {
      const { status, detail } = await runCase(testCase, backend, create);
      if (status === 'unsupported') context.skip(detail);
      if (status === 'failed') expect.fail(detail);
      passed++;
    });
  }
  // A backend that supports nothing would otherwise look fine.
  it('something passed', () => {
    expect(passed).toBeGreaterThan(0);
  });
  if ((backend.variants?.().forced ?? []).length > 0) {
    it('every forced variant ran', () => {
      expect(variantRunsOf(backend)?.neverRan).toEqual([]);
    });
  }
}

function describeNotRun(title: string, name: string, error: unknown): void {
  const { reason, detail, isFailure } = judgeInitError(name, error);
  describe(title, () => {
    it(`not run: ${reason}`, (context) => {
      if (isFailure) expect.fail(detail);
      context.skip(reason);
    });
  });
}
