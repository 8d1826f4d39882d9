import { type CheckedAttention, OPS } from '@concord/backend-core/implement';
import { type AttentionShape, isBackendError, type AttentionViews } from '@concord/backend-core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, Span } from '../recorder.ts';
import { FLASH_TILES } from './flash.wgsl.ts';
import { directKeys } from './direct.wgsl.ts';
import { flashBytes } from './flash-parts.ts';
import { decodeTable } from './decode.ts';
import { planAttention } from './plan.ts';
import { tiledWorkgroupBytes } from './tiled.wgsl.ts';

type Shape = Omit<AttentionShape & AttentionViews, 'scale'>;

const SHAPE: Shape = { batch: 2, heads: 16, seqQ: 2048, seqKv: 2048, headDim: 64, causal: false };

interface Planned extends PlanRecorder {
  readonly o: Span;
}

function planned(traits: DeviceTraits, change: Partial<Shape> = {}): Planned {
  const shape = { ...SHAPE, ...change };
  const recorder = new PlanRecorder({ ...traits, maxBufferBytes: 2 ** 40 });
  const checked = OPS.attention.check({ ...shape, scale: 0.125 }, false) as CheckedAttention;
  const operands = Object.fromEntries(
    checked.operands.map(({ name, dtype, elements }) => [name, fakeSpan((dtype === 'f16' ? 2 : 4) * elements)]),
  ) as Record<'q' | 'k' | 'v' | 'o', Span>;
  planAttention({ ...checked, ...operands, opName: 'attention' }, recorder);
  return Object.assign(recorder, { o: operands.o });
}

const kernels = (recorder: PlanRecorder): readonly string[] =>
  recorder.kernelNames.map((name) => name.replace('attention/', ''));

it.each([{ batch: 2 ** 31 }, { heads: 2 ** 31 }, { seqQ: 2 ** 31 }, { batch: 2 ** 16, heads: 2 ** 16 }])(
  'more pieces than a plan may have are refused before they are listed: %j',
  (change) => {
    const small = { ...SHAPE, seqQ: 3, seqKv: 4, headDim: 8, ...change };
    const traits = { ...TEST_DEVICES.gpu, maxBindingBytes: 4096 };
    expect(() => planned(traits, small)).toThrow('takes more than 65536 launches and copies on this device');
  },
);

describe('on a GPU', () => {
  it.each([
    ['many queries', {}, 'flash 64x64x64 full'],
    ['fewer', { batch: 1, heads: 4, seqQ: 1024 }, 'flash 32x64x64 full'],
    ['heads of 128', { headDim: 128, causal: true }, 'flash 64x128x128 full'],
    ['heads of 80', { headDim: 80 }, 'flash 64x128x128 wide'],
    ['heads of no multiple of four', { headDim: 63 }, 'flash 64x64x64 any'],
    ['wide heads', { headDim: 160 }, 'tiled 64x64x256'],
  ] as const)('%s: one launch and no scratch', (_, change, name) => {
    const recorder = planned(TEST_DEVICES.gpu, change);
    expect(kernels(recorder)).toEqual([name]);
    expect(recorder.scratches).toEqual([]);
  });

  it('with little workgroup memory, the same, and smaller blocks of wide heads', () => {
    for (const tile of FLASH_TILES) expect(flashBytes(tile)).toBeLessThanOrEqual(16_384);
    expect(kernels(planned(TEST_DEVICES.defaults))).toEqual(['flash 64x64x64 full']);
    expect(kernels(planned(TEST_DEVICES.defaults, { headDim: 160 }))).toEqual(['tiled 32x64x256']);
    for (const headDim of [64, 128, 256]) {
      for (const queries of [16, 32]) {
        expect(tiledWorkgroupBytes({ queries, headDim })).toBeLessThanOrEqual(16_384);
      }
    }
  });

  it('few queries and many keys: the keys are split', () => {
    const recorder = planned(TEST_DEVICES.gpu, { batch: 1, heads: 8, seqQ: 8, seqKv: 8192 });
    expect(kernels(recorder)).toEqual(['tiled 16x64x64 partial', 'combine']);
    const [tiles, merge] = recorder.launches;
    expect(tiles?.uniforms).toMatchObject({ splits: 16, split_keys: 512, o_row: 66 });
    expect(tiles?.groups).toBe(128);
    expect(merge?.uniforms).toMatchObject({ slots: 16, rows: 64, o_row: 64 });
  });

  it('few queries and few keys: they are not', () => {
    expect(kernels(planned(TEST_DEVICES.gpu, { batch: 1, heads: 1, seqQ: 8, seqKv: 300 }))).toEqual(['tiled 16x64x64']);
  });

  it.each([
    [512, 8, 64],
    [1024, 8, 128],
    [4096, 11, 384],
    [64, 1, 64],
  ])('one query of 12 heads and %i keys: all of the device reads', (seqKv, splits, splitKeys) => {
    const recorder = planned(TEST_DEVICES.gpu, { batch: 1, heads: 12, seqQ: 1, seqKv });
    const [attend] = recorder.launches;
    expect(attend?.uniforms).toMatchObject({ splits, split_keys: splitKeys });
    expect(attend?.groups).toBe(12 * splits);
    const [name, ...rest] = kernels(recorder);
    expect(name).toMatch(/^decode-row 64 full any f32/);
    expect(rest).toEqual(splits > 1 ? [`combine any f32${splits > 8 ? '' : ' of few'}`] : []);
  });

  it.each([
    ['grouped heads are read once', { heads: 32, kvHeads: 8 }, 'decode 64 full any f32 partial', 8 * 16],
    ['heads of a few queries too', { heads: 8, kvHeads: 4, seqQ: 4 }, 'decode 64 full any f32 partial', 4 * 2 * 16],
    ['in blocks of 4 rows', { heads: 16, kvHeads: 1 }, 'decode 64 full any f32 partial', 4 * 32],
    ['f16', { heads: 32, kvHeads: 8, dtype: 'f16' }, 'decode 64 full any f16 partial', 8 * 16],
  ] as const)('%s', (_, change, name, groups) => {
    const recorder = planned(TEST_DEVICES.gpu, { batch: 1, seqQ: 1, seqKv: 8192, causal: false, ...change });
    expect(kernels(recorder)[0]).toBe(name);
    expect(recorder.launches[0]?.groups).toBe(groups);
  });

  it('is for no kernel of few queries where a dispatch has no room for all heads', () => {
    const sizes = { heads: 70_000, queries: 1, keys: 64, headDim: 64, valueDim: 64, causal: false, group: 1 };
    const idsOf = (heads: number) =>
      decodeTable.candidates({ ...sizes, heads, form: 'f32' }, TEST_DEVICES.gpu)?.variants.map(({ id }) => id);
    expect(idsOf(65_535)).toEqual(['attention/decode-1', 'attention/decode-4']);
    expect(idsOf(65_536)).toBeUndefined();
  });
});

describe('fields of a call', () => {
  const few = { batch: 1, heads: 2, seqQ: 100, seqKv: 100 };
  const wide = 'flash 32x64x64 full';

  it.each([
    ['a call that says what is the default', { kvHeads: 2, causal: true, causalOffset: 0 }, wide],
    ['a softcap', { softcap: 3 }, `${wide} any f32`],
    ['a window', { window: 5 }, `${wide} any f32`],
    ['a mask', { mask: { strides: [0, 0, 100, 1] as const } }, `${wide} any f32`],
    ['rows apart', { strides: { v: [0, 6800, 68] as const } }, `${wide} any f32`],
    ['rows at no multiple of four', { strides: { v: [0, 6600, 66] as const } }, 'flash 32x64x64 any any f32'],
    ['f16 by fours', { dtype: 'f16' as const, headDim: 60 }, 'flash 32x64x64 wide any f16'],
  ])('%s', (_, change, name) => {
    expect(kernels(planned(TEST_DEVICES.gpu, { ...few, ...change }))).toEqual([name]);
  });

  it.each([
    ['all columns', {}, 'matrix 64x16x64 full'],
    [
      'fewer columns, softcap, window and shared keys',
      { headDim: 40, heads: 4, kvHeads: 2, softcap: 3, window: 9 },
      'matrix 64x16x64 wide finishes',
    ],
    ['one head, keys split', { heads: 1, seqQ: 64, seqKv: 1024, causal: false }, 'matrix 64x16x64 full partial'],
    [
      'a row of queries that begins between vectors',
      { strides: { q: [0, 6800, 68] as const } },
      'flash 32x64x64 full any f16',
    ],
    ['larger heads', { headDim: 128 }, 'matrix 128x16x128 full'],
    ['the largest', { headDim: 136 }, 'tiled 32x64x256 any f16 partial'],
    ['few queries', { seqQ: 32 }, 'flash 32x64x64 full any f16'],
  ])('f16 on matrix units: %s', (_, change, name) => {
    const call = { ...few, dtype: 'f16' as const, ...change };
    expect(kernels(planned(TEST_DEVICES.gpu, call))[0]).toBe(name);
    expect(kernels(planned({ ...TEST_DEVICES.gpu, matrixUnits: [] }, call))[0]).not.toMatch(/^matrix/);
  });

  it('f16 on matrix units: a workgroup for each 64 queries of a head', () => {
    const call = { batch: 3, heads: 4, seqQ: 300, seqKv: 300, dtype: 'f16' as const };
    const [attend] = planned(TEST_DEVICES.gpu, { ...call, heads: 40 }).launches;
    expect(attend?.groups).toBe(3 * 40 * 5);
  });

  it('f16 rows that share words go through records', () => {
    expect(kernels(planned(TEST_DEVICES.gpu, { ...few, headDim: 63, dtype: 'f16' }))).toEqual([
      'flash 32x64x64 any any f16 partial',
      'combine any f16 of few',
    ]);
  });

  it('only keys that some query sees are bound', () => {
    const change = { ...few, seqQ: 1, seqKv: 5000, causal: true, causalOffset: 3999, window: 100 };
    const [attend] = planned(TEST_DEVICES.gpu, change).launches;
    expect(attend?.uniforms).toMatchObject({ keys: 100, see_begin: 0, see_end: 100 });
    expect(attend?.storage['k']?.byteLength).toBe(4 * (5000 + 100) * 64);
  });

  it('queries that see nothing are told', () => {
    const [attend] = planned(TEST_DEVICES.gpu, { ...few, causal: true, causalOffset: -10 }).launches;
    expect(attend?.uniforms).toMatchObject({ seeing_begin: 10, seeing_end: 100, see_end: -9 });
  });
});

describe('on a software device', () => {
  it('a launch has as many keys as its loops have iterations for', () => {
    for (const headDim of [1, 64, 256]) {
      const iterations = (keys: number): number =>
        Math.ceil(keys / 8) * (1 + 2 * (headDim + 1)) + 3 + 8 * (headDim + 1);
      const keys = directKeys(headDim, 65_535);
      expect(iterations(keys)).toBeLessThanOrEqual(65_535);
      expect(iterations(keys + 1)).toBeGreaterThan(65_535);
    }
  });

  it('long sequences go in parts, in a few times the memory of the output', () => {
    const recorder = planned(TEST_DEVICES.lavapipe, { batch: 1, heads: 1, seqQ: 8192, seqKv: 8192 });
    const part = 'direct 8x8 partial';
    expect(kernels(recorder)).toEqual([part, part, 'combine partial', part, 'combine']);
    expect(recorder.launches.map(({ uniforms }) => uniforms['keys'] ?? 0)).toEqual([3968, 3968, 0, 256, 0]);
    const bytes = recorder.scratches.reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes).toBe(4 * 8192 * 66 * 4);
  });

  it('hidden keys are not even bound', () => {
    const recorder = planned(TEST_DEVICES.lavapipe, { batch: 1, heads: 1, seqQ: 100, seqKv: 8192, causal: true });
    expect(kernels(recorder)).toEqual(['direct 8x8 causal']);
    expect(recorder.launches[0]?.storage['k']?.byteLength).toBe(100 * 64 * 4);
  });
});

it('in windows, every row of the output is finished once', () => {
  const extent = fc.integer({ min: 1, max: 30 });
  const shapes = fc.record({
    batch: fc.integer({ min: 1, max: 3 }),
    heads: fc.integer({ min: 1, max: 3 }),
    seqQ: extent,
    seqKv: extent,
    headDim: extent,
    causal: fc.boolean(),
  });
  fc.assert(
    fc.property(shapes, fc.boolean(), (shape, isSoftware) => {
      const { launches, o } = planned({ ...TEST_DEVICES.tiny, isSoftware }, shape);
      let at = 0;
      for (const { storage, uniforms } of launches) {
        const output = storage['o'] as Span;
        if (output.buffer !== o.buffer) continue;
        expect(output.byteOffset + 4 * (uniforms['o_at'] as number)).toBe(at);
        const rows = uniforms['rows'] ?? (uniforms['heads'] as number) * (uniforms['queries'] as number);
        at += 4 * rows * shape.headDim;
      }
      expect(at).toBe(o.byteLength);
    }),
  );
});

it('refuses heads of which two records do not fit a binding', () => {
  try {
    planned(TEST_DEVICES.tiny, { headDim: 128 });
    expect.fail('planned');
  } catch (error) {
    expect(isBackendError(error, 'UNSUPPORTED') && error.detail).toBe(
      'attention with head_dim 128 needs a binding of 1040 bytes, this device binds at most 764',
    );
  }
});
