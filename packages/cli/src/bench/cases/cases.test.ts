import { CpuBackend } from '@concord/backend-cpu';
import { expect, test } from 'vitest';
import type { BenchCase } from '../bench-case.ts';
import { BENCH_OPS } from '../bench-ops.ts';
import { CHECKED_ENTRIES, checkEntries } from '../measure-case.ts';
import { materialize, placeWork } from '../operand.ts';
import { selectBenchCases } from './case-lists.ts';
import { attentionCase, batchedGemmCase, conv2dCase, gemmCase, reduceCase, topKCase } from './op-cases.ts';
import { softmaxCase } from './run-case.ts';

test.each(['small', 'real'] as const)('the %s cases have unique ids, every op, and the smaller first', (size) => {
  const cases = selectBenchCases(size);
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  expect(new Set(cases.map(({ op }) => op))).toEqual(new Set(BENCH_OPS));
  for (const { id, op, unit, flops, bytes } of cases) {
    expect(id.startsWith(`${op}/`)).toBe(true);
    expect(bytes).toBeGreaterThan(0);
    expect(unit === 'GB/s' || flops > 0, id).toBe(true);
  }
});

test('count what they say', () => {
  const of = ({ flops, bytes }: BenchCase): number[] => [flops, bytes];
  expect(of(gemmCase('', '', 2, 3, 5))).toEqual([60, 4 * (10 + 15 + 6)]);
  // 2x2 outputs of a 3x3 window on 5x5, stride 2.
  const layer = { channels: 3, size: 5, filters: 4, window: 3, stride: 2 };
  expect(of(conv2dCase('', '', layer))).toEqual([2 * 16 * 27, 4 * (75 + 108 + 16)]);
  const attention = { heads: 2, seqQ: 3, seqKv: 3, headDim: 4 };
  expect(of(attentionCase('', '', attention))).toEqual([4 * 2 * 9 * 4, 4 * 4 * 24]);
  expect(of(attentionCase('', '', { ...attention, causal: true }))[0]).toBe(4 * 2 * 6 * 4);
});

test.each([
  ['TF32', 13],
  ['bf16', 16],
])('products of inputs that were rounded to %s are wrong as float32', async (_, bits) => {
  const [m, n, k] = [16, 16, 1024];
  const work = gemmCase('', '', m, n, k).prepare();
  const [a, b] = work.inputs.map(materialize) as [Float32Array, Float32Array];
  const product = ([left, right]: readonly [Float32Array, Float32Array], index: number): number => {
    let sum = 0;
    for (let p = 0; p < k; p++) {
      sum += (left[Math.floor(index / n) * k + p] as number) * (right[p * n + (index % n)] as number);
    }
    return sum;
  };
  const findWrong = checkEntries(work);
  const of = (pair: readonly [Float32Array, Float32Array]) => findWrong(async (at) => at.map((i) => product(pair, i)));
  expect(await of([a, b])).toBeUndefined();
  expect(await of([rounded(a, bits), rounded(b, bits)])).toMatch(/^entry .* is .*, want/);
});

/** Float32 numbers without their last bits, rounded to nearest. */
function rounded(values: Float32Array, bits: number): Float32Array {
  const words = new Uint32Array(values.slice().buffer);
  return new Float32Array(words.map((word) => (word + 2 ** (bits - 1)) & -(2 ** bits)).buffer);
}

const odd = [
  gemmCase('odd', '', 7, 9, 11),
  gemmCase('odd', '', 7, 9, 11, { transB: 'T' }),
  gemmCase('odd', '', 7, 9, 11, { transA: 'T', transB: 'T', padding: 3 }),
  gemmCase('odd', '', 7, 9, 11, { padding: 1, dtype: 'f16' }),
  batchedGemmCase('odd', '', 3, { m: 5, n: 4, k: 6 }),
  batchedGemmCase('odd', '', 3, { m: 5, n: 4, k: 6, transB: 'T' }),
  conv2dCase('odd', '', { batch: 2, channels: 3, size: 9, filters: 4, window: 3, stride: 2, padding: 1 }),
  attentionCase('odd', '', { batch: 2, heads: 3, seqQ: 5, seqKv: 7, headDim: 6 }),
  attentionCase('odd', '', { heads: 2, seqQ: 5, seqKv: 5, headDim: 6, causal: true }),
  reduceCase('odd', '', 'sum', [3, 5, 7], 1),
  softmaxCase('odd', '', 5, 9),
  softmaxCase('odd', '', 5, 9, true),
  topKCase('odd', '', 5, 9, 3),
];

test.each([...selectBenchCases('small'), ...odd])('$id: the oracle agrees with the CPU', async (one) => {
  const work = one.prepare();
  const backend = new CpuBackend();
  await backend.init();
  try {
    const placed = placeWork(work, backend);
    const findWrong = checkEntries(work);
    expect(await findWrong((indices) => placed.entries(indices))).toMatch(/^entry 0 is NaN, want/);
    await placed.call();
    expect(await findWrong((indices) => placed.entries(indices))).toBeUndefined();
    const length = work.hostResult?.().length ?? work.outputLength;
    const first = Array.from({ length: Math.min(length, 300) }, (_, index) => index);
    for (const [index, got] of (await placed.entries(first)).entries()) {
      const { want, tolerance } = work.expected(index);
      expect(Math.abs(got - want)).toBeLessThanOrEqual(tolerance);
      // So small that an entry of its neighbour's is found out.
      expect(tolerance).toBeLessThan(0.05 + 0.01 * Math.abs(want));
    }
    placed.free();
    expect(backend.memory().liveAllocations).toBe(0);
  } finally {
    await backend.dispose();
  }
});

test('a wrong entry is found at both ends and where it repeats, NaN too', async () => {
  let asked = 0;
  const findWrong = checkEntries({
    outputLength: 4096,
    expected: (index) => (asked++, { want: index, tolerance: 0.5 }),
  });
  const find = (got: (index: number) => number): Promise<string | undefined> =>
    findWrong(async (indices) => indices.map(got));
  expect(await find((index) => index)).toBeUndefined();
  expect(await find((index) => (index === 0 ? 9 : index))).toBe('entry 0 is 9, want 0');
  expect(await find((index) => (index === 4095 ? Number.NaN : index))).toBe('entry 4,095 is NaN, want 4095');
  // A column of 64 that is never written.
  expect(await find((index) => (index % 64 === 17 ? -1 : index))).toMatch(/is -1/);
  expect(asked).toBeGreaterThanOrEqual(CHECKED_ENTRIES - 1);
  expect(asked).toBeLessThan(2 * CHECKED_ENTRIES);
});
