import { phasesOf, type RowClass, rowClasses } from '@concord/kernel';
import { type NamedVariant, pickVariant, sizeStep } from '@concord/variants';
import { maxLoopIterations } from '../loop-iterations.ts';
import type { DeviceTraits, Recorder, Span } from '../recorder.ts';
import type { BoundPiece, VectorLayout } from '../run/bind.ts';
import { kernelOfGraph } from '../run/kernels-of-graph.ts';
import { launchPiece, specOf, uniformValues } from '../run/launch-piece.ts';
import type { Piece } from '../run/piece.ts';
import { rowsKernel } from './rows.wgsl.ts';
import { FIRST_PLACE, placeName, type RowsSpec } from './rows-spec.ts';
import { planesBefore } from './scratch-code.ts';

/** How rows are spread over lanes, and in how many parts. */
type Way = NamedVariant & RowClass & { readonly isAcross: boolean; readonly chunk: number };

/** Every variant of the families that fold. */
export const VARIANT_IDS: readonly string[] = ['rows/registers', 'rows/lane', 'rows/again', 'columns/lane', 'columns/team', 'stages/rows', 'stages/columns'];

/** Invocations that keep a device busy. */
const BUSY = { software: 4096, gpu: 2 ** 18 };
/** Fewer elements than this are not worth a second launch. */
const LEAST_PARTED = 2 ** 16;
/** Most steps that a lane joins one after the other, four at a time. */
const MOST_STEPS = 4096;
/** Neighbouring columns of a workgroup, and the lanes that share each. */
const COLUMNS = { alone: 64, wide: 32, team: 8 };

/** Launches a kernel with folds over a piece of whole rows. */
export function launchRows(
  piece: Piece,
  bound: BoundPiece,
  vectors: VectorLayout,
  params: readonly number[],
  recorder: Recorder,
): void {
  const { rowRank, sizes } = piece;
  const isAcross = vectors.axis < rowRank;
  const product = (list: readonly number[]): number => list.reduce((all, size) => all * size, 1);
  const [rowElements, length] = [product(sizes.slice(0, rowRank)), product(sizes.slice(rowRank))];
  const rows = isAcross ? rowElements / vectors.width : rowElements;
  const steps = isAcross ? length : length / vectors.width;
  const way = chooseWay(piece, { rows, steps, isAcross, width: vectors.width }, recorder);
  const base = specOf(piece, bound, vectors);
  const { subgroupSize, hasSubgroups } = recorder.traits;
  const team = {
    team: way.team,
    rows: way.rows,
    isAcross,
    subgroup: hasSubgroups && !isAcross && way.team > 1 ? subgroupSize : 0,
  };
  const uniforms = {
    ...uniformValues(piece, bound, base, params),
    ...rowUniforms(piece, rows, steps),
  };
  const spec = (stage: number | undefined): RowsSpec => ({ ...base, team, vectors: stage === undefined ? way.vectors : 0, stage });
  const kernel = (stage: number | undefined) =>
    kernelOfGraph('rows', spec(stage), (name, own) => rowsKernel(`${name} ${way.id}`, own));
  const parts = Math.max(1, Math.ceil(steps / way.chunk));
  const groups = Math.ceil(rows / way.rows);
  if (parts === 1) {
    launchPiece(recorder, bound, kernel(undefined), { uniforms, groups, variant: way.id });
    return;
  }
  const { folds } = phasesOf(piece.geometry.kernel);
  const plane = parts * rowElements;
  const scratch = recorder.scratch(Math.max(4, 4 * plane * planesBefore(base, folds.length)));
  const hasElements = piece.geometry.kernel.outputs.some(({ level }) => level === 'element');
  for (let stage = 0; stage <= folds.length; stage++) {
    const own = stage === folds.length && !hasElements ? 1 : parts;
    launchPiece(recorder, bound, kernel(stage), {
      uniforms: { ...uniforms, chunk: way.chunk, parts: own, first_part: 0, all_parts: parts, plane },
      groups: groups * own,
      variant: way.id,
      scratch,
    });
  }
}

interface Question {
  readonly rows: number;
  readonly steps: number;
  readonly isAcross: boolean;
  readonly width: 1 | 4;
}

function chooseWay(piece: Piece, question: Question, recorder: Recorder): Way {
  const { rows, steps, isAcross, width } = question;
  const candidates = isAcross
    ? columnWays(question, recorder.traits)
    : rowWays(piece, question, recorder.traits);
  const shapeClass = (): string =>
    `${isAcross ? 'columns' : 'rows'} x${width} ${piece.geometry.kernel.name} ${[rows, steps].map(sizeStep).join(' ')}`;
  return pickVariant(recorder, { shapeClass, candidates, preferred: candidates[0] as Way });
}

function rowWays(piece: Piece, { rows, steps, width }: Question, traits: DeviceTraits): readonly Way[] {
  const { kernel } = piece.geometry;
  const { folds } = phasesOf(kernel);
  const hasElements = kernel.outputs.some(({ level }) => level === 'element');
  const classes = rowClasses({
    length: steps * width,
    width,
    count: rows,
    passes: folds.length + (hasElements ? 1 : 0),
    maxLanes: traits.maxInvocations,
    prefersLanes: traits.isSoftware,
  });
  return classes.map((rowClass): Way => {
    const own = rowClass.team === 1 ? 'rows/lane' : rowClass.vectors === 0 ? 'rows/again' : 'rows/registers';
    const chunk = chunkOf({ rows, steps, width, team: rowClass.team }, traits);
    if (chunk >= steps) return { ...rowClass, id: own, isAcross: false, chunk: steps };
    // In parts, rows are read by as many lanes as there are.
    const team = rowClass.team === 1 ? rowClass : { team: Math.min(256, traits.maxInvocations), rows: 1, vectors: 0 as const };
    return { ...team, id: 'stages/rows', isAcross: false, chunk: chunkOf({ rows, steps, width, team: team.team }, traits) };
  });
}

function columnWays({ rows, steps, width }: Question, traits: DeviceTraits): readonly Way[] {
  const alone = { team: 1, rows: COLUMNS.alone, vectors: 0 as const, isAcross: true };
  const across = powerUpTo(Math.min(COLUMNS.wide, rows));
  const team = {
    team: Math.min(powerUpTo(traits.maxInvocations) / across, Math.max(COLUMNS.team, 256 / across)),
    rows: across,
    vectors: 0 as const,
    isAcross: true,
  };
  const way = (kind: typeof alone, id: string): Way => {
    const chunk = chunkOf({ rows, steps, width, team: kind.team }, traits);
    return chunk >= steps ? { ...kind, id, chunk: steps } : { ...kind, id: 'stages/columns', chunk };
  };
  const lone = way(alone, 'columns/lane');
  if (traits.isSoftware || steps < 2 * team.team) return [lone];
  const together = way(team, 'columns/team');
  return rows >= BUSY.gpu ? [lone, together] : [together, lone];
}

/** Steps of a part: all, where there are rows enough to keep the device busy. */
function chunkOf(
  { rows, steps, width, team }: { rows: number; steps: number; width: number; team: number },
  traits: DeviceTraits,
): number {
  const { isSoftware } = traits;
  const busy = isSoftware ? BUSY.software : BUSY.gpu;
  const wanted = steps * width * rows < LEAST_PARTED ? 1 : Math.floor(busy / (rows * team));
  const share = isSoftware ? 512 : 16;
  const parts = Math.min(wanted, Math.floor(steps / (team * share)));
  const most = Math.min(MOST_STEPS, Math.floor(maxLoopIterations(traits) / 4)) * team;
  const needed = Math.max(1, parts, Math.ceil(steps / most));
  return needed === 1 ? Math.max(1, steps) : Math.ceil(steps / needed / team) * team;
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
  // The mean of n elements: scaled by a power of two so that their sum stays finite, then divided by n over it.
  const whole = 2 ** Math.ceil(Math.log2(Math.max(1, geometry.rowLength)));
  return { ...values, scale: 1 / whole, divisor: geometry.rowLength / whole };
}

function powerUpTo(value: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, value)));
}

/** Memory that the stages share. */
export type Scratch = Span;
