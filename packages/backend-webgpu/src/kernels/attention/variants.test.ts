import { describe, expect, it, vi } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { type AttentionCase, type AttentionCheck, checkAttention } from '../../../../backend-cpu/test/op-memory.ts';
import { memoryOf } from '../../../test/support/device-values.ts';
import { recorderFor } from '../../../test/support/emulated-units.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import { directTable } from './direct.wgsl.ts';
import { FLASH_TILES, flashId } from './flash.wgsl.ts';
import { matrixTable } from './matrix.ts';
import { planAttention } from './plan.ts';
import type { AttentionVariant } from './table.ts';
import { TILED_COLUMNS, TILED_QUERIES, tiledId } from './tiled.wgsl.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

interface Shape extends AttentionCase {
  /** Elements in front of Q. */
  readonly lead?: number;
}

// Software devices compile for seconds.
vi.setConfig({ testTimeout: 180_000 });

const client = opened(() => WebGpuClient.open());

/** Hidden keys and values must not matter, and the last value that is seen has to. */
const spoil: AttentionCheck['spoil'] = ({ k, v, mask }, call) => {
  const { batch, kvHeads, seqQ, seqKv, headDim, valueDim, causal, causalOffset, kStrides, vStrides } = call;
  const firstHidden = seqQ + causalOffset;
  for (let head = 0; causal && head < batch * kvHeads; head++) {
    for (let key = Math.max(0, firstHidden); key < seqKv; key++) {
      const at = ([x, y, z]: typeof kStrides): number =>
        Math.floor(head / kvHeads) * x + (head % kvHeads) * y + key * z;
      k.fill(Number.NaN, at(kStrides), at(kStrides) + headDim);
      v.fill(Infinity, at(vStrides), at(vStrides) + valueDim);
    }
  }
  if (causal && mask.length === 0) v[Math.min(seqKv, Math.max(1, firstHidden) - 1) * vStrides[2]] = Infinity;
};

const check = (
  variant: AttentionVariant,
  { lead = 0, ...shape }: Shape,
  spoiled = spoil,
  options: AttentionCheck = {},
): Promise<void> =>
  checkAttention(
    memoryOf(client),
    shape,
    (call) =>
      client.record('attention', (recorder) => planAttention(call, recorderFor(variant, recorder), () => variant)),
    { spoil: spoiled, leads: [lead, 0], ...options },
  );

/** Calls of all forms for heads of a dimension: each field, and all of them. */
function anyCalls(headDim: number, seqQ: number, seqKv: number): readonly Shape[] {
  const plain = { heads: 4, seqQ, seqKv, headDim };
  const interleaved = {
    q: [seqQ * 4 * headDim, headDim, 4 * headDim],
    k: [seqKv * 2 * headDim, headDim, 2 * headDim],
  } as const;
  const strides = { q: interleaved.q, k: interleaved.k, v: interleaved.k, o: interleaved.q };
  const all: Shape = {
    ...{ ...plain, batch: 2, kvHeads: 2, softcap: 2, causal: true, causalOffset: 20, window: 45, strides },
    mask: { strides: [0, seqQ * seqKv, seqKv, 1] },
  };
  return [
    { ...plain, kvHeads: 1 },
    { ...plain, causal: true, causalOffset: 30, window: 40 },
    { ...plain, causal: true, causalOffset: -Math.ceil(seqQ / 2) },
    { ...plain, heads: 2, mask: { strides: [0, 0, seqKv, 1] } },
    { ...plain, heads: 2, softcap: 1.5 },
    all,
    { ...all, dtypeKv: 'f16' },
    { ...plain, heads: 3, headDim: headDim - 9, dtypeKv: 'bf16', causal: true, lead: 1 },
    { ...all, dtypeKv: 'bf16', strides: {}, headDim: headDim - 4 },
    { ...all, dtype: 'f16', valueDim: headDim - 4 },
    { ...plain, heads: 3, headDim: headDim - 9, valueDim: headDim - 1, causal: true, dtype: 'f16', lead: 1 },
  ];
}

/** Calls that have all fields, and the odd ones of f16: the first tile of a kind also gets each field alone. */
const COMBINED = -3;

/** Calls of all forms, whole and split along the keys. A device compiles most of them anew, for seconds. */
async function checkAny(
  ofSplits: (splits: number) => AttentionVariant,
  calls: readonly Shape[],
  isFirst: boolean,
): Promise<void> {
  for (const call of calls.slice(isFirst ? 0 : COMBINED)) await check(ofSplits(1), call);
  const split = calls.slice(COMBINED);
  for (const call of isFirst ? split : split.slice(0, 1)) await check(ofSplits(2), call);
}

describe.each(FLASH_TILES.map((tile) => ({ name: `${tile.queries}x${tile.keys}x${tile.columns}`, tile })))(
  'flash $name',
  ({ tile }) => {
    const flash = (splits: number): AttentionVariant => ({ id: flashId(tile), splits });
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

    it('any call', async () => {
      await checkAny(flash, anyCalls(columns, queries + 9, keys + 40), tile === FLASH_TILES[0]);
    });
  },
);

describe.each(TILED_QUERIES.flatMap((queries) => TILED_COLUMNS.map((headDim) => ({ queries, headDim }))))(
  'tiled $queries x $headDim',
  (tile) => {
    const tiled = (splits: number): AttentionVariant => ({ id: tiledId(tile), splits });

    it('any shape, and split along the keys', async () => {
      await check(tiled(1), { heads: 2, seqQ: 70, seqKv: 150, headDim: tile.headDim - 3, causal: true });
      await check(tiled(2), { heads: 1, seqQ: 5, seqKv: 200, headDim: tile.headDim });
    });

    it('any call', async () => {
      const isFirst = tile.queries === TILED_QUERIES[0] && tile.headDim === TILED_COLUMNS[0];
      await checkAny(tiled, anyCalls(tile.headDim, tile.queries + 3, 100), isFirst);
    });
  },
);

describe.each(directTable.ids)('%s', (id) => {
  it('any shape', async () => {
    const direct: AttentionVariant = { id, splits: 1 };
    await check(direct, { heads: 2, seqQ: 70, seqKv: 90, headDim: 13 });
    await check(direct, { heads: 2, seqQ: 20, seqKv: 50, headDim: 64, causal: true });
  });

  it('any call', async () => {
    const direct: AttentionVariant = { id, splits: 1 };
    for (const call of anyCalls(12, 21, 60)) await check(direct, call);
  });
});

/** Each number of rows and of columns; all of both take minutes to compile. */
const DECODE_TILES = [
  { rows: 1, columns: 64 },
  { rows: 4, columns: 128 },
  { rows: 4, columns: 256 },
];

describe.each(DECODE_TILES)('decode $rows x $columns', (tile) => {
  const decode = (splits: number): AttentionVariant => ({ id: `attention/decode-${tile.rows}`, splits });

  const isFirst = tile === DECODE_TILES[0];

  it.each([1, 3])('%i queries', async (seqQ) => {
    // There is one kernel for calls of all kinds: other tiles only differ in what they compile.
    for (const splits of isFirst ? [1, 3] : [3]) {
      await check(decode(splits), { heads: 3, seqQ, seqKv: 300, headDim: tile.columns });
      await check(decode(splits), { heads: 3, seqQ, seqKv: 70, headDim: tile.columns - 3, lead: 1 });
    }
    const calls = anyCalls(tile.columns, seqQ, 290);
    if (isFirst) await checkAny(decode, calls, isFirst);
    else for (const call of calls.slice(COMBINED)) await check(decode(1), call);
  });

  it('more keys than their weights have room for, seen by all queries and by some', async () => {
    const call = { heads: 6, kvHeads: 1, seqQ: 2, seqKv: 1200, headDim: tile.columns };
    await check(decode(1), call);
    await check(decode(2), { ...call, causal: true, causalOffset: 1100, window: 700 });
  });

  it('values as wide as the kernel, and wider than Q and K', async () => {
    const shape = { heads: 2, kvHeads: 1, seqQ: 1, seqKv: 64 };
    await check(decode(1), { ...shape, headDim: tile.columns / 2 + 4, valueDim: tile.columns });
    if (tile.columns < 256) await check(decode(1), { ...shape, headDim: tile.columns, valueDim: tile.columns + 36 });
  });

  const pair = { heads: 2, kvHeads: 1, headDim: tile.columns };
  // Scores of hundreds are known to fewer digits.
  const large = { bound: 3e-3 };
  /** Q of positive numbers, so that a row of K of one number decides the score by its sign. */
  const raised =
    (spoiled: AttentionCheck['spoil']): AttentionCheck['spoil'] =>
    (values, call) => {
      values.q.set(values.q.map((x) => Math.abs(x) + 1));
      spoiled?.(values, call);
    };
  const row = (values: Float32Array, key: number): Float32Array =>
    values.subarray(key * tile.columns, (key + 1) * tile.columns);

  it('any one key whose score is far above all others', async () => {
    for (let key = 0; key < 130; key += key < 64 ? 1 : 13) {
      const lift = raised(({ k }) => void row(k, key).fill(50));
      await check(decode(1), { ...pair, seqQ: 1, seqKv: 130 }, lift, large);
    }
  });

  it.each([10, 522])('%i keys whose scores are all far below 0', async (seqKv) => {
    const lower = raised(({ k }) => k.set(k.map((x) => x - 40)));
    await check(decode(1), { ...pair, seqQ: 1, seqKv }, lower, large);
  });

  it('scores that rise late, where some rows see no more keys', async () => {
    const rise = raised(({ k }) =>
      k.set(
        k.subarray(1024 * tile.columns).map((x) => 10 * x),
        1024 * tile.columns,
      ),
    );
    await check(decode(1), { ...pair, seqQ: 2, seqKv: 1200, causal: true, causalOffset: 1198 }, rise, large);
  });

  it('a key that one row alone sees does not matter to the others', async () => {
    const late = raised(({ k }) => void row(k, 22).fill(50));
    await check(decode(1), { ...pair, seqQ: 3, seqKv: 64, causal: true, causalOffset: 20 }, late, large);
    const windowed = { ...pair, seqQ: 3, seqKv: 1000, causal: true, causalOffset: 900, window: 600 };
    await check(decode(1), windowed, ({ v }) => void row(v, 301).fill(Number.NaN));
  });

  it('scores of -Infinity alone give NaN', async () => {
    await check(decode(1), { ...pair, seqQ: 1, seqKv: 10 }, ({ q, k }) => {
      q.fill(1e25);
      k.fill(-1e25);
    });
  });

  it('fewer keys in memory than there is room for, and queries that start there', async () => {
    const lower = raised(({ k }) => k.set(k.map((x) => x - 40)));
    const lengths = { ...large, lengths: [30] };
    await check(decode(4), { ...pair, seqQ: 1, seqKv: 500 }, lower, lengths);
    const masked = { ...pair, seqQ: 1, seqKv: 70, mask: { strides: [0, 0, 70, 1] as const } };
    await check(decode(1), masked, ({ mask }) => void mask.fill(1000, 30), lengths);
    await check(decode(3), { ...pair, seqQ: 2, seqKv: 300, causal: true, window: 250 }, () => undefined, {
      starts: [290],
    });
    const each = { ...pair, batch: 3, seqQ: 2, seqKv: 1100, causal: true };
    await check(decode(2), each, () => undefined, { lengths: [1100, 2, 700], starts: [600, 0, 699] });
  });

  it('nothing but keys of weight 0 in a split', async () => {
    const call = { heads: 2, seqQ: 1, seqKv: 500, headDim: tile.columns, causal: true, causalOffset: 490 };
    await check(decode(4), { ...call, window: 30 });
  });
});

describe('on matrix units, emulated', () => {
  const f16 = { heads: 2, dtype: 'f16' as const };

  // Compiling one of heads of 128 takes half a minute.
  it.each([
    ['attention/matrix-64x16x64', 64, 64],
    ['attention/matrix-128x16x128', 128, 128],
  ])('%s: all columns', async (id, queries, headDim) => {
    expect(matrixTable.ids).toContain(id);
    const call = { ...f16, headDim };
    await check({ id, splits: 1 }, { ...call, seqQ: 2 * queries, seqKv: 80 });
    const inWindow = { causal: true, causalOffset: 30, window: 50 };
    await check({ id, splits: 1 }, { ...call, seqQ: queries + 9, seqKv: 130, ...inWindow });
  });

  const [id = ''] = matrixTable.ids;

  it('fewer columns, split along the keys', async () => {
    await check({ id, splits: 2 }, { ...f16, seqQ: 61, seqKv: 300, headDim: 40, valueDim: 56 });
    await check({ id, splits: 2 }, { ...f16, seqQ: 70, seqKv: 300, headDim: 40, causal: true, causalOffset: 230 });
  });

  it('a hidden value of -Infinity', async () => {
    const shape: Shape = { ...f16, seqQ: 64, seqKv: 100, headDim: 64, causal: true, causalOffset: 20 };
    // Only the last query sees it, and no other value is negative.
    const hide: AttentionCheck['spoil'] = ({ v }, { vStrides: [, head, key] }) => {
      for (const [i, x] of v.entries()) v[i] = Math.abs(x);
      for (const at of [0, head]) v.fill(-Infinity, at + 83 * key, at + 84 * key);
    };
    await check({ id, splits: 1 }, shape, hide);
  });

  it('a mask and softcap, whole and split', async () => {
    const call: Shape = { ...f16, seqQ: 65, seqKv: 70, headDim: 64, softcap: 2, mask: { strides: [0, 0, 70, 1] } };
    for (const splits of [1, 2]) await check({ id, splits }, call);
  });
});
