import type { ResolvedGemm } from '@concord/backend-core/implement';
import { batchedGemmReference } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { download, integers, pretending, upload } from '../../../test/support/device-values.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import type { StorageBuffer } from '../recorder.ts';
import { directTable } from './direct.wgsl.ts';
import type { Variant } from './family.ts';
import { matvecTable } from './matvec.ts';
import { planGemm } from './plan.ts';
import { TILES, wholeIteration } from './tile.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

interface Shape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batchCount?: number;
  readonly trans?: 'NN' | 'NT' | 'TN' | 'TT';
  readonly dtype?: 'f32' | 'f16';
}

let client: WebGpuClient;
beforeAll(async () => {
  client = await WebGpuClient.open();
});
afterAll(() => client.dispose());

/** `2 A B - C` by one variant, compared with the oracle. */
async function check(variant: Variant, shape: Shape, hasF16 = client.traits.hasF16): Promise<void> {
  const { m, n, k, batchCount = 1, trans = 'NN', dtype = 'f32' } = shape;
  const [transA, transB] = [trans.startsWith('T'), trans.endsWith('T')];
  const a = integers(batchCount * m * k, 1);
  const b = integers(batchCount * k * n, 4);
  const c = integers(batchCount * m * n, 2);
  const operands = {
    a: upload(client, a, { dtype }),
    b: upload(client, b, { dtype }),
    c: upload(client, c, { dtype }),
  };
  const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
  const sizes = { m, n, k, lda: transA ? m : k, ldb: transB ? k : n, ldc: n, batchCount, ...strides };
  const scalars = { alpha: 2, beta: -1 };
  const rest = { opName: 'batchedGemm', dtype, operands: [], epilogue: undefined } as const;
  const call: ResolvedGemm<StorageBuffer> = { ...rest, ...sizes, ...scalars, transA, transB, ...operands };
  client.record('gemm', (recorder) => {
    planGemm(call, pretending(recorder, { hasF16 }), () => variant);
  });
  const got = await download(client, operands.c, dtype);
  for (const { buffer } of Object.values(operands)) client.deallocate(buffer.id);

  const letters = { transA: transA ? 'T' : 'N', transB: transB ? 'T' : 'N' } as const;
  const { value } = batchedGemmReference({ ...sizes, ...scalars, ...letters }, a, b, c);
  const wrong = got.flatMap((x, i) => (x === value[i] ? [] : [{ index: i, got: x, want: value[i] }]));
  expect(wrong.slice(0, 3)).toEqual([]);
}

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
