import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, expect, it } from 'vitest';
import type { VariantPick } from '@concord/variants';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, StorageBuffer } from '../recorder.ts';
import { planGemm } from './plan.ts';
import { BLOCK_VECTORS, LINE, matrixUnitsSide, UNIT, VECTOR } from './matrix-units.wgsl.ts';

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

// Software devices have no matrix units: here the places that the WGSL works out are worked out by hand.

/** Evaluates an expression of u32 with `+ * / %`. */
function evaluate(text: string, names: Readonly<Record<string, number>>): number {
  const tokens = text.match(/\w+|[()+*/%]/g) ?? [];
  let next = 0;
  const value = (): number => {
    const token = tokens[next++] as string;
    if (token === '(') {
      const inner = sum();
      next++;
      return inner;
    }
    return /^\d/.test(token) ? Number.parseInt(token, 10) : (names[token] as number);
  };
  const product = (): number => {
    let result = value();
    while (/^[*/%]$/.test(tokens[next] ?? '')) {
      const operator = tokens[next++];
      const other = value();
      result = operator === '*' ? result * other : operator === '/' ? Math.floor(result / other) : result % other;
    }
    return result;
  };
  const sum = (): number => {
    let result = product();
    while (tokens[next] === '+') {
      next++;
      result += product();
    }
    return result;
  };
  return sum();
}

describe.each([
  { size: 128, piece: 64, threads: 128 },
  { size: 64, piece: 32, threads: 128 },
])('a strip of $size', ({ size, piece, threads }) => {
  it.each(['a', 'b'] as const)(
    '%s: matrices are found where vectors were stored, eight of which are in different banks',
    (name) => {
      for (const alongK of [false, true]) {
        const side = matrixUnitsSide({ name, count: 'u.m', size, piece, alongK, threads, fit: 'full' });
        const lines = [...side.declare('0u').matchAll(/let (\w+?)(\d+) = (.*);/g)];
        const stored = new Map<number, { row: number; term: number }>();
        for (let read = 0; read < (size * UNIT) / VECTOR / threads; read++) {
          for (let first = 0; first < threads; first += 8) {
            const banks = new Set<number>();
            for (let lane = first; lane < first + 8; lane++) {
              const names: Record<string, number> = { lane, begin: 0, [`${name}_first`]: 0 };
              for (const [, text, number, expression] of lines) {
                if (Number(number) === read) names[`${text}${number}`] = evaluate(expression as string, names);
              }
              const of = (what: string): number => names[`${name}_${what}${read}`] as number;
              const place = of('block') * BLOCK_VECTORS + of('place');
              expect(stored.has(place)).toBe(false);
              stored.set(place, { row: of('row'), term: of('term') });
              banks.add(place % 8);
            }
            expect(banks.size).toBe(8);
          }
        }
        for (let row = 0; row < size; row += UNIT) {
          const number = Math.floor(row / piece);
          const [, block, column] = /&strips\[(.*)\], (\d+)u, /.exec(side.load(row % piece, 'number', '0u')) ?? [];
          const start = evaluate(block as string, { number }) * BLOCK_VECTORS + Number(column);
          for (let line = 0; line < UNIT; line++) {
            for (const half of [0, VECTOR]) {
              const want = alongK ? { row: row + line, term: half } : { row: row + half, term: line };
              expect(stored.get(start + line * LINE + half / VECTOR)).toEqual(want);
            }
          }
        }
      }
    },
  );
});
