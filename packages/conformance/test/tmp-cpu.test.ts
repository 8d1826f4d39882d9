import { appendFileSync } from 'node:fs';
import { CpuBackend } from '@concord/backend-cpu';
import { it } from 'vitest';
import { allCases, runCase } from '../src/index.ts';
it('cpu', async () => {
  const filter = new RegExp(process.env['ONLY'] ?? '.');
  const create = () => new CpuBackend();
  const backend = create();
  await backend.init();
  const count: Record<string, number> = {};
  const times: Record<string, number> = {};
  let [elements, loose] = [0, 0];
  for (const c of allCases()) {
    if (!filter.test(c.id)) continue;
    const r = await runCase(c, backend, create);
    count[r.status] = (count[r.status] ?? 0) + 1;
    times[c.op] = (times[c.op] ?? 0) + r.ms;
    elements += r.intervals?.elements ?? 0;
    loose += r.intervals?.loose ?? 0;
    if (r.status !== 'passed')
      appendFileSync('/tmp/cpu-live.txt', `${r.status} ${r.id}\n    ${r.detail?.split('\n').slice(0, 3).join(' ')}\n`);
  }
  console.log(count, times, loose / elements, elements);
}, 900_000);
