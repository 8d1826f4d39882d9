import { ofType } from '@concord/variants';
import type { Kernel } from '@concord/backend-core/kernel';
import { hasMean, hasPlaces, phasesOf, type RowClass, scansOf } from '@concord/kernel';
import type { UniformType } from '../kernel.ts';
import type { RunSpec } from '../run/run-spec.ts';
import type { TeamSpec } from './team.ts';

/** The facts that a kernel that computes rows is generated from. */
export interface RowsSpec extends RunSpec {
  readonly team: TeamSpec;
  /** Vectors of a row that a lane keeps in registers; 0: rows are read again in each phase. */
  readonly vectors: RowClass['vectors'];
  /**
   * The stage of folds in parts: the phase whose folds this kernel finds parts of; the parts of those before it are
   * joined first. The last stage, after all phases, stores. Undefined: all in one.
   */
  readonly stage: number | undefined;
}

/** The name of the uniform of what an index along a folded axis counts for in the row-major place. */
export const placeName = (axis: number): string => `m${axis}`;
/** The name of the uniform of the place of the launch's first element. */
export const FIRST_PLACE = 'place';

/** Uniforms of rows, beside those of every run. */
export function stageUniforms(spec: RowsSpec): Record<string, UniformType> {
  const { rowRank, foldedRank } = spec;
  const axes = Array.from({ length: foldedRank }, (_, axis) => rowRank + axis);
  return {
    // Rows, in vectors where lanes lie across them, and vectors (or steps) of a row.
    ...ofType('u32', 'rows steps'),
    ...(hasPlaces(spec.kernel)
      ? { [FIRST_PLACE]: 'u32', ...Object.fromEntries(axes.map((axis) => [placeName(axis), 'u32' as const])) }
      : {}),
    ...(hasMean(spec.kernel) ? { scale: 'f32', divisor: 'f32' } : {}),
    ...(spec.stage === undefined
      ? {}
      : {
          // Steps of a part, parts of this launch, the number of the first, all parts of a row, and the words of a value.
          ...ofType('u32', 'chunk parts first_part all_parts plane'),
        }),
  };
}

/**
 * Steps that a loop takes at once, so that their loads overlap and sums have short chains: of vectors; of elements that
 * are read once; and of those that are read again, from a cache.
 */
const UNROLL = { vectors: 4, elements: 8, again: 16 };
/** Graphs with more nodes are written once in a loop. */
const MAX_UNROLLED_NODES = 24;

/** Steps that the loops of a graph take at once. */
export function unrollOf(graph: Kernel, width: 1 | 4): number {
  if (graph.nodes.length > MAX_UNROLLED_NODES) return 1;
  if (width === 4 || scansOf(graph) !== undefined) return UNROLL.vectors;
  return phasesOf(graph).folds.length > 1 ? UNROLL.again : UNROLL.elements;
}
