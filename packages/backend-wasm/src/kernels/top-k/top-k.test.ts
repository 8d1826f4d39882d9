import { test } from 'vitest';
import { checkTopK } from '../../../../backend-cpu/test/op-memory.ts';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import { topKKernel } from './top-k.ts';

const launcher = new KernelLauncher(TRAITS[0]!, 4);
const kernel = topKKernel(launcher);

const select = (rows: number, columns: number, k: number, largest: boolean, x: Float32Array): Promise<void> =>
  checkTopK(launcher.operands, [rows, columns, k], largest, (call) => launcher.reset(() => kernel.run(call)), x);

test('selects with ties, zeros of both signs, infinities and NaN, and keeps every bit', async () => {
  const special = [0, -0, Infinity, -Infinity, Number.NaN, 1e-45, -1e-45, 3, 3, -3, 3.4e38];
  const [rows, columns] = [3, 61];
  const x = Float32Array.from({ length: rows * columns }, (_, i) =>
    i % 3 === 0 ? special[(i * 7) % special.length]! : ((i * 7919) % 23) - 11,
  );
  new Uint32Array(x.buffer)[40] = 0xffc0_1234;
  for (const k of [1, 2, 5, 16, 60, 61])
    for (const largest of [true, false]) await select(rows, columns, k, largest, x);
});

test('selects from rows of any length, sorted either way before', async () => {
  for (const columns of [1, 2, 3, 4, 5, 7, 130]) {
    const ascending = Float32Array.from({ length: columns }, (_, i) => i - 60);
    for (const x of [ascending, ascending.slice().reverse()]) {
      for (const k of [1, Math.ceil(columns / 2), columns]) await select(1, columns, k, true, x);
    }
  }
});
