import type { Kernel } from '../kernel.ts';
import { bindable } from '../operands.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import { COLUMNS_LANE_SIZE, columnsLane } from './columns-lane.wgsl.ts';
import { COLUMNS_TEAM_SIZE, columnsTeam } from './columns-team.wgsl.ts';
import { type Fold, FOLDS } from './fold.wgsl.ts';
import { ROWS_LANE_SIZE, rowsLane } from './rows-lane.wgsl.ts';
import { ROW_TEAMS, ROWS_TEAM_SIZE, rowsTeam } from './rows-team.wgsl.ts';
import type { Extents, Variant } from './variant.ts';

/** How one pass over a tensor folds it. */
export interface Pass {
  readonly fold: Fold;
  readonly variant: Variant;
  /** What each element is multiplied with, a power of two. */
  readonly scale: number;
  /** What each result is divided by. */
  readonly divisor: number;
}

/** Bytes of a quad: the least that can be bound as an array of them. */
const QUAD_BYTES = 16;

/**
 * Launches a pass over a packed tensor that fits a binding.
 *
 * @param src - `[outer, length, inner]`
 * @param dst - `[outer, parts, inner]`
 */
export function launchPass(pass: Pass, extents: Extents, src: Span, dst: Span, recorder: Recorder): void {
  const { fold, scale, divisor } = pass;
  const { outer, length, inner } = extents;
  const from = bindable(src, recorder.traits.storageAlignment);
  const to = bindable(dst, recorder.traits.storageAlignment);
  const variant = forSpan(pass.variant, from.span);
  const { chunk } = variant;
  const parts = Math.ceil(length / chunk);
  const elementBytes = 'width' in variant ? 4 * variant.width : 4;
  const columns = (inner * 4) / elementBytes;
  const items = outer * parts * columns;
  const storage = { input: from.span, output: to.span };
  const common = {
    parts,
    length,
    chunk,
    offset: from.byteOffset / elementBytes,
    result: to.byteOffset / elementBytes,
    scale,
    divisor,
  };
  switch (variant.kind) {
    case 'rows-lane':
      recorder.launch({
        kernel: rowsLane({ fold }),
        storage: { ...storage, quads: from.span },
        uniforms: { ...common, items },
        groups: Math.ceil(items / ROWS_LANE_SIZE),
        variant: variant.id,
      });
      break;
    case 'rows-team': {
      const { team } = variant;
      recorder.launch({
        kernel: rowsTeam({ fold, team }),
        storage: { ...storage, quads: from.span },
        uniforms: { ...common, items },
        groups: Math.ceil((items * team) / ROWS_TEAM_SIZE),
        variant: variant.id,
      });
      break;
    }
    case 'columns-lane':
      recorder.launch({
        kernel: columnsLane({ fold, width: variant.width }),
        storage,
        uniforms: { ...common, items, columns },
        groups: Math.ceil(items / COLUMNS_LANE_SIZE),
        variant: variant.id,
      });
      break;
    case 'columns-team': {
      // A window may hold fewer columns than the tensor that the tile was made for.
      const tile = Math.min(variant.tile, columns);
      const tiles = Math.ceil(columns / tile);
      const blocks = outer * parts * tiles;
      const blocksPerGroup = Math.floor(COLUMNS_TEAM_SIZE / (tile * variant.team));
      recorder.launch({
        kernel: columnsTeam({ fold, width: variant.width }),
        storage,
        uniforms: { ...common, blocks, tiles, tile, team: variant.team, columns },
        groups: Math.ceil(blocks / blocksPerGroup),
        variant: variant.id,
      });
    }
  }
}

/** The last piece of a tensor may be too small to be bound as quads. */
function forSpan(variant: Variant, { byteLength }: Span): Variant {
  const isByRows = variant.kind === 'rows-lane' || variant.kind === 'rows-team';
  if (!isByRows || byteLength >= QUAD_BYTES) return variant;
  return { id: 'reduce/columns-lane', kind: 'columns-lane', width: 1, chunk: variant.chunk };
}

/** Every kernel of the family. */
export function allKernels({ isSoftware }: DeviceTraits): readonly Kernel[] {
  const widths = [1, 4] as const;
  return FOLDS.flatMap((fold) => [
    rowsLane({ fold }),
    ...widths.map((width) => columnsLane({ fold, width })),
    ...(isSoftware ? [] : ROW_TEAMS.map((team) => rowsTeam({ fold, team }))),
    ...(isSoftware ? [] : widths.map((width) => columnsTeam({ fold, width }))),
  ]);
}
