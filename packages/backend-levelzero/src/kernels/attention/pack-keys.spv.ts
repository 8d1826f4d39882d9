import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel } from '../kernel.ts';

const LANES = 16;

/** Keys of a panel. */
export const PANEL_KEYS = 32;

/**
 * Lays out K for `wide`, so that neighbouring keys are neighbours: from `[heads, keys, head_dim]` to `[heads, panels,
 * head_dim, PANEL_KEYS]`. After the last key come copies of it. One work-item per panel.
 */
export const packKeys: Kernel = defineKernel({
  name: 'attention/pack-keys',
  parameters: { k: 'f32*', panels: 'f32*', heads: 'u64', keys: 'u64', head_dim: 'u64', panels_per_head: 'u64' },
  groupSize: [1, 1, 1],
  write: (k, { module, args }) => {
    const vector = module.vector(module.float(32), LANES);
    const number = groupIndex(k);
    const head = k.udiv(number, args.panels_per_head);
    const firstKey = k.mul(k.umod(number, args.panels_per_head), PANEL_KEYS);
    const keys = k.at(args.k, k.mul(k.mul(head, args.keys), args.head_dim));
    const panel = k.at(args.panels, k.mul(k.mul(number, args.head_dim), PANEL_KEYS));
    const last = k.sub(args.keys, 1);
    const columns = k.select(k.ult(head, args.heads), args.head_dim, 0);
    for (let half = 0; half < PANEL_KEYS; half += LANES) {
      const rows = Array.from({ length: LANES }, (_, lane) =>
        k.at(keys, k.mul(k.math('u_min', k.add(firstKey, half + lane), last), args.head_dim)),
      );
      const store = (column: Value, vector: Value): void =>
        k.storeVector(k.at(panel, k.add(k.mul(column, PANEL_KEYS), half)), vector);
      k.ifElse(
        k.ult(args.head_dim, LANES),
        () => {
          k.forLoop({ to: columns }, [], (d) => store(d, k.vector(vector, ...rows.map((row) => k.load(k.at(row, d))))));
        },
        () => {
          k.forLoop({ to: columns, step: LANES }, [], (d) => {
            // The last columns begin early enough to end with the row: some are written twice.
            const column = k.math('u_min', d, k.sub(args.head_dim, LANES));
            const columns = transpose(
              k,
              rows.map((row) => k.loadVector(k.at(row, column), LANES)),
            );
            for (const [index, each] of columns.entries()) store(k.add(column, index), each);
          });
        },
      );
    }
  },
});

/**
 * Columns of a square matrix from its rows, in rounds that interleave the first half of the vectors with the second: each
 * turns the bits of an element's number, row and column, by one place (Stone, "Parallel Processing with the Perfect
 * Shuffle", 1971).
 */
function transpose(k: FunctionBuilder, rows: readonly Value[]): readonly Value[] {
  const count = rows.length;
  const interleaved = (first: number): number[] =>
    Array.from({ length: count }, (_, lane) => first + (lane >> 1) + (lane & 1) * count);
  let vectors = rows;
  for (let rounds = Math.log2(count); rounds > 0; rounds--) {
    vectors = vectors.slice(0, count / 2).flatMap((a, index) => {
      const b = vectors[index + count / 2] as Value;
      return [k.shuffle(a, b, interleaved(0)), k.shuffle(a, b, interleaved(count / 2))];
    });
  }
  return vectors;
}
