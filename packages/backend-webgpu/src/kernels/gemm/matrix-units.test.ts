import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, StorageBuffer } from '../recorder.ts';
import type { VariantPick } from '@concord/variants';
import { planGemm } from './plan.ts';

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
