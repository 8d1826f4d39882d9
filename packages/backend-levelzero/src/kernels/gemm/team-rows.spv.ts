import type { Value } from '@concord/spirv-builder';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { flatGroupId } from './flat-groups.ts';
import { formatsName, type MatvecFormats, matvecParameters } from './matvec.ts';
import { placeOf } from './splits.ts';
import { loadElement, storeResult } from './storage.ts';
import { sumOfTeam } from './sum-of-team.ts';

/** Rows of a group, and work-items that share each. */
export const TEAM_ROWS = 4;
export const ROW_TEAM = 64;

/**
 * y = M x for GPUs, where M lies row by row along k. The 64 work-items of a team read neighbouring terms of a row and
 * add up their sums in workgroup memory. Teams beyond the last row take that row again and write nothing.
 */
export const teamRows: (formats: MatvecFormats) => Kernel = variants((formats: MatvecFormats) =>
  defineKernel({
    name: `gemm/team-rows ${formatsName(formats)}`,
    parameters: matvecParameters(formats),
    groupSize: [ROW_TEAM, TEAM_ROWS, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const partial = k.localArray(f32, ROW_TEAM * TEAM_ROWS);
      const { batch, begin, end, c } = placeOf(k, k.groupId(2), args);
      const [lane, team] = [k.localId(0), k.localId(1)];
      const wanted = k.add(k.mul(flatGroupId(k), TEAM_ROWS), team);
      const row = k.math('u_min', wanted, k.sub(args.rows, 1));
      const line = k.at(args.matrix, k.add(k.mul(batch, args.matrix_stride), k.mul(row, args.matrix_ld)));
      const vector = k.at(args.vector, k.mul(batch, args.vector_stride));
      const [sum] = k.forLoop(
        { from: k.add(begin, lane), to: end, step: ROW_TEAM },
        [k.constant(f32, 0)],
        (p, [before]) => {
          const x = loadElement(k, formats.vector, k.at(vector, k.mul(p, args.vector_step)));
          return [k.fma(loadElement(k, formats.matrix, k.at(line, p)), x, before as Value)];
        },
      );
      const place = k.at(partial, k.add(k.mul(team, ROW_TEAM), lane));
      sumOfTeam(k, { place, lane, size: ROW_TEAM, step: 1 }, sum as Value);
      k.when(k.and(k.eq(lane, 0), k.ult(wanted, args.rows)), () => {
        const entry = k.at(args.c, k.add(c, k.mul(row, args.c_step)));
        storeResult(k, formats.output, entry, { sum: k.load(place), alpha: args.alpha, beta: args.beta });
      });
    },
  }),
);
