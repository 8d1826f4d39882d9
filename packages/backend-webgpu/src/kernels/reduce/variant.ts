import type { DeviceTraits } from '../recorder.ts';
import { COLUMNS_TEAM_SIZE } from './columns-team.wgsl.ts';
import { ROWS_TEAM_SIZE, type RowTeam } from './rows-team.wgsl.ts';

/** Sizes of a reduction of a packed tensor `[outer, length, inner]` over its middle axis. */
export interface Extents {
  readonly outer: number;
  readonly length: number;
  readonly inner: number;
}

/** Which kernel reduces, and the parts of the axis that are reduced each by itself: `chunk` elements long. */
export type Variant = { readonly chunk: number } & (
  | { readonly kind: 'rows-lane' }
  | { readonly kind: 'rows-team'; readonly team: RowTeam }
  | { readonly kind: 'columns-lane'; readonly width: 1 | 4 }
  | { readonly kind: 'columns-team'; readonly width: 1 | 4; readonly tile: number; readonly team: number }
);

/** Shorter rows than this have no aligned middle worth the name. */
const SHORT_ROW = 8;
/** Most elements of a row that an invocation adds: 4 sums, 4 quads a step, at most 256 steps. */
const MOST_OF_ROW = 4096;
/** Most rows that an invocation adds to a column: 4 a step, at most 256 steps. */
const MOST_OF_COLUMN = 1024;
/** Most neighbouring columns, or groups of four, in a block of a workgroup. */
const WIDEST_TILE = 64;
/** Fewer columns than this, if they are long, are read by teams even where `outer` is large: neighbours would read far apart. */
const NARROW = { columns: 16, length: 64 };

/** Invocations that keep a device busy. */
const BUSY = { software: 4096, gpu: 2 ** 18 };

/**
 * Chooses how a tensor is reduced. Where there are fewer results than keep the device busy, the axis is cut into parts;
 * their results are reduced in turn.
 *
 * @param hasQuads - four neighbouring columns can be read and written as one vector
 */
export function chooseVariant(extents: Extents, traits: DeviceTraits, hasQuads: boolean): Variant {
  const canTeam = !traits.isSoftware && traits.maxInvocations >= Math.max(ROWS_TEAM_SIZE, COLUMNS_TEAM_SIZE);
  const busy = traits.isSoftware ? BUSY.software : BUSY.gpu;
  if (extents.inner === 1 && extents.length >= SHORT_ROW) return rowsVariant(extents, canTeam, busy);
  return columnsVariant(extents, hasQuads ? 4 : 1, canTeam, busy);
}

function rowsVariant({ outer, length }: Extents, canTeam: boolean, busy: number): Variant {
  const team = canTeam ? rowTeam(length) : 1;
  const chunk = chunkOf(length, busy / (outer * team), {
    least: (team === 1 ? 1024 : 16) * team,
    most: MOST_OF_ROW * team,
  });
  return team === 1 ? { kind: 'rows-lane', chunk } : { kind: 'rows-team', team, chunk };
}

/** At least two quads for each invocation of a team. */
function rowTeam(length: number): RowTeam | 1 {
  if (length >= 2048) return 256;
  if (length >= 256) return 32;
  return length >= 32 ? 8 : 1;
}

function columnsVariant({ outer, length, inner }: Extents, width: 1 | 4, canTeam: boolean, busy: number): Variant {
  const columns = inner / width;
  const tile = Math.ceil(columns / Math.ceil(columns / WIDEST_TILE));
  const team = Math.min(Math.floor(COLUMNS_TEAM_SIZE / tile), Math.ceil(length / 4));
  const isNarrow = columns < NARROW.columns && length >= NARROW.length;
  const isTeamWork = canTeam && team > 1 && (outer * columns < busy || isNarrow);
  const hands = isTeamWork ? team : 1;
  const chunk = chunkOf(length, busy / (outer * columns * hands), { least: 16 * hands, most: MOST_OF_COLUMN * hands });
  return isTeamWork ? { kind: 'columns-team', width, tile, team, chunk } : { kind: 'columns-lane', width, chunk };
}

/** The length of `parts` or so equal parts of an axis, a multiple of 4 that respects the limits unless there is one part. */
function chunkOf(length: number, parts: number, { least, most }: { least: number; most: number }): number {
  const wanted = Math.min(Math.max(length / parts, least), most);
  const count = Math.ceil(length / wanted);
  return count === 1 ? length : Math.min(Math.ceil(length / count / 4) * 4, most);
}
