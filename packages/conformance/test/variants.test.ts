import type { VariantReport } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { expect, it } from 'vitest';
import { type ConformanceReport, neverRanText, runConformance } from '../src/index.ts';

/** A backend with two ways to reduce. */
class CountingBackend extends CpuBackend {
  readonly #forced: readonly string[];
  #runs = 0;

  constructor(forced: readonly string[]) {
    super();
    this.#forced = forced;
  }

  override reduce(call: Parameters<CpuBackend['reduce']>[0]): void {
    super.reduce(call);
    this.#runs++;
  }

  variants(): VariantReport {
    const candidates = ['reduce/rows-lane'];
    return { runs: { 'reduce/rows-lane': this.#runs }, candidates, forced: this.#forced };
  }
}

const run = (...forced: string[]): Promise<ConformanceReport> =>
  runConformance(() => new CountingBackend(forced), { filter: 'fixed/**' });

it('reports how often each variant ran', async () => {
  const report = await run();
  expect(report.ok).toBe(true);
  expect(report.variants?.runs['reduce/rows-lane']).toBeGreaterThan(0);
  expect(report.variants).toMatchObject({ forced: [], neverRan: [] });
});

it.each([['reduce/rows-lane'], ['reduce/*'], ['*'], ['*rows*'], ['r*c*-*e']])('%s ran', async (pattern) => {
  expect(await run(pattern)).toMatchObject({ ok: true, variants: { neverRan: [] } });
});

it.each([['reduce/rows'], ['gemm/*'], ['reduce/rows-lane*x'], ['*lane*lane'], ['']])(
  '%j never ran',
  async (pattern) => {
    const report = await run('reduce/*', pattern);
    expect(report).toMatchObject({ ok: false, failed: 0, variants: { neverRan: [pattern] } });
    expect(report.variants === undefined ? '' : neverRanText(report.variants)).toBe(
      `forced, but never ran: ${pattern}`,
    );
  },
);

it('says why a variant that is excluded never ran', () => {
  const excluded = [{ id: 'gemm/a', reason: 'kernel gemm/a f32 does not build', log: 'error: 1' }];
  const runs = { runs: {}, candidates: [], forced: [], excluded };
  expect(neverRanText({ ...runs, neverRan: ['gemm/*', 'gemm/b'] })).toBe(
    'forced, but never ran: gemm/* (excluded: kernel gemm/a f32 does not build), gemm/b',
  );
});

it('is absent where there are no variants', async () => {
  const report = await runConformance(() => new CpuBackend(), { filter: 'fixed/**' });
  expect(report).not.toHaveProperty('variants');
});
