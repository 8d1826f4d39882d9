import { describe, expect, it } from 'vitest';
import { allCases } from '../src/all-cases.ts';
import { runCase } from '../src/run-case.ts';
import { NaiveBackend } from './naive/naive-backend.ts';

describe('the cases of run', async () => {
  const create = (): NaiveBackend => new NaiveBackend();
  const backend = create();
  await backend.init();

  it('are passed by a backend that computes one number at a time', async () => {
    const failed: unknown[] = [];
    let [elements, loose] = [0, 0];
    const slow: [number, string][] = [];
    const byLoose: [number, string][] = [];
    const only = process.env['ONLY'];
    for (const testCase of allCases().filter(({ op }) => op === 'run')) {
      if (only !== undefined && !testCase.id.includes(only)) continue;
      const { id, status, detail, intervals, ms } = await runCase(testCase, backend, create);
      if (status !== 'passed') failed.push({ id, status, detail });
      elements += intervals?.elements ?? 0;
      loose += intervals?.loose ?? 0;
      byLoose.push([intervals?.loose ?? 0, id]);
      slow.push([ms, id]);
    }
    slow.sort((a, b) => b[0] - a[0]);
    byLoose.sort((a, b) => b[0] - a[0]);
    console.log(
      slow.slice(0, 15),
      slow.reduce((s, x) => s + x[0], 0),
      byLoose.slice(0, 15),
      loose / elements,
      elements,
      slow.length,
      failed.length,
    );
    expect(failed.slice(0, 40)).toEqual([]);
  }, 600_000);
});
