import type { ResolvedAttention } from '@concord/backend-core/implement';
import { attentionReference } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { download, upload } from '../../../test/support/device-values.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import type { StorageBuffer } from '../recorder.ts';
import { type AttentionVariant, DIRECT_QUERIES, FLASH_TILES, TILED_COLUMNS, TILED_QUERIES } from './choose-variant.ts';
import { planAttention } from './plan.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

interface Shape {
  readonly heads: number;
  readonly seqQ: number;
  readonly seqKv: number;
  readonly headDim: number;
  readonly causal?: boolean;
  /** Elements in front of Q. */
  readonly lead?: number;
}

let client: WebGpuClient;
beforeAll(async () => {
  client = await WebGpuClient.open();
});
afterAll(() => client.dispose());

function numbers(length: number, seed: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => (Math.imul(i + seed, 0x9e3779b1) >>> 8) / 2 ** 23 - 1);
}

async function check(variant: AttentionVariant, shape: Shape): Promise<void> {
  const { heads, seqQ, seqKv, headDim, causal = false, lead = 0 } = shape;
  const [q, k, v] = [
    numbers(heads * seqQ * headDim, 1),
    numbers(heads * seqKv * headDim, 5),
    numbers(heads * seqKv * headDim, 9),
  ];
  // Hidden keys and values must not matter.
  if (causal && seqKv > seqQ) {
    for (let head = 0; head < heads; head++) {
      k.fill(Number.NaN, (head * seqKv + seqQ) * headDim, (head + 1) * seqKv * headDim);
      v.fill(Infinity, (head * seqKv + seqQ) * headDim, (head + 1) * seqKv * headDim);
    }
  }
  if (causal) v[(seqQ - 1) * headDim] = Infinity;
  const sizes = { batch: 1, heads, seqQ, seqKv, headDim, causal, scale: 0.3 };
  const operands = {
    q: upload(client, q, { lead }),
    k: upload(client, k),
    v: upload(client, v),
    o: upload(client, numbers(q.length, 3)),
  };
  const call: ResolvedAttention<StorageBuffer> = {
    ...sizes,
    ...operands,
    dtype: 'f32',
    operands: [],
    opName: 'attention',
  };
  client.record('attention', (recorder) => {
    planAttention(call, recorder, () => variant);
  });
  const got = await download(client, operands.o);
  for (const { buffer } of Object.values(operands)) client.deallocate(buffer.id);
  const { value } = attentionReference(sizes, q, k, v);
  const isClose = (x: number, y: number): boolean => Object.is(x, y) || Math.abs(x - y) < 1e-5;
  const wrong = [...value].flatMap((want, i) => (isClose(got[i] as number, want) ? [] : [{ i, got: got[i], want }]));
  expect(wrong.slice(0, 3)).toEqual([]);
}

describe.each(FLASH_TILES.map((tile) => ({ name: `${tile.queries}x${tile.keys}x${tile.columns}`, tile })))(
  'flash $name',
  ({ tile }) => {
    const flash = (splits: number): AttentionVariant => ({ id: 'flash', kind: 'flash', tile, splits });
    const { queries, keys, columns } = tile;

    it('as many columns as the tile has', async () => {
      await check(flash(1), { heads: 2, seqQ: 2 * queries, seqKv: 2 * keys, headDim: columns });
      await check(flash(1), { heads: 3, seqQ: 2 * queries - 9, seqKv: keys + 50, headDim: columns, causal: true });
    });

    it('fewer columns, in vectors of four', async () => {
      await check(flash(1), { heads: 2, seqQ: queries + 6, seqKv: keys + 13, headDim: columns - 12 });
    });

    it('any shape, anywhere in memory', async () => {
      await check(flash(1), { heads: 2, seqQ: queries + 1, seqKv: 33, headDim: columns - 3, causal: true });
      await check(flash(1), { heads: 1, seqQ: 65, seqKv: 33, headDim: columns, lead: 1 });
    });

    it('split along the keys', async () => {
      await check(flash(3), { heads: 2, seqQ: 5, seqKv: 600, headDim: columns });
    });
  },
);

describe.each(TILED_QUERIES.flatMap((queries) => TILED_COLUMNS.map((headDim) => ({ queries, headDim }))))(
  'tiled $queries x $headDim',
  (tile) => {
    const tiled = (splits: number): AttentionVariant => ({ id: 'tiled', kind: 'tiled', tile, splits });

    it('any shape, and split along the keys', async () => {
      await check(tiled(1), { heads: 2, seqQ: 70, seqKv: 150, headDim: tile.headDim - 3, causal: true });
      await check(tiled(2), { heads: 1, seqQ: 5, seqKv: 200, headDim: tile.headDim });
    });
  },
);

describe.each(DIRECT_QUERIES)('direct %i', (queries) => {
  it('any shape', async () => {
    const direct: AttentionVariant = { id: 'direct', kind: 'direct', queries, splits: 1 };
    await check(direct, { heads: 2, seqQ: 70, seqKv: 90, headDim: 13 });
    await check(direct, { heads: 2, seqQ: 20, seqKv: 50, headDim: 64, causal: true });
  });
});
