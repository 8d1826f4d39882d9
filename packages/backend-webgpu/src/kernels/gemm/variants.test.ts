import { describe, it } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { checkGemm, type GemmCase } from '../../../../backend-cpu/test/op-memory.ts';
import { memoryOf, pretending } from '../../../test/support/device-values.ts';
import { emulatingUnits } from '../../../test/support/emulated-units.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import { directTable } from './direct.wgsl.ts';
import type { Variant } from './product.ts';
import { matrixUnitsTable } from './matrix-units.wgsl.ts';
import { matvecTable } from './matvec.ts';
import { planGemm } from './plan.ts';
import { TILES, wholeIteration } from './tile.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

const client = opened(() => WebGpuClient.open());

/** `2 A B - C` by one variant. */
const check = (variant: Variant, shape: GemmCase, hasF16 = client.traits.hasF16): Promise<void> =>
  checkGemm(memoryOf(client), shape, (call) =>
    client.record('gemm', (recorder) => planGemm(call, pretending(recorder, { hasF16 }), () => variant)),
  );

describe.each(TILES)('$id', ({ id, tile }) => {
  const tiled = (splits: number): Variant => ({ id, splits });
  const { m, n, step } = tile;

  it('whole tiles', async () => {
    await check(tiled(1), { m: 2 * m, n, k: 3 * wholeIteration(tile) });
    await check(tiled(1), { m, n, k: wholeIteration(tile), trans: 'TT' });
  });

  it('vectors of four, an odd number of steps', async () => {
    await check(tiled(1), { m: m + 8, n: n - 4, k: step + 4, trans: 'TN', batchCount: 2 });
    await check(tiled(1), { m: m - 4, n: n + 4, k: 2 * step + 4, trans: 'NT' });
  });

  it('any shape', async () => {
    await check(tiled(1), { m: m + 1, n: n - 1, k: 2 * step + 3, batchCount: 2 });
    await check(tiled(1), { m: m + 5, n: n + 3, k: step - 1, trans: 'TT' });
  });

  it('any shape, in binary16', async () => {
    await check(tiled(1), { m: m - 1, n: n + 1, k: 2 * step + 1, trans: 'TN', dtype: 'f16', batchCount: 3 });
    await check(tiled(1), { m: 3, n: 5, k: 2, trans: 'NT', dtype: 'f16' }, false);
  });

  it('split along k', async () => {
    await check(tiled(3), { m, n, k: 3 * 64 + wholeIteration(tile) });
    await check(tiled(3), { m: 7, n: 9, k: 150, batchCount: 2 });
  });
});

describe.each(directTable.ids)('%s', (id) => {
  const direct: Variant = { id, splits: 1 };

  it.each(['NN', 'NT', 'TN', 'TT'] as const)('%s', async (trans) => {
    await check(direct, { m: 140, n: 132, k: 20, trans });
    await check(direct, { m: 71, n: 133, k: 19, trans, batchCount: 2 });
  });
});

describe.each(matvecTable.ids)('%s', (id) => {
  const matvec: Variant = { id, splits: 2 };

  // A vector is the same transposed.
  it.each(['NN', 'TT'] as const)('%s', async (trans) => {
    await check(matvec, { m: 300, n: 1, k: 1000, trans });
    await check(matvec, { m: 1, n: 301, k: 499, trans, dtype: 'f16', batchCount: 2 });
  });
});

describe.each(matrixUnitsTable.ids)('%s, emulated', (id) => {
  const [, m = 0, n = 0] = (/-(\d+)x(\d+)/.exec(id) ?? []).map(Number);
  const check = (shape: GemmCase, splits = 1): Promise<void> =>
    checkGemm(memoryOf(client), { dtype: 'f16', ...shape }, (call) =>
      client.record('gemm', (recorder) => planGemm(call, emulatingUnits(recorder), () => ({ id, splits }))),
    );

  it.each(['NN', 'TT'] as const)('%s', async (trans) => {
    await check({ m: m + 8, n: n - 8, k: 40, trans, batchCount: 2 });
    // Large ones take software devices seconds to compile.
    if (m > 64) return;
    await check({ m: 2 * m, n, k: 96, trans });
    await check({ m: 8, n: 2 * n + 8, k: 72, trans, pad: 8, offset: 8, gap: 16 });
  });

  it('whole tiles whose last step is none, and more rows of tiles than are worked on together', async () => {
    await check({ m, n, k: 40, trans: 'NT' });
    if (m === 64) await check({ m: 17 * m, n: 2 * n, k: 32 });
  });

  it('split along k', async () => {
    await check({ m: 24, n: 40, k: 200, batchCount: 2 }, 2);
  });
});
