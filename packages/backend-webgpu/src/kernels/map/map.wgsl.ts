import { WgslBlock } from '../arithmetic/wgsl-block.ts';
import type { Kernel } from '../kernel.ts';
import { GraphScope, NOWHERE, pointSource, storedBits } from '../run/graph-scope.ts';
import { defineGraphKernel, divided, scatterTo, storeAt, type StoredValue } from '../run/operand-code.ts';
import { type RunSpec, sizeName, uniformsOf } from '../run/run-spec.ts';

/** The distribution of the points of a map over the lanes. */
export interface MapLayout {
  /** `flat`: numbered in one row; `grid`: the last axis in one dimension of the grid, the one before it in the others. */
  readonly layout: 'flat' | 'grid';
  /** Vectors of a lane, all loaded before the first is stored: along the row, or down the column of a grid. */
  readonly unroll: 1 | 2 | 4;
}

/** Invocations of a workgroup. */
export const MAP_LANES = 128;

/**
 * A graph without folds, point by point: `width` neighbours along the last axis at once. In the flat layout the
 * coordinates come from divisions by the sizes, which are uniforms; in a grid there are none. Beyond the last vector
 * loads are of the last one, and nothing is stored.
 */
export function mapKernel(name: string, spec: RunSpec, { layout, unroll }: MapLayout): Kernel {
  const block = new WgslBlock();
  const rank = spec.rowRank;
  const call = new GraphScope(spec, block, NOWHERE);
  call.hoist(['call']);
  const points = Array.from({ length: unroll }, (_, k) => {
    const { coordinates, inside } =
      layout === 'flat' ? flatPoint(block, rank, unroll, k) : gridPoint(block, rank, unroll, k);
    return { coordinates, inside, scope: new GraphScope(spec, block, pointSource(spec, block, coordinates), call) };
  });
  for (const { scope } of points) scope.preload();
  // What gathers loads too: all of a lane's values are there before the first is stored.
  const raws = points.map(({ scope }) =>
    spec.kernel.outputs.map((_, output) => storedBits(spec, output, scope, 'lane')),
  );
  const byPoint = spec.kernel.outputs.flatMap((_, output) => {
    const values = points.map(({ inside }, point) => ({ raw: raws[point]?.[output] as StoredValue, inside }));
    return scatterTo(block, spec, output, values) ? [] : [output];
  });
  for (const [point, { coordinates, inside }] of points.entries()) {
    if (byPoint.length === 0) break;
    const stores = block.inner();
    for (const output of byPoint) storeAt(stores, spec, output, coordinates, raws[point]?.[output] as StoredValue);
    block.enclose(`if (${inside})`, stores);
  }
  return defineGraphKernel(spec, { name, uniforms: { count: 'u32', ...uniformsOf(spec) }, lanes: MAP_LANES, block });
}

interface Point {
  /** The coordinates along each axis; along the last one in vectors. */
  readonly coordinates: readonly string[];
  /** The condition that it is one of the domain. */
  readonly inside: string;
}

function flatPoint(block: WgslBlock, rank: number, unroll: number, k: number): Point {
  if (k === 0) {
    block.add('let group = group_index(id, grid);');
    block.add('if (group >= u.group_count) { return; }');
    block.add(`let first = group * ${MAP_LANES * unroll}u + lane;`);
  }
  const index = k === 0 ? 'first' : block.define(`first + ${k * MAP_LANES}u`);
  const number = block.define(`min(${index}, u.count - 1u)`);
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  return { coordinates: divided(block, number, axes), inside: `${index} < u.count` };
}

function gridPoint(block: WgslBlock, rank: number, unroll: number, k: number): Point {
  const [row, column] = [sizeName(rank - 2), sizeName(rank - 1)];
  if (k === 0) {
    block.add(`let column = id.x * ${MAP_LANES}u + lane;`);
    block.add(`let row = (id.y + id.z * grid.y) * ${unroll}u;`);
    block.add(`let safe_column = min(column, u.${column} - 1u);`);
  }
  const own = k === 0 ? 'row' : block.define(`row + ${k}u`);
  const safe = block.define(`min(${own}, u.${row} - 1u)`);
  return {
    coordinates: [...Array.from({ length: rank - 2 }, () => '0u'), safe, 'safe_column'],
    inside: `column < u.${column} && ${own} < u.${row}`,
  };
}
