import { topKReference } from '@concord/backend-cpu/reference';
import { expect, test } from 'vitest';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import { topKKernel } from './top-k.ts';

const launcher = new KernelLauncher(TRAITS[0]!, 4);
const kernel = topKKernel(launcher);

function select(rows: number, columns: number, k: number, largest: boolean, x: Float32Array): void {
  const values = launcher.operand(new Uint32Array(rows * k).fill(7));
  const indices = launcher.operand(new Uint32Array(rows * k).fill(7));
  const input = launcher.operand(x);
  const call = {
    rows,
    columns,
    k,
    largest,
    input,
    values,
    indices,
    operands: [],
    dtype: 'f32',
    opName: 'topK',
  } as const;
  launcher.reset(() => kernel.run(call));
  const want = topKReference({ rows, columns, k, largest }, x);
  expect([...new Uint32Array(launcher.bytes(indices).slice().buffer)], `k = ${k}, largest ${largest}`).toEqual([
    ...want,
  ]);
  const bits = new Uint32Array(x.buffer);
  const selected = Array.from(want, (place, i) => bits[Math.floor(i / k) * columns + place]);
  expect([...new Uint32Array(launcher.bytes(values).slice().buffer)]).toEqual(selected);
}

test('selects with ties, zeros of both signs, infinities and NaN, and keeps every bit', () => {
  const special = [0, -0, Infinity, -Infinity, Number.NaN, 1e-45, -1e-45, 3, 3, -3, 3.4e38];
  const [rows, columns] = [3, 61];
  const x = Float32Array.from({ length: rows * columns }, (_, i) =>
    i % 3 === 0 ? special[(i * 7) % special.length]! : ((i * 7919) % 23) - 11,
  );
  new Uint32Array(x.buffer)[40] = 0xffc0_1234;
  for (const k of [1, 2, 5, 16, 60, 61]) for (const largest of [true, false]) select(rows, columns, k, largest, x);
});

test('selects from rows of any length, sorted either way before', () => {
  for (const columns of [1, 2, 3, 4, 5, 7, 130]) {
    const ascending = Float32Array.from({ length: columns }, (_, i) => i - 60);
    for (const x of [ascending, ascending.slice().reverse()]) {
      for (const k of [1, Math.ceil(columns / 2), columns]) select(1, columns, k, true, x);
    }
  }
});
