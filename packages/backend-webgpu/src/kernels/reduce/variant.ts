import type { DeviceTraits } from '../recorder.ts';
import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import { COLUMNS_TEAM_SIZE } from './columns-team.wgsl.ts';
import { ROW_TEAMS, ROWS_TEAM_SIZE, type RowTeam } from './rows-team.wgsl.ts';

/** Sizes of a reduction of a packed tensor `[outer, length, inner]` over its middle axis. */
export interface Extents {
  readonly outer: number;
  readonly length: number;
  readonly inner: number;
}

/** Which kernel reduces, and the parts of the axis that are reduced each by itself: `chunk` elements long. */
export type Variant = NamedVariant & { readonly chunk: number } & (
    | { readonly kind: 'rows-lane' }
    | { readonly kind: 'rows-team'; readonly team: RowTeam }
    | { readonly kind: 'columns-lane'; readonly width: 1 | 4 }
    | { readonly kind: 'columns-team'; readonly width: 1 | 4; readonly tile: number; readonly team: number }
  );

/** Shorter rows than this have no aligned middle worth the name. */
const SHORT_ROW = 8;
/** Most neighbouring columns, or groups of four, in a block of a workgroup. */
const WIDEST_TILE = 32;
/**
 * Fewer columns than this, if they are long, are read by teams even where `outer` is large: neighbours would read far
 * apart.
 */
const NARROW = { columns: 16, length: 64 };

/** Invocations that keep a device busy. */
const BUSY = { software: 4096, gpu: 2 ** 18 };
/**
 * Elements that an invocation adds in one pass: no fewer, because another pass costs time too, and no more, so that a
 * chain has 256 steps at most (of 16 elements in a row, of 4 in a column).
 */
const SHARE = {
  row: { software: 2048, gpu: 64, most: 4096 },
  column: { software: 128, gpu: 16, most: 1024 },
};

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  'reduce/rows-lane',
  ...ROW_TEAMS.map((team) => `reduce/rows-team-${team}`),
  'reduce/columns-lane',
  'reduce/columns-team',
];

/**
 * How a tensor can be reduced, and what is best as far as is known. Where there are fewer results than keep the device
 * busy, the axis is cut into parts; their results are reduced in turn.
 *
 * @param hasQuads - four neighbouring columns can be read and written as one vector
 */
export function variantsFor(extents: Extents, traits: DeviceTraits, hasQuads: boolean): VariantQuestion<Variant> {
  const { outer, length, inner } = extents;
  const sizes = [outer, length, inner].map(sizeStep).join(' ');
  const isByRows = inner === 1 && length >= SHORT_ROW;
  const question = isByRows ? rowsVariants(extents, traits) : columnsVariants(extents, traits, hasQuads ? 4 : 1);
  return { ...question, shapeClass: () => `reduce ${isByRows ? 'rows' : `columns x${hasQuads ? 4 : 1}`} ${sizes}` };
}

type Candidates = Pick<VariantQuestion<Variant>, 'candidates' | 'preferred'>;

function rowsVariants(extents: Extents, traits: DeviceTraits): Candidates {
  const { outer, length } = extents;
  const { busy, canTeam } = handsOf(traits);
  const best = canTeam ? rowTeam(length, outer * ROWS_TEAM_SIZE <= busy) : 1;
  // Of a team larger than the row, some have nothing to do.
  const teams = canTeam ? ROW_TEAMS.filter((team) => team <= length) : [];
  const candidates = [1 as const, ...teams].map((team) => rowsVariant(extents, team, traits));
  return { candidates, preferred: rowsVariant(extents, best, traits) };
}

function rowsVariant({ outer, length }: Extents, team: RowTeam | 1, traits: DeviceTraits): Variant {
  const { busy, kind } = handsOf(traits);
  const chunk = chunkOf(length, team, busy / (outer * team), { least: SHARE.row[kind], most: SHARE.row.most });
  if (team === 1) return { id: 'reduce/rows-lane', kind: 'rows-lane', chunk };
  return { id: `reduce/rows-team-${team}`, kind: 'rows-team', team, chunk };
}

/** Where there are many rows, two quads or more for each invocation of a team. */
function rowTeam(length: number, areFew: boolean): RowTeam | 1 {
  if (length >= (areFew ? 256 : 2048)) return 256;
  if (length >= (areFew ? 32 : 256)) return 32;
  return length >= 32 ? 8 : 1;
}

function columnsVariants({ outer, length, inner }: Extents, traits: DeviceTraits, width: 1 | 4): Candidates {
  const { busy, canTeam, kind } = handsOf(traits);
  const columns = inner / width;
  const share = { least: SHARE.column[kind], most: SHARE.column.most };
  const chunkFor = (team: number): number => chunkOf(length, team, busy / (outer * columns * team), share);
  const lane: Variant = { id: 'reduce/columns-lane', kind: 'columns-lane', width, chunk: chunkFor(1) };
  const tile = Math.ceil(columns / Math.ceil(columns / WIDEST_TILE));
  const team = Math.min(Math.floor(COLUMNS_TEAM_SIZE / tile), Math.ceil(length / 4));
  if (!canTeam || team === 1) return { candidates: [lane], preferred: lane };

  const together: Variant = {
    id: 'reduce/columns-team',
    kind: 'columns-team',
    width,
    tile,
    team,
    chunk: chunkFor(team),
  };
  const isNarrow = columns < NARROW.columns && length >= NARROW.length;
  return { candidates: [lane, together], preferred: isNarrow || outer * columns < busy ? together : lane };
}

/** How many invocations a device wants, and whether they can work together. */
function handsOf({ isSoftware, maxInvocations }: DeviceTraits): {
  readonly busy: number;
  readonly canTeam: boolean;
  readonly kind: 'software' | 'gpu';
} {
  const kind = isSoftware ? 'software' : 'gpu';
  const canTeam = !isSoftware && maxInvocations >= Math.max(ROWS_TEAM_SIZE, COLUMNS_TEAM_SIZE);
  return { busy: BUSY[kind], canTeam, kind };
}

/** Cuts an axis into `wanted` or fewer equal parts, a multiple of 4 long, such that a team's shares are in bounds. */
function chunkOf(length: number, team: number, wanted: number, share: { least: number; most: number }): number {
  const parts = Math.max(
    Math.min(Math.floor(wanted), Math.floor(length / (team * share.least))),
    Math.ceil(length / (team * share.most)),
  );
  return parts <= 1 ? length : Math.ceil(length / parts / 4) * 4;
}
