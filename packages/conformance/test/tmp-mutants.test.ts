import { appendFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { allCases, type Params, runCase } from '../src/index.ts';
import { runFoldMutants } from './mutants/run/folds.ts';
import { runGatherMutants } from './mutants/run/gathers.ts';
import { runNodeMutants } from './mutants/run/nodes.ts';
import { runStorageMutants } from './mutants/run/storage.ts';
import { runViewMutants } from './mutants/run/views.ts';
const COST = (p: Params): number =>
  Array.isArray(p['shape']) ? (p['shape'] as number[]).reduce((a, b) => a * Math.max(b, 1), 1) : 500;
const cases = allCases()
  .filter(({ op }) => op === 'run')
  .sort((a, b) => COST(a.params) - COST(b.params));
const all = [...runFoldMutants, ...runGatherMutants, ...runNodeMutants, ...runStorageMutants, ...runViewMutants];
const lines: string[] = [];
it.each(all.map((m) => [m.name, m] as const))(
  '%s',
  async (name, m) => {
    const backend = m.wrap(undefined as never);
    await backend.init();
    const t = performance.now();
    for (const c of cases) {
      if (m.within !== undefined && !m.within.test(c.id)) continue;
      const r = await runCase(c, backend, () => m.wrap(undefined as never));
      if (r.status !== 'passed') {
        appendFileSync(
          '/tmp/mut-live.txt',
          `${name}\n    ${(performance.now() - t).toFixed(0)} ms by ${r.id}\n    ${r.detail?.split('\n')[0]}`,
        );
        return;
      }
    }
    appendFileSync('/tmp/mut-live.txt', `SURVIVES ${name} ${(performance.now() - t).toFixed(0)}\n`);
    expect.fail('survives');
  },
  200_000,
);
afterAll(() => console.log(lines.join('\n'), all.length));
