import { CpuBackend } from '@concord/backend-cpu';
import { expect, test } from 'vitest';
import { PassageMatrix } from './passage-matrix.ts';
import { DIMENSIONS } from './vocabulary.ts';

/** Rows with the given first two elements, zeros otherwise. */
function rows(...heads: readonly (readonly [number, number])[]): Float32Array {
  const values = new Float32Array(heads.length * DIMENSIONS);
  for (const [row, [x, y]] of heads.entries()) values.set([x, y], row * DIMENSIONS);
  return values;
}

test('finds the best of each list, also in rows far apart, the first of equals first', async () => {
  await using backend = await CpuBackend.create();
  const matrix = new PassageMatrix(backend);
  for (const [row, x] of [0.5, 0.25, 0.75].entries()) matrix.put(row, rows([x, 1 - x]));
  matrix.put(5000, rows([0.625, 0.375]));
  matrix.put(3000, rows([0.75, 0.25]));
  const lists = [
    [0, 1, 5000],
    [3000, 2, 1, 0],
  ];
  const best = await matrix.best(rows([1, 0], [0, 1]), lists, 3, {});
  expect(best).toEqual([
    [
      [2, 0.625],
      [0, 0.5],
      [1, 0.25],
    ],
    [
      [2, 0.75],
      [3, 0.5],
      [0, 0.25],
    ],
  ]);
});
