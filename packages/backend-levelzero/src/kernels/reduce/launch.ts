import { gridOf } from '../grid.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import { COLUMNS_RUN_TILE, columnsRun } from './columns-run.spv.ts';
import { type Fold, FOLDS } from './fold.spv.ts';
import { lane, LANE_GROUP } from './lane.spv.ts';
import { ROW_TEAMS, rowsSubgroup, SUBGROUP_ROWS_GROUP } from './rows-subgroup.spv.ts';
import { PACKED_COLUMNS, rowsRun } from './rows-run.spv.ts';
import { team, TEAM_GROUP } from './team.spv.ts';
import { type Extents, LEAST_RUN, RUNS_PER_THREAD, subgroupSizeOf, type Variant } from './variant.ts';

/** How one pass over a tensor folds it. */
export interface Pass {
  readonly fold: Fold;
  readonly variant: Variant;
  /** What each element is multiplied with, a power of two. */
  readonly scale: number;
  /** What each result is divided by. */
  readonly divisor: number;
}

/**
 * Launches a pass over a packed tensor.
 *
 * @param src - `[outer, length, inner]`
 * @param dst - `[outer, parts, inner]`
 */
export function launchPass(pass: Pass, extents: Extents, src: Span, dst: Span, recorder: Recorder): void {
  const { traits } = recorder;
  const { kernel, items, args, perGroup } = geometryOf(pass, extents, traits);
  const { length } = extents;
  const { chunk } = pass.variant;
  recorder.launch({
    kernel,
    args: {
      input: src,
      output: dst,
      items,
      parts: Math.ceil(length / chunk),
      length,
      chunk,
      ...(pass.fold === 'sum' ? { scale: pass.scale, divisor: pass.divisor } : {}),
      ...args,
    },
    groups: gridOf(Math.ceil(items / perGroup), traits),
    variant: pass.variant.id,
  });
}

interface Geometry {
  readonly kernel: Kernel;
  readonly items: number;
  readonly perGroup: number;
  /** Those that are the kernel's own. */
  readonly args: Readonly<Record<string, number>>;
}

function geometryOf({ fold, variant }: Pass, { outer, length, inner }: Extents, traits: DeviceTraits): Geometry {
  const { chunk } = variant;
  const results = outer * Math.ceil(length / chunk);
  switch (variant.kind) {
    case 'rows-run': {
      const { columns } = variant;
      const run = runOf(results, chunk * columns, traits);
      return { kernel: rowsRun({ fold, columns }), items: results, perGroup: run, args: { run } };
    }
    case 'columns-run': {
      const tiles = Math.ceil(inner / COLUMNS_RUN_TILE);
      const run = runOf(results * tiles, chunk * Math.min(inner, COLUMNS_RUN_TILE), traits);
      const args = { columns: inner, tiles, run };
      return { kernel: columnsRun({ fold }), items: results * tiles, perGroup: run, args };
    }
    case 'lane':
      return { kernel: lane({ fold }), items: results * inner, perGroup: LANE_GROUP, args: { columns: inner } };
    case 'rows-subgroup': {
      const { size, team: mates } = variant;
      const perGroup = mates === 'group' ? 1 : SUBGROUP_ROWS_GROUP / size;
      return { kernel: rowsSubgroup({ fold, team: mates, size }), items: results, perGroup, args: {} };
    }
    case 'team': {
      const { tile, team: mates } = variant;
      const tiles = Math.ceil(inner / tile);
      const perGroup = Math.floor(TEAM_GROUP / (tile * mates));
      const args = { columns: inner, tiles, tile, team: mates };
      return { kernel: team({ fold }), items: results * tiles, perGroup, args };
    }
  }
}

/** How many pieces of work, of so many elements each, one work-item of a CPU takes. */
function runOf(pieces: number, elements: number, { computeUnits }: DeviceTraits): number {
  return Math.max(Math.ceil(LEAST_RUN / elements), Math.ceil(pieces / (computeUnits * RUNS_PER_THREAD)));
}

/** The kernels that fold on such a device. */
export function foldKernels(traits: DeviceTraits): readonly Kernel[] {
  if (traits.isCpuLike) return cpuKernels();
  const size = subgroupSizeOf(traits);
  return FOLDS.flatMap((fold) => [
    lane({ fold }),
    team({ fold }),
    ...(size === undefined ? [] : ROW_TEAMS.map((mates) => rowsSubgroup({ fold, team: mates, size }))),
  ]);
}

function cpuKernels(): readonly Kernel[] {
  return FOLDS.flatMap((fold) => [
    ...PACKED_COLUMNS.map((columns) => rowsRun({ fold, columns })),
    columnsRun({ fold }),
  ]);
}
