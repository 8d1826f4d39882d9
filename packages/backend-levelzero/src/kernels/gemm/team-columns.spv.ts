import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { flatGroupId } from './flat-groups.ts';
import { formatsName, type MatvecFormats, matvecParameters } from './matvec.ts';
import { placeOf } from './splits.ts';
import { loadElement, storeResult } from './storage.ts';
import { sumOfTeam } from './sum-of-team.ts';

/** Rows of a group, and work-items that share each. */
export const COLUMN_LANES = 32;
export const COLUMN_TEAM = 8;

/**
 * y = M x for GPUs, where M lies column by column. 32 neighbouring work-items read neighbouring rows of a column; 8 of
 * them share a row, each with every eighth column, and add up their sums in workgroup memory. Work-items beyond the
 * last row take that row again and write nothing.
 */
export const teamColumns: (formats: MatvecFormats) => Kernel = variants((formats: MatvecFormats) =>
  defineKernel({
    name: `gemm/team-columns ${formatsName(formats)}`,
    parameters: matvecParameters(formats),
    groupSize: [COLUMN_LANES, COLUMN_TEAM, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const partial = k.localArray(f32, COLUMN_LANES * COLUMN_TEAM);
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const [lane, member] = [k.localId(0), k.localId(1)];
      const wanted = k.add(k.mul(flatGroupId(k), COLUMN_LANES), lane);
      const row = k.math('u_min', wanted, k.sub(args.rows, 1));
      const column = k.at(args.matrix, k.add(k.mul(batch, args.matrix_stride), row));
      const vector = k.at(args.vector, k.mul(batch, args.vector_stride));
      const [sum] = k.forLoop(
        { from: k.add(begin, member), to: end, step: COLUMN_TEAM },
        [k.constant(f32, 0)],
        (p, [before]) => {
          const x = loadElement(k, formats.vector, k.at(vector, k.mul(p, args.vector_step)));
          const y = loadElement(k, formats.matrix, k.at(column, k.mul(p, args.matrix_ld)));
          return [k.fma(y, x, before as Value)];
        },
      );
      const place = k.at(partial, k.add(k.mul(member, COLUMN_LANES), lane));
      sumOfTeam(k, { place, lane: member, size: COLUMN_TEAM, step: COLUMN_LANES }, sum as Value);
      k.when(k.and(k.eq(member, 0), k.ult(wanted, args.rows)), () => {
        const entry = k.at(args.c, k.add(c, k.mul(row, args.c_step)));
        storeResult(k, formats.output, entry, { sum: k.load(place), alpha: args.alpha, beta: args.beta });
      });
    },
  }),
);
