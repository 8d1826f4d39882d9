import { ofType } from '@concord/variants';
import type { FloatDType } from '@concord/backend-core';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel, type ParameterType, variants } from '../kernel.ts';
import { placeOf, SPLIT_PARAMETERS } from './table.ts';
import { loadElement, storeResult } from './storage.ts';
import { LANES } from './pack.spv.ts';

/** Storage of a product with a vector. */
export interface MatvecFormats {
  readonly matrix: FloatDType;
  readonly vector: FloatDType;
  readonly output: FloatDType;
}

/** The names of {@link matvecParameters}. */
type MatvecParameter =
  | ('matrix' | 'vector' | 'c' | 'rows' | 'matrix_ld' | 'matrix_stride' | 'vector_step' | 'vector_stride' | 'c_step')
  | (keyof typeof SPLIT_PARAMETERS | 'alpha' | 'beta');

/** Parameters of the kernels for a matrix times a vector, y = M x, with `rows` rows and k columns. */
function matvecParameters(formats: MatvecFormats): Readonly<Record<MatvecParameter, ParameterType>> {
  return {
    matrix: `${formats.matrix}*`,
    vector: `${formats.vector}*`,
    c: `${formats.output}*`,
    ...ofType('u64', 'rows matrix_ld matrix_stride vector_step vector_stride c_step'),
    ...SPLIT_PARAMETERS,
    ...ofType('f32', 'alpha beta'),
  };
}

/** Names formats in names of kernels. */
const formatsName = ({ matrix, vector, output }: MatvecFormats): string => `${matrix}x${vector}-${output}`;

/** The work-items that add up their values, and where in workgroup memory. */
interface Team {
  /** The own element of workgroup memory, for this work-item. */
  readonly place: Value;
  /** Number of this work-item in its team. */
  readonly lane: Value;
  /** Work-items of the team: a power of two. */
  readonly size: number;
  /** Elements between those of neighbours in the team. */
  readonly step: number;
}

/** Adds up the values of a team: the sum is at the place of lane 0. All work-items of the group must call it. */
export function sumOfTeam(k: FunctionBuilder, { place, lane, size, step }: Team, value: Value): void {
  k.store(place, value);
  k.barrier();
  for (let half = size / 2; half >= 1; half /= 2) {
    k.when(k.ult(lane, half), () => k.store(place, k.add(k.load(place), k.load(k.at(place, half * step)))));
    k.barrier();
  }
}

/** The sum of a vector's components, in pairs. The number of components is a power of two. */
export function sumOfComponents(k: FunctionBuilder, vector: Value): Value {
  if (vector.type.kind !== 'vector') return vector;
  let parts = Array.from({ length: vector.type.count }, (_, index) => k.extract(vector, index));
  while (parts.length > 1) {
    const half = parts.length / 2;
    parts = parts.slice(0, half).map((part, index) => k.add(part, parts[half + index] as Value));
  }
  return parts[0] as Value;
}

/** Rows of a group, and work-items that share each: of a matrix that lies column by column, and row by row. */
const TEAMS = { columns: { rows: 32, team: 8 }, rows: { rows: 4, team: 64 } };
export const COLUMN_LANES: number = TEAMS.columns.rows;
export const TEAM_ROWS: number = TEAMS.rows.rows;

/**
 * y = M x for GPUs. The work-items of a team share a row and add up their sums in workgroup memory. Where M lies column by
 * column, 32 neighbouring work-items read neighbouring rows of a column, and 8 share a row, each with every eighth column;
 * where it lies row by row along k, 64 neighbouring ones read neighbouring terms of a row. Teams beyond the last row take that
 * row again and write nothing.
 */
const teams = (lies: 'columns' | 'rows'): ((formats: MatvecFormats) => Kernel) =>
  variants((formats: MatvecFormats) => {
    const { rows, team } = TEAMS[lies];
    const alongRows = lies === 'rows';
    const width = alongRows ? team : rows;
    return defineKernel({
      name: `gemm/team-${lies} ${formatsName(formats)}`,
      parameters: matvecParameters(formats),
      groupSize: alongRows ? [team, rows, 1] : [rows, team, 1],
      write: (k, { module, args }) => {
        const f32 = module.float(32);
        const partial = k.localArray(f32, rows * team);
        const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
        const [x, y] = [k.localId(0), k.localId(1)];
        const [member, own] = alongRows ? [x, y] : [y, x];
        const wanted = k.add(k.mul(groupIndex(k), rows), own);
        const row = k.math('u_min', wanted, k.sub(args.rows, 1));
        const rowAt = alongRows
          ? k.add(k.mul(batch, args.matrix_stride), k.mul(row, args.matrix_ld))
          : k.add(k.mul(batch, args.matrix_stride), row);
        const line = k.at(args.matrix, rowAt);
        const vector = k.at(args.vector, k.mul(batch, args.vector_stride));
        const range = { from: k.add(begin, member), to: end, step: team };
        const [sum] = k.forLoop(range, [k.constant(f32, 0)], (p, [before]) => {
          const factor = loadElement(k, formats.vector, k.at(vector, k.mul(p, args.vector_step)));
          const term = alongRows ? p : k.mul(p, args.matrix_ld);
          return [k.fma(loadElement(k, formats.matrix, k.at(line, term)), factor, before as Value)];
        });
        const place = k.at(partial, k.add(k.mul(y, width), x));
        sumOfTeam(k, { place, lane: member, size: team, step: alongRows ? 1 : rows }, sum as Value);
        k.when(k.and(k.eq(member, 0), k.ult(wanted, args.rows)), () => {
          const entry = k.at(args.c, k.add(c, k.mul(row, args.c_step)));
          storeResult(k, formats.output, entry, { sum: k.load(place), alpha: args.alpha, beta: args.beta });
        });
      },
    });
  });
export const teamColumns: (formats: MatvecFormats) => Kernel = teams('columns');
export const teamRows: (formats: MatvecFormats) => Kernel = teams('rows');

/** Parameters of {@link wideColumns}. */
interface WideColumnsParams extends MatvecFormats {
  /** Vectors of 16 rows that one work-item sums. */
  readonly vectors: 1 | 4 | 16;
}

/**
 * y = M x for processors, where M lies column by column: the entries of a column are neighbours. A work-item, which is
 * a separate group, has a strip of `16 * vectors` rows and goes through the columns. There must be as many rows: the
 * last strip begins early and computes some rows once more, which it does not write.
 */
export const wideColumns: (params: WideColumnsParams) => Kernel = variants((params: WideColumnsParams) =>
  defineKernel({
    name: `gemm/wide-columns ${formatsName(params)} ${params.vectors}`,
    parameters: matvecParameters(params),
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const lanes = module.vector(f32, LANES);
      const width = params.vectors * LANES;
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const wanted = k.mul(groupIndex(k), width);
      const row = k.math('u_min', wanted, k.sub(args.rows, width));
      const start = k.add(k.mul(batch, args.matrix_stride), k.add(row, k.mul(begin, args.matrix_ld)));
      const vectorStart = k.add(k.mul(batch, args.vector_stride), k.mul(begin, args.vector_step));
      const zeros = Array.from({ length: params.vectors }, () => k.constant(lanes, 0));
      const carried = [...zeros, k.at(args.matrix, start), k.at(args.vector, vectorStart)];
      const results = k.forLoop({ from: begin, to: end }, carried, (_, before) => {
        const column = before[params.vectors] as Value;
        const element = before[params.vectors + 1] as Value;
        const x = k.splat(lanes, loadElement(k, params.vector, element));
        const sums = zeros.map((_none, v) =>
          k.fma(loadElement(k, params.matrix, k.at(column, v * LANES), LANES), x, before[v] as Value),
        );
        return [...sums, k.at(column, args.matrix_ld), k.at(element, args.vector_step)];
      });
      // C may have gaps between its entries.
      const strip = k.privateArray(f32, width);
      zeros.forEach((_, v) => k.storeVector(k.at(strip, v * LANES), results[v] as Value));
      const skipped = k.sub(wanted, row);
      k.forLoop({ from: skipped, to: k.constant(module.int(64), width) }, [], (i) => {
        const entry = k.at(args.c, k.add(c, k.mul(k.add(row, i), args.c_step)));
        storeResult(k, params.output, entry, { sum: k.load(k.at(strip, i)), alpha: args.alpha, beta: args.beta });
      });
    },
  }),
);

/** Parameters of {@link wideRows}. */
interface WideRowsParams extends MatvecFormats {
  /** Vectors at a time. */
  readonly each: 1 | 4;
}

/** Rows of one work-item. */
export const WIDE_ROWS = 4;

/**
 * Y = M X for processors, for one x or a few, where M lies row by row along k and so does each x (`vector_step` 1),
 * `vector_ld` after the one before. Nothing is packed: M is read from memory once.
 *
 * A work-item, which is a separate group, has four rows, and takes `each` vectors at a time through them, 16 terms in
 * an iteration. Rows and vectors beyond the last are the last one again, and not written.
 */
export const wideRows: (params: WideRowsParams) => Kernel = variants((params: WideRowsParams) => {
  const { each, matrix: matrixType, vector: vectorType, output } = params;
  return defineKernel({
    name: `gemm/wide-rows ${formatsName(params)} ${each}`,
    parameters: { ...matvecParameters(params), vectors: 'u64', vector_ld: 'u64', c_line: 'u64' },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const lanes = module.vector(module.float(32), LANES);
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const row = k.mul(groupIndex(k), WIDE_ROWS);
      const matrix = k.at(args.matrix, k.add(k.mul(batch, args.matrix_stride), begin));
      const vector = k.at(args.vector, k.add(k.mul(batch, args.vector_stride), begin));
      const linesOf = (start: Value, ld: Value, first: Value, count: Value, lines: number): Value[] =>
        Array.from({ length: lines }, (_, i) =>
          k.at(start, k.mul(k.math('u_min', k.add(first, i), k.sub(count, 1)), ld)),
        );
      const rows = linesOf(matrix, args.matrix_ld, row, args.rows, WIDE_ROWS);
      const terms = k.sub(end, begin);
      const whole = k.mul(k.udiv(terms, LANES), LANES);
      const zeros = Array.from({ length: WIDE_ROWS * each }, () => k.constant(lanes, 0));

      k.forLoop({ to: args.vectors, step: each, unroll: 'dont-unroll' }, [], (first) => {
        const vectors = linesOf(vector, args.vector_ld, first, args.vectors, each);
        const added = (p: Value, count: 1 | 16, before: readonly Value[]): Value[] => {
          const xs = vectors.map((line) => loadElement(k, vectorType, k.at(line, p), count));
          return rows.flatMap((line, i) => {
            const values = loadElement(k, matrixType, k.at(line, p), count);
            return xs.map((x, j) => k.fma(values, x, before[i * each + j] as Value));
          });
        };
        const wide = k.forLoop({ to: whole, step: LANES }, zeros, (p, before) => added(p, LANES, before));
        const sums = k.forLoop(
          { from: whole, to: terms },
          wide.map((sum) => sumOfComponents(k, sum)),
          (p, before) => added(p, 1, before),
        );
        sums.forEach((sum, index) => {
          const [i, j] = [k.add(row, Math.floor(index / each)), k.add(first, index % each)];
          k.when(k.and(k.ult(i, args.rows), k.ult(j, args.vectors)), () => {
            const entry = k.at(args.c, k.add(c, k.add(k.mul(i, args.c_step), k.mul(j, args.c_line))));
            storeResult(k, output, entry, { sum, alpha: args.alpha, beta: args.beta });
          });
        });
      });
    },
  });
});
