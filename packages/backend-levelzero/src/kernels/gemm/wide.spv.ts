import type { FloatDType } from '@concord/backend-core';
import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { storeResult } from './storage.ts';
import { LANES, PANEL_COLUMNS, PANEL_ROWS, TILE } from './wide-shape.ts';

/** Parameters of {@link wide}. */
export interface WideParams {
  readonly output: FloatDType;
}

const VECTORS = PANEL_COLUMNS / LANES;

/**
 * `C = alpha op(A) op(B) + beta C` for processors: one work-item is one wide job, after K. Goto and R. van de Geijn,
 * "Anatomy of high-performance matrix multiplication" (2008).
 *
 * A comes in packed panels of 8 rows, `panel[p][8]`; B in panels of 32 columns whose rows are `b_step` apart: packed
 * ones, or B itself where it needs no packing. A work-item, which is a separate group, takes one panel of B and
 * `panels_each` panels of A, so that the panel of B stays in the cache. Each pair of panels gives a tile of C, 8 rows
 * by 2 vectors of 16 columns, that is summed in registers: an iteration of the inner loop is 2 loads of B, 8 broadcasts of A
 * and 16 fused multiply-adds.
 *
 * A long k comes in several launches. Between them the sums stay as they are in `sums`, tile by tile; the last one
 * makes C of them.
 */
export const wide: (params: WideParams) => Kernel = variants(({ output }: WideParams) =>
  defineKernel({
    name: `gemm/wide ${output}`,
    parameters: {
      a: 'f32*',
      b: 'f32*',
      c: `${output}*`,
      sums: 'f32*',
      m: 'u64',
      n: 'u64',
      k: 'u64',
      a_stride: 'u64',
      b_stride: 'u64',
      c_stride: 'u64',
      b_panel: 'u64',
      b_step: 'u64',
      c_ld: 'u64',
      row_panels: 'u64',
      panels_each: 'u64',
      is_first: 'u32',
      is_last: 'u32',
      alpha: 'f32',
      beta: 'f32',
    },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const lanes = module.vector(f32, LANES);
      const [columnPanel, batch] = [k.groupId(0), k.groupId(2)];
      const column = k.mul(columnPanel, PANEL_COLUMNS);
      const firstPanel = k.mul(k.groupId(1), args.panels_each);
      const endPanel = k.math('u_min', k.add(firstPanel, args.panels_each), args.row_panels);
      const aBatch = k.at(args.a, k.mul(batch, args.a_stride));
      const bPanel = k.at(args.b, k.add(k.mul(batch, args.b_stride), k.mul(columnPanel, args.b_panel)));
      const cColumn = k.at(args.c, k.add(k.mul(batch, args.c_stride), column));
      const columnsLeft = k.sub(args.n, column);
      const aPanelStep = k.mul(args.k, PANEL_ROWS);
      const tilesBefore = k.mul(k.add(k.mul(batch, args.row_panels), 0), k.groupCount(0));
      const zero = k.constant(lanes, 0);

      k.forLoop({ from: firstPanel, to: endPanel, unroll: 'dont-unroll' }, [], (rowPanel) => {
        const aPanel = k.at(aBatch, k.mul(rowPanel, aPanelStep));
        const tile = k.add(k.add(k.mul(rowPanel, k.groupCount(0)), columnPanel), tilesBefore);
        const tileSums = k.at(args.sums, k.mul(tile, TILE));
        const sumAt = (index: number): Value => k.at(tileSums, index * LANES);
        const start = k.ifElse(
          k.ne(args.is_first, 0),
          () => Array.from({ length: TILE / LANES }, () => zero),
          () => Array.from({ length: TILE / LANES }, (_, index) => k.loadVector(sumAt(index), LANES)),
        );
        const sums = k
          .forLoop({ to: args.k }, [...start, aPanel, bPanel], (_, carried) => {
            const a = carried[TILE / LANES] as Value;
            const b = carried[TILE / LANES + 1] as Value;
            const columns = Array.from({ length: VECTORS }, (_none, v) => k.loadVector(k.at(b, v * LANES), LANES));
            const next = Array.from({ length: PANEL_ROWS }, (_none, row) => {
              const factor = k.splat(lanes, k.load(k.at(a, row)));
              return columns.map((values, v) => k.fma(factor, values, carried[row * VECTORS + v] as Value));
            });
            return [...next.flat(), k.at(a, PANEL_ROWS), k.at(b, args.b_step)];
          })
          .slice(0, TILE / LANES);

        k.ifElse(
          k.eq(args.is_last, 0),
          () => sums.forEach((sum, index) => k.storeVector(sumAt(index), sum)),
          () => {
            const row = k.mul(rowPanel, PANEL_ROWS);
            const rowsLeft = k.sub(args.m, row);
            const cTile = k.at(cColumn, k.mul(row, args.c_ld));
            const isWhole = k.and(k.uge(rowsLeft, PANEL_ROWS), k.uge(columnsLeft, PANEL_COLUMNS));
            const scalars = { alpha: args.alpha, beta: args.beta };
            k.ifElse(
              isWhole,
              () => {
                sums.forEach((sum, index) => {
                  const line = k.at(cTile, k.mul(args.c_ld, Math.floor(index / VECTORS)));
                  storeResult(k, output, k.at(line, (index % VECTORS) * LANES), { sum, ...scalars });
                });
              },
              () => {
                const edge = k.privateArray(f32, TILE);
                sums.forEach((sum, index) => k.storeVector(k.at(edge, index * LANES), sum));
                const rows = k.math('u_min', rowsLeft, PANEL_ROWS);
                const columns = k.math('u_min', columnsLeft, PANEL_COLUMNS);
                k.forLoop({ to: rows, unroll: 'dont-unroll' }, [], (i) => {
                  const line = k.at(cTile, k.mul(i, args.c_ld));
                  k.forLoop({ to: columns, unroll: 'dont-unroll' }, [], (j) => {
                    const sum = k.load(k.at(edge, k.add(k.mul(i, PANEL_COLUMNS), j)));
                    storeResult(k, output, k.at(line, j), { sum, ...scalars });
                  });
                });
              },
            );
          },
        );
      });
    },
  }),
);
