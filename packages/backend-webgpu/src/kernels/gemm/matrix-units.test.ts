import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, expect, it } from 'vitest';
import type { VariantPick } from '@concord/variants';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, StorageBuffer } from '../recorder.ts';
import { planGemm } from './plan.ts';
import {
  blockVectors,
  matrixInvocations,
  operandStrips,
  STEP,
  stripBlocks,
  tileOnUnits,
  UNIT,
  VECTOR,
} from './matrix-tile.ts';

type Call = ResolvedGemm<StorageBuffer>;

const { gpu } = TEST_DEVICES;

/** The arguments for planning a product of packed binary16 matrices. */
function plan(m: number, n: number, k: number, given: Partial<Call> = {}, traits: DeviceTraits = gpu) {
  const { transA = false, transB = false, batchCount = 1 } = given;
  const sizes = { m, n, k, lda: transA ? m : k, ldb: transB ? k : n, ldc: n };
  const strides = { batchCount, strideA: m * k, strideB: k * n, strideC: m * n };
  const span = (elements: number) => fakeSpan(batchCount * elements * 2);
  const operands = { a: span(m * k), b: span(k * n), c: span(m * n), operands: [] };
  const plain = { opName: 'gemmF16', dtype: 'f16', alpha: 1, beta: 0, transA, transB, epilogue: undefined } as const;
  const picks: VariantPick[] = [];
  const recorder = Object.assign(new PlanRecorder(traits), { notePick: (pick: VariantPick) => picks.push(pick) });
  planGemm({ ...plain, ...sizes, ...strides, ...operands, ...given }, recorder);
  return { picked: picks.map(({ picked }) => picked), picks, launches: recorder.launches, names: recorder.kernelNames };
}

const onUnits = /^gemm\/matrix-/;

describe('matrix units', () => {
  it('multiply binary16 where the device has them', () => {
    expect(plan(1024, 1024, 1024).picked).toEqual([expect.stringMatching(onUnits)]);
    const none = { ...gpu, matrixUnits: [] };
    expect(plan(1024, 1024, 1024, {}, none).picks[0]?.candidates.join()).not.toMatch(/matrix-/);
    const others = { ...gpu, matrixUnits: [{ m: 8, n: 8, k: 8 }] };
    expect(plan(1024, 1024, 1024, {}, others).picked[0]).not.toMatch(onUnits);
    expect(plan(1024, 1024, 1024, {}, { ...gpu, subgroupSize: 64 }).picked[0]).not.toMatch(onUnits);
    expect(
      plan(1024, 1024, 1024, { dtype: 'f32', a: fakeSpan(2 ** 22), b: fakeSpan(2 ** 22), c: fakeSpan(2 ** 22) })
        .picked[0],
    ).not.toMatch(onUnits);
  });

  it('leave their shape class to themselves', () => {
    const { matrixUnits: _, ...rest } = gpu;
    const without = plan(512, 512, 512, {}, { ...rest, matrixUnits: [] });
    expect(plan(512, 512, 512).picks[0]?.shapeClass).not.toBe(without.picks[0]?.shapeClass);
  });

  it('take rows of any multiple of eight, and others not', () => {
    expect(plan(136, 264, 72).names).toEqual([expect.stringMatching(/^gemm\/matrix f16 NN .* edges$/)]);
    expect(plan(256, 256, 256).names).toEqual([expect.stringMatching(/^gemm\/matrix f16 NN .* full$/)]);
    expect(plan(37, 264, 72).picked[0]).toMatch(onUnits);
    expect(plan(37, 264, 72, { transA: true }).picked[0]).not.toMatch(onUnits);
    expect(plan(64, 260, 72).picked[0]).not.toMatch(onUnits);
    expect(plan(64, 260, 72, { transB: true }).picked[0]).toMatch(onUnits);
    expect(plan(64, 264, 68).picked[0]).not.toMatch(onUnits);
    expect(plan(64, 64, 64, { lda: 68, a: fakeSpan(64 * 68 * 2) }).picked[0]).not.toMatch(onUnits);
    expect(plan(64, 64, 64, { b: fakeSpan(64 * 64 * 2, 8) }).picked[0]).not.toMatch(onUnits);
    expect(plan(64, 64, 64, { batchCount: 2, strideA: 64 * 64 + 4, a: fakeSpan(20_000) }).picked[0]).not.toMatch(
      onUnits,
    );
  });

  it('leave vectors to the kernels for vectors', () => {
    expect(plan(1, 1024, 1024).picked[0]).toMatch(/matvec/);
    expect(plan(1024, 1, 1024).picked[0]).toMatch(/matvec/);
  });

  it('split a long sum for a small C', () => {
    const { launches, names } = plan(128, 128, 65_536);
    expect(names).toEqual([
      expect.stringMatching(/^gemm\/matrix f16-f32 NN/),
      expect.stringMatching(/^gemm\/finish f16/),
    ]);
    expect(launches[0]?.uniforms['depth']).toBeLessThan(65_536);
    expect((launches[0]?.uniforms['depth'] as number) % 64).toBe(0);
  });

  it('are not asked to begin within a vector where k is cut', () => {
    const cut = { ...gpu, maxBindingBytes: 1024 };
    const { names } = plan(8, 4, 4096, { transB: true }, cut);
    expect(names.join()).toMatch(/./);
    for (const { kernel, uniforms } of plan(16, 16, 4096, {}, cut).launches) {
      if (!kernel.name.startsWith('gemm/matrix')) continue;
      expect([uniforms['a_start'], uniforms['b_start']].map((start) => (start as number) % 8)).toEqual([0, 0]);
    }
  });

  it('fill workgroups according to the size of C', () => {
    const groups = (size: number): number => plan(size, size, size).launches[0]?.groups ?? 0;
    expect(groups(512)).toBeGreaterThanOrEqual(32);
    expect(groups(4096)).toBeGreaterThanOrEqual(256);
  });
});

describe.each([
  { m: 128, n: 128, piece: 64 },
  { m: 64, n: 64, piece: 32 },
  { m: 128, n: 64, piece: 32 },
  { m: 64, n: 128, piece: 32 },
] as const)('a tile of $m x $n', (tile) => {
  const { piece } = tile;
  const threads = matrixInvocations(tile);

  it.each([
    ['a', 'along k'],
    ['a', 'across k'],
    ['b', 'along k'],
    ['b', 'across k'],
    ['b', 'gathered'],
  ] as const)(
    '%s %s: matrices are found where vectors were stored, eight of which are in different banks',
    (name, order) => {
      const strips = operandStrips({ name, tile, order });
      const size = name === 'a' ? tile.m : tile.n;
      const stored = new Map<number, { row: number; term: number }>();
      const flat = ({ block, at }: { block: number; at: number }): number => block * blockVectors(tile) + at;
      for (let read = 0; read < strips.reads; read++) {
        for (let first = 0; first < threads; first += 8) {
          const places = [0, 1, 2, 3, 4, 5, 6, 7].map((lane) => strips.placeOf(read, first + lane));
          for (const { row, term, ...at } of places) stored.set(flat(at), { row, term });
          expect(new Set(places.map((place) => flat(place) % 8)).size).toBe(8);
        }
      }
      expect(stored.size).toBe((size * STEP) / VECTOR);
      const [first, perStrip] = [name === 'a' ? 0 : tile.m / piece, stripBlocks(tile)];
      for (const [strip, row] of [0, 1].flatMap((of) =>
        Array.from({ length: size / UNIT }, (_, i) => [of, i * UNIT]),
      )) {
        const [, column, line] = /, (\d+)u, (\d+)u\)/.exec(strips.load((row as number) % piece)) ?? [];
        const block = (strip as number) * perStrip + first + Math.floor((row as number) / piece);
        for (let at = 0; at < UNIT; at++) {
          for (const half of [0, VECTOR]) {
            const term = (strip as number) * UNIT;
            const want =
              order === 'across k'
                ? { row: (row as number) + half, term: term + at }
                : { row: (row as number) + at, term: term + half };
            const vector = flat({ block, at: Number(column) + at * Number(line) + half / VECTOR });
            expect(stored.get(vector)).toEqual(want);
          }
        }
      }
    },
  );

  it('lets two workgroups share the memory of a multiprocessor of 48 KiB', () => {
    const { memory } = tileOnUnits(
      tile,
      operandStrips({ name: 'a', tile, order: 'along k' }),
      operandStrips({ name: 'b', tile, order: 'along k' }),
    );
    const [, vectors, blocks] = /vec4u, (\d+)>, (\d+)>/.exec(memory) ?? [];
    // A convolution's table of taps has 2 KiB.
    expect(16 * Number(vectors) * Number(blocks) + 2048).toBeLessThanOrEqual(24 * 1024);
  });
});
