import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import type { OperandFormats } from './direct.spv.ts';
import { placeOf, SPLIT_PARAMETERS } from './splits.ts';
import { loadElement, storeResult } from './storage.ts';

/** Parameters of {@link subgroup}. */
export interface SubgroupParams extends OperandFormats {
  /** Work-items of a sub-group. */
  readonly lanes: number;
}

/** Rows of a sub-group's tile, its columns in units of its size, and sub-groups of a group, one below the other. */
export const SUBGROUP_ROWS = 8;
const SUBGROUP_VECTORS = 2;
export const SUBGROUPS = 4;

/** Entries of C that a group computes. */
export const subgroupTile = (lanes: number): { readonly m: number; readonly n: number } => ({
  m: SUBGROUP_ROWS * SUBGROUPS,
  n: SUBGROUP_VECTORS * lanes,
});

/**
 * `C = alpha op(A) op(B) + beta C` for GPUs with sub-groups, without workgroup memory and barriers.
 *
 * A sub-group computes 8 rows of C by two columns for each lane. Of A each lane reads one term of every row, as many
 * neighbouring terms as there are lanes; they are then broadcast, one after the other. Of B each lane reads its
 * columns. Rows and columns beyond the last are the last again, and not written. What is left of k is read by all lanes
 * at once.
 *
 * Any steps will do; reads are of neighbours where neither operand is transposed.
 */
export const subgroup: (params: SubgroupParams) => Kernel = variants(({ input, output, lanes }: SubgroupParams) =>
  defineKernel({
    name: `gemm/subgroup ${input}-${output} ${lanes}`,
    parameters: {
      a: `${input}*`,
      b: `${input}*`,
      c: `${output}*`,
      m: 'u64',
      n: 'u64',
      a_line: 'u64',
      a_term: 'u64',
      b_line: 'u64',
      b_term: 'u64',
      c_ld: 'u64',
      a_stride: 'u64',
      b_stride: 'u64',
      ...SPLIT_PARAMETERS,
      alpha: 'f32',
      beta: 'f32',
    },
    groupSize: [lanes, SUBGROUPS, 1],
    subgroupSize: lanes,
    write: (k, { module, args }) => {
      const [f32, u32, u64] = [module.float(32), module.int(32), module.int(64)];
      const lane = k.uconvert(k.subgroupLocalId(), u64);
      const member = k.uconvert(k.subgroupId(), u64);
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const row = k.mul(k.add(k.mul(k.groupId(1), SUBGROUPS), member), SUBGROUP_ROWS);
      const column = k.add(k.mul(k.groupId(0), SUBGROUP_VECTORS * lanes), lane);
      const clamped = (index: Value, count: Value): Value => k.math('u_min', index, k.sub(count, 1));
      const rows = Array.from({ length: SUBGROUP_ROWS }, (_, i) => k.add(row, i));
      const columns = Array.from({ length: SUBGROUP_VECTORS }, (_, v) => k.add(column, v * lanes));
      const a = k.at(args.a, k.mul(batch, args.a_stride));
      const b = k.at(args.b, k.mul(batch, args.b_stride));
      const linesOfA = rows.map((each) => k.at(a, k.mul(clamped(each, args.m), args.a_line)));
      const linesOfB = columns.map((each) => k.at(b, k.mul(clamped(each, args.n), args.b_line)));
      const termOf = (lines: readonly Value[], p: Value, step: Value): Value[] => {
        const place = k.mul(p, step);
        return lines.map((line) => loadElement(k, input, k.at(line, place)));
      };
      const added = (sums: readonly Value[], x: readonly Value[], y: readonly Value[]): Value[] =>
        sums.map((sum, index) =>
          k.fma(x[Math.floor(index / SUBGROUP_VECTORS)] as Value, y[index % SUBGROUP_VECTORS] as Value, sum),
        );

      const terms = k.sub(end, begin);
      const whole = k.add(begin, k.sub(terms, k.umod(terms, lanes)));
      const zeros = Array.from({ length: SUBGROUP_ROWS * SUBGROUP_VECTORS }, () => k.constant(f32, 0));
      const most = k.forLoop({ from: begin, to: whole, step: lanes, unroll: 'dont-unroll' }, zeros, (p, before) => {
        const mine = termOf(linesOfA, k.add(p, lane), args.a_term);
        const start = k.mul(p, args.b_term);
        const places = linesOfB.map((line) => k.at(line, start));
        // A loop, whose number of turns is constant, and not its turns: so the compiler decides how long the code gets.
        const turns = k.constant(u32, lanes);
        const results = k.forLoop({ to: turns, unroll: 'unroll' }, [...before, ...places], (t, carried) => {
          const sums = carried.slice(0, before.length);
          const columnsAt = carried.slice(before.length);
          const y = columnsAt.map((place) => loadElement(k, input, place));
          const x = mine.map((value) => k.subgroupBroadcast(value, t));
          return [...added(sums, x, y), ...columnsAt.map((place) => k.at(place, args.b_term))];
        });
        return results.slice(0, before.length);
      });
      const sums = k.forLoop({ from: whole, to: end }, most, (p, before) =>
        added(before, termOf(linesOfA, p, args.a_term), termOf(linesOfB, p, args.b_term)),
      );
      sums.forEach((sum, index) => {
        const [i, j] = [rows[Math.floor(index / SUBGROUP_VECTORS)], columns[index % SUBGROUP_VECTORS]] as [
          Value,
          Value,
        ];
        k.when(k.and(k.ult(i, args.m), k.ult(j, args.n)), () => {
          const entry = k.at(args.c, k.add(c, k.add(k.mul(i, args.c_ld), j)));
          storeResult(k, output, entry, { sum, alpha: args.alpha, beta: args.beta });
        });
      });
    },
  }),
);
