import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PassageMatrix, rowsPerBlock } from './passage-matrix.ts';
import { DIMENSIONS } from './vocabulary.ts';

const { signal } = new AbortController();
let backend: ComputeBackend;

beforeEach(async () => {
  backend = new CpuBackend();
  await backend.init();
});
afterEach(() => backend.dispose());

/** Rows with the given first two elements, zeros otherwise. */
function rows(...heads: readonly (readonly [number, number])[]): Float32Array {
  const values = new Float32Array(heads.length * DIMENSIONS);
  for (const [row, [x, y]] of heads.entries()) values.set([x, y], row * DIMENSIONS);
  return values;
}

test('scores by cosine, over blocks of different sizes', async () => {
  const matrix = new PassageMatrix(backend);
  matrix.append({ values: rows([3, 4], [5, 0]), passages: [0, 1] });
  matrix.append({ values: rows([0, -2]), passages: [2] });
  matrix.computeNorms();
  const { values, best, average } = await matrix.score(rows([2, 0]), signal);
  expect([...values]).toEqual([0.6, 1, 0].map(Math.fround));
  expect(best).toBe(1);
  expect(average).toBeCloseTo(1.6 / 3, 6);
  expect(matrix.rows).toBe(3);
  expect(matrix.bytes).toBe(3 * DIMENSIONS * 4);
});

test('answers several questions, and gives all memory back', async () => {
  const matrix = new PassageMatrix(backend);
  matrix.append({ values: rows([1, 1], [1, 0]), passages: [0, 1] });
  matrix.computeNorms();
  const before = backend.memory().inUseBytes;
  expect((await matrix.score(rows([0, 1]), signal)).values[1]).toBe(0);
  expect((await matrix.score(rows([1, 0]), signal)).values[1]).toBe(1);
  expect(backend.memory().inUseBytes).toBe(before);
  matrix.free();
  matrix.free();
  expect(backend.memory().liveAllocations).toBe(0);
});

test('keeps blocks within what the device allocates at once', () => {
  const withLimit = (maxAllocationBytes: number): ComputeBackend =>
    ({ capabilities: { limits: { maxAllocationBytes } } }) as unknown as ComputeBackend;
  expect(rowsPerBlock(withLimit(2 ** 40))).toBe(2048);
  expect(rowsPerBlock(withLimit(40_000))).toBe(9);
  expect(rowsPerBlock(withLimit(1))).toBe(1);
});
