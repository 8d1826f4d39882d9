import type { Kernel, ValueType } from '@concord/backend-core/kernel';
import {
  foldsOf,
  meanScale,
  partFoldsOf,
  phasesOf,
  type RowClass,
  rowClasses,
  scansOf,
  stateLength,
} from '@concord/kernel';
import { type NamedVariant, pickVariant, sizeStep } from '@concord/variants';
import { type DeviceTraits, maxLoopIterations, type Recorder, type Span } from '../recorder.ts';
import type { VectorLayout } from '../run/bind.ts';
import { kernelOfGraph } from '../kernel.ts';
import { launchPiece, specOf, uniformValues } from '../run/launch-piece.ts';
import type { BoundWindow, Piece } from '../run/piece.ts';
import { rowsKernel } from './rows.wgsl.ts';
import { FIRST_PLACE, placeName, type RowsSpec, unrollOf } from './rows-spec.ts';
import { planesBefore } from './fold-code.ts';
import { teamBytes, type TeamSpec } from './team.ts';
import { teamScanBytes } from './team-scan.ts';

/** The distribution of rows over lanes, and the number of their parts. */
type Variant = NamedVariant & RowClass & { readonly isAcross: boolean; readonly chunk: number };

/** Every variant of the families that fold. */
export const VARIANT_IDS: readonly string[] = [
  'rows/registers',
  'rows/lane',
  'rows/again',
  'columns/lane',
  'columns/team',
  'stages/rows',
  'stages/columns',
];

/** Invocations that keep a device busy. */
const BUSY = { software: 4096, gpu: 2 ** 18 };
/** The number of elements below which a second launch does not pay. */
const MIN_PARTED = 2 ** 16;
/**
 * The longest chain of additions that documented error bounds leave to loops: of a lane's steps, or of those and of the
 * parts that are joined after. The rest of it, twice the logarithm, is for trees.
 */
const CHAIN = { alone: 1024, steps: 512, parts: 480 };
/** Neighbouring columns of a workgroup, and the lanes that share each. */
const COLUMNS = { alone: 64, wide: 32, team: 8 };

/**
 * Launches a kernel with folds over a piece of whole rows, which lie in one window or more.
 *
 * @returns whether it could; not where the parts of its folds exceed a binding
 */
export function launchRows(
  windows: readonly BoundWindow[],
  vectors: VectorLayout,
  params: readonly number[],
  recorder: Recorder,
): boolean {
  const { piece } = windows[0] as BoundWindow;
  const { rowRank, sizes, geometry } = piece;
  const { kernel } = geometry;
  const isAcross = vectors.axis < rowRank;
  const rowElements = product(sizes.slice(0, rowRank));
  const rows = isAcross ? rowElements / vectors.width : rowElements;
  const stepsOf = (window: Piece): number => product(window.sizes.slice(rowRank)) / (isAcross ? 1 : vectors.width);
  const steps = windows.reduce((sum, window) => sum + stepsOf(window.piece), 0);
  const question = { rows, steps, isAcross, width: vectors.width, windows: windows.length };
  const variant = chooseVariant(piece, question, recorder);
  const groups = Math.ceil(rows / variant.rows);
  const launch = (
    window: BoundWindow,
    stage: number | undefined,
    { count, uniforms, scratch }: { count: number; uniforms?: Record<string, number>; scratch?: Span },
  ): void => {
    const base = specOf(window.piece, window.bound, vectors);
    const spec: RowsSpec = {
      ...base,
      team: teamOf(variant, recorder.traits),
      vectors: stage === undefined ? variant.vectors : 0,
      stage,
    };
    launchPiece(
      recorder,
      window.bound,
      kernelOfGraph('rows', spec, (name, own) => rowsKernel(`${name} ${variant.id}`, own)),
      {
        uniforms: {
          ...uniformValues(window.piece, window.bound, base, params),
          ...rowUniforms(window.piece, rows, stepsOf(window.piece)),
          ...uniforms,
        },
        groups: count,
        variant: variant.id,
        ...(scratch === undefined ? {} : { scratch }),
      },
    );
  };
  const parts = windows.map((window) => Math.max(1, Math.ceil(stepsOf(window.piece) / Math.max(1, variant.chunk))));
  const allParts = parts.reduce((sum, own) => sum + own, 0);
  if (allParts === 1) {
    launch(windows[0] as BoundWindow, undefined, { count: groups });
    return true;
  }
  // Windows are in the order of elements only along the first of the folded axes.
  const isInOrder = windows.length === 1 || sizes.slice(rowRank).filter((size) => size > 1).length <= 1;
  if (!isInOrder && scansOf(kernel) !== undefined) return false;
  const phases = partFoldsOf(kernel).length;
  const plane = allParts * rowElements;
  const bytes = Math.max(4, 4 * plane * planesBefore(kernel, phases));
  if (bytes > recorder.traits.maxBindingBytes) return false;
  const scratch = recorder.scratch(bytes);
  const hasElements = kernel.outputs.some(({ level }) => level === 'element');
  for (let stage = 0; stage <= phases; stage++) {
    const storesRowsOnly = stage === phases && !hasElements;
    let firstPart = 0;
    for (const [index, window] of (storesRowsOnly ? windows.slice(0, 1) : windows).entries()) {
      const own = storesRowsOnly ? 1 : (parts[index] as number);
      const uniforms = { chunk: variant.chunk, parts: own, first_part: firstPart, all_parts: allParts, plane };
      launch(window, stage, { count: groups * own, uniforms, scratch });
      firstPart += own;
    }
  }
  return true;
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1);
}

function teamOf({ team, rows, isAcross }: TeamShape, { hasSubgroups, subgroupSize }: DeviceTraits): TeamSpec {
  return { team, rows, isAcross, subgroup: hasSubgroups && !isAcross && team > 1 ? subgroupSize : 0 };
}

interface Question {
  readonly rows: number;
  /** The steps of a row, in all windows. */
  readonly steps: number;
  readonly isAcross: boolean;
  readonly width: 1 | 4;
  readonly windows: number;
}

function chooseVariant(piece: Piece, question: Question, recorder: Recorder): Variant {
  const { rows, steps, isAcross, width } = question;
  const variantsOf = isAcross ? columnVariants : rowVariants;
  const candidates = variantsOf(piece, question, recorder.traits);
  const shapeClass = (): string =>
    `${isAcross ? 'columns' : 'rows'} x${width} ${piece.geometry.kernel.name} ${[rows, steps].map(sizeStep).join(' ')}`;
  return pickVariant(recorder, { shapeClass, candidates, preferred: candidates[0] as Variant });
}

function rowVariants(piece: Piece, question: Question, traits: DeviceTraits): readonly Variant[] {
  const { rows, steps, width, windows } = question;
  const { kernel } = piece.geometry;
  // Nothing to read: rows from identities.
  if (steps === 0) return [{ id: 'rows/lane', team: 1, rows: 64, vectors: 0, isAcross: false, chunk: 0 }];
  const classes = rowClasses({
    length: steps * width,
    width,
    count: rows,
    passes: passesOf(kernel),
    maxLanes: traits.maxInvocations,
    prefersLanes: traits.isSoftware,
  });
  const fits = ({ team, rows: together, vectors }: RowClass): boolean =>
    fitsMemory(kernel, { team, rows: together, isAcross: false, vectors }, width, traits);
  return classes.filter(fits).map((rowClass): Variant => {
    const own = rowClass.team === 1 ? 'rows/lane' : rowClass.vectors === 0 ? 'rows/again' : 'rows/registers';
    const { chunk, isBounded } = chunkOf(kernel, question, rowClass.team, traits);
    if (chunk >= steps && windows === 1) return { ...rowClass, id: own, isAcross: false, chunk: steps };
    if (rowClass.team === 1 && isBounded) return { ...rowClass, id: 'stages/rows', isAcross: false, chunk };
    // In parts, rows are read by as many lanes as there are.
    const team = fitting(
      kernel,
      { team: Math.min(256, traits.maxInvocations), rows: 1, isAcross: false },
      width,
      traits,
    );
    const parts = chunkOf(kernel, question, team, traits);
    return { team, rows: 1, vectors: 0, id: 'stages/rows', isAcross: false, chunk: parts.chunk };
  });
}

function columnVariants(piece: Piece, question: Question, traits: DeviceTraits): readonly Variant[] {
  const { rows, steps, width, windows } = question;
  const across = powerUpTo(Math.min(COLUMNS.wide, rows));
  const max = Math.min(powerUpTo(traits.maxInvocations) / across, Math.max(COLUMNS.team, 256 / across));
  const lanes = fitting(piece.geometry.kernel, { team: max, rows: across, isAcross: true }, width, traits);
  const variant = (team: number, columns: number, id: string): Variant & { readonly isBounded: boolean } => {
    const { chunk, isBounded } = chunkOf(piece.geometry.kernel, question, team, traits);
    const kind = { team, rows: columns, vectors: 0, isAcross: true } as const;
    if (chunk >= steps && windows === 1) return { ...kind, isBounded, id, chunk: steps };
    return { ...kind, isBounded, id: 'stages/columns', chunk };
  };
  const lone = variant(1, COLUMNS.alone, 'columns/lane');
  const together = variant(lanes, across, 'columns/team');
  if (!lone.isBounded) return [together];
  if (traits.isSoftware || steps < 2 * lanes) return [lone];
  return rows >= BUSY.gpu ? [lone, together] : [together, lone];
}

type TeamShape = Pick<Variant, 'team' | 'rows' | 'isAcross'> & Partial<Pick<Variant, 'vectors'>>;

/** Returns whether a team's values fit the memory of a workgroup. */
function fitsMemory(kernel: Kernel, variant: TeamShape, width: 1 | 4, traits: DeviceTraits): boolean {
  const phases: ValueType[][] = foldsOf(kernel).map((folds) => folds.flatMap(({ folding }) => folding.state));
  const [team, own] = [teamOf(variant, traits), variant.isAcross ? width : 1];
  const scans = scansOf(kernel);
  const sets = variant.vectors || unrollOf(kernel, width);
  const ofScans = scans === undefined ? 0 : teamScanBytes(team, stateLength(scans.folds), own, sets);
  if (ofScans > 0) phases.push((scans?.folds ?? []).flatMap(({ folding }) => folding.state));
  return teamBytes(team, phases, own) + ofScans <= traits.maxWorkgroupBytes;
}

/** The maximum number of lanes of a team, up to those wanted, whose values fit the memory of a workgroup. */
function fitting(kernel: Kernel, wanted: TeamShape, width: 1 | 4, traits: DeviceTraits): number {
  let { team } = wanted;
  while (!fitsMemory(kernel, { ...wanted, team }, width, traits)) team /= 2;
  return team;
}

/** The number of times that a row is read or written. */
function passesOf(kernel: Kernel): number {
  const hasElements = kernel.outputs.some(({ level }) => level === 'element');
  return phasesOf(kernel).folds.length + (hasElements ? 1 : 0);
}

/**
 * Steps of a part: all, where there are rows enough to keep the device busy.
 *
 * @returns also whether chains of additions are as short as error bounds have them
 */
function chunkOf(
  kernel: Kernel,
  { rows, steps, width, windows }: Question,
  team: number,
  traits: DeviceTraits,
): { readonly chunk: number; readonly isBounded: boolean } {
  const { isSoftware } = traits;
  const busy = isSoftware ? BUSY.software : BUSY.gpu;
  const wanted = steps * width * rows < MIN_PARTED ? 1 : Math.floor(busy / (rows * team));
  const share = isSoftware ? 512 : 16;
  const parts = Math.min(wanted, Math.floor(steps / (team * share)));
  // A loop has some iterations more: those that take one step, and those that end it.
  const iterations = Math.floor(maxLoopIterations(traits) / (passesOf(kernel) + 1)) - 8;
  const atOnce = unrollOf(kernel, width) * team;
  if (parts <= 1 && windows === 1 && steps <= Math.min(CHAIN.alone, iterations) * atOnce) {
    return { chunk: Math.max(1, steps), isBounded: true };
  }
  const least = Math.ceil(steps / (Math.min(CHAIN.steps, iterations) * atOnce));
  // Each window may end with a part that is shorter.
  const max = Math.min(CHAIN.parts, iterations) * team - windows;
  const count = Math.max(1, least, Math.min(parts, max));
  return { chunk: Math.ceil(steps / count / team) * team, isBounded: least <= max };
}

function rowUniforms(piece: Piece, rows: number, steps: number): Record<string, number> {
  const { rowRank, starts, geometry } = piece;
  const full = piece.full.slice(rowRank);
  const values: Record<string, number> = { rows, steps, [FIRST_PLACE]: 0 };
  let counts = 1;
  for (let axis = full.length - 1; axis >= 0; axis--) {
    values[placeName(rowRank + axis)] = counts;
    values[FIRST_PLACE] = (values[FIRST_PLACE] as number) + (starts[rowRank + axis] as number) * counts;
    counts *= full[axis] as number;
  }
  return { ...values, ...meanScale(geometry.rowLength) };
}

function powerUpTo(value: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, value)));
}
