import { expect, test } from 'vitest';
import { productsOf } from './support/drawn.ts';

const COUNT = Number(process.env['CONCORD_GRAD_KERNELS'] ?? 200);

test(`of ${COUNT} drawn kernels <vjp(g), v> is <g, jvp(v)>`, () => {
  const others: Record<string, number> = {};
  const kinds: Record<string, number> = {};
  let compared = 0;
  for (let seed = 1; compared < COUNT; seed++) {
    const outcome = productsOf(seed);
    if (typeof outcome === 'string') {
      others[outcome] = (others[outcome] ?? 0) + 1;
      continue;
    }
    compared++;
    // Constants of kernels are float32.
    const { left, right, scale } = outcome;
    for (const kind of outcome.kinds) kinds[kind] = (kinds[kind] ?? 0) + 1;
    expect(Math.abs(left - right), `seed ${seed}: ${left} and ${right}`).toBeLessThanOrEqual(2e-6 * scale + 1e-12);
  }
  console.log(compared, 'compared, besides', JSON.stringify(others), 'with', JSON.stringify(kinds));
  if (COUNT < 200) return;
  for (const kind of ['scan sum', 'scan max', 'scan min', 'scatter add', 'scatter set', 'scatter max', 'scatter min']) {
    expect(kinds[kind] ?? 0, kind).toBeGreaterThan(0);
  }
}, 1_800_000);
