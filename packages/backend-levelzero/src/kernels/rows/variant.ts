import type { Kernel } from '@concord/backend-core/kernel';
import { foldsOf, partFoldsOf, phasesOf, scansOf, stateLength } from '@concord/kernel';
import type { NamedVariant } from '@concord/variants';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import { MIN_RUN, RUNS_PER_THREAD } from '../work.ts';
import type { DeviceTraits } from '../recorder.ts';
import type { PlanAxes, RunToPlan } from '../run/call-geometry.ts';
import type { RunForm } from '../run/form.ts';
import { rowBlock } from './rows.spv.ts';
import { unrollOf } from './states.ts';
import { type TeamKind, teamLocalBytes } from './team.ts';

/** The way in which rows are computed. */
export interface RowsVariant extends NamedVariant {
  readonly kind: 'runs' | TeamKind;
  readonly along: RunForm['along'];
  readonly width: Width;
  readonly groupSize: number;
  readonly subgroupSize: number | undefined;
  readonly kept: number;
  /** Lines of a row, and vectors of a line. */
  readonly lines: number;
  readonly units: number;
  /** Blocks of the last axis of rows, where vectors lie along it; and whether any is whole. */
  readonly blocks: number;
  readonly hasWholeBlocks: boolean;
  /** Rows or blocks. */
  readonly items: number;
  /** Elements of an item. */
  readonly elements: number;
  /** Items of a group; a CPU's work-item takes several, one after the other. */
  readonly perGroup: number;
  /** Parts of a row that are worked on each by itself, and the size of one: lines, or of one line elements or vectors. */
  readonly parts: number;
  readonly part: number;
}

/** The maximum number of additions one after the other: docs/numerics.md counts on it. */
const MAX_CHAIN = 1024;

/** Blocks of additions that a scan of a part may join one after the other. */
const SCAN_BLOCKS = 256;
/** Elements that a part of a row has at least where it is scanned. */
const MIN_SCANNED = 64;

/** Work-items that keep a core of a GPU busy. */
const LANES_PER_UNIT = 2048;
/** Work-items of a team that is a group; of one without sub-groups, whose rows are short; of a group of lanes. */
const [GROUP, SMALL_GROUP, LANES] = [256, 64, 64];
/** Vectors that a work-item of a part has at least. */
const MIN_SHARE = 4;
/** Numbers of a row that a work-item keeps in registers. */
const MAX_KEPT = 16;
/** The size of sub-groups that Intel's GPUs all have. */
const USUAL_SUBGROUP = 16;

/** Every variant of rows. */
export const VARIANT_IDS: readonly string[] = [
  'run/rows-runs',
  'run/rows-alone',
  'run/rows-subgroup',
  'run/rows-group',
];

/** The ways in which the rows of a call can be computed, the best first. */
export function rowsVariants(call: RunToPlan, axes: PlanAxes, traits: DeviceTraits): readonly RowsVariant[] {
  const along = alongOf(call, axes);
  if (traits.isCpuLike) return [runs(call, axes, along, traits)];
  const { kernel } = call.geometry;
  return teams(call, axes, along, traits).filter((each) => localBytes(kernel, each) <= traits.maxLocalBytes);
}

/** Bytes of workgroup memory of a kernel: each pass has its own, and where rows are cut in parts a separate kernel. */
function localBytes(kernel: Kernel, { kind, groupSize, subgroupSize, parts }: RowsVariant): number {
  if (kind === 'runs') return 0;
  const bytes = (parts > 1 ? partFoldsOf : foldsOf)(kernel).map((folds) =>
    teamLocalBytes({ kind, groupSize, subgroupSize }, stateLength(folds)),
  );
  return parts > 1 ? Math.max(0, ...bytes) : bytes.reduce((sum, own) => sum + own, 0);
}

/** The size of sub-groups that kernels ask for; undefined if there are none to use. */
export function subgroupSizeOf({ subgroupSizes }: DeviceTraits): number | undefined {
  const fitting = subgroupSizes.filter((size) => size > 1 && GROUP % size === 0);
  return fitting.includes(USUAL_SUBGROUP) ? USUAL_SUBGROUP : fitting[0];
}

/** Returns the direction along which most operands of elements are dense. */
function alongOf({ geometry }: RunToPlan, { rows, folded }: PlanAxes): RunForm['along'] {
  const { inputs, outputs } = geometry;
  const count = (strides: readonly (readonly number[])[] | undefined): number =>
    [...inputs, ...outputs].filter(({ access }, index) => access === 'element' && strides?.[index]?.at(-1) === 1)
      .length;
  const [inRow, across] = [count(folded?.strides), count(rows.strides)];
  return across > inRow ? 'rows' : 'folded';
}

function runs(
  { geometry }: RunToPlan,
  { rows, folded }: PlanAxes,
  along: RunForm['along'],
  { computeUnits }: DeviceTraits,
): RowsVariant {
  const { kernel, rowCount, rowLength } = geometry;
  const last = along === 'rows' ? (rows.sizes.at(-1) ?? 1) : (folded?.sizes.at(-1) ?? 1);
  const isScan = scansOf(kernel) !== undefined;
  const width = isScan && along === 'folded' ? 1 : last >= 16 ? 16 : last >= 4 ? 4 : 1;
  const inner = folded?.sizes.at(-1) ?? 1;
  const lines = inner === 0 ? 0 : rowLength / inner;
  const [block, unroll] = [rowBlock({ kernel, width }), unrollOf(kernel)];
  const blocks = along === 'rows' ? Math.ceil(last / block) : 1;
  const items = along === 'rows' ? (rowCount / last) * blocks : rowCount;
  const size = along === 'rows' ? Math.min(last, block) : 1;
  const wanted = Math.min((computeUnits * RUNS_PER_THREAD) / items, (rowLength * size) / MIN_RUN);
  const side = isScan ? SCAN_BLOCKS : along === 'folded' ? width * unroll : last >= block ? 1 : unroll;
  // Where lines are cut apart they are, else the one line that there is.
  const [units, least] = (folded?.sizes.length ?? 0) > 1 ? [lines, 1] : [rowLength, width * unroll];
  const { parts, part } = cut(units, wanted, rowLength / units / side, least);
  return {
    id: 'run/rows-runs',
    kind: 'runs',
    along,
    width,
    groupSize: 1,
    subgroupSize: undefined,
    kept: 0,
    lines,
    units: 1,
    blocks,
    hasWholeBlocks: along === 'rows' && width > 1 && last >= block,
    items,
    elements: rowLength * size,
    perGroup: 1,
    parts,
    part,
  };
}

/** Cuts units into about `wanted` parts, more where a part's chain of additions would be too long. */
function cut(
  units: number,
  wanted: number,
  chainPerUnit: number,
  least: number,
): { readonly parts: number; readonly part: number } {
  if (units === 0) return { parts: 1, part: 0 };
  const forChain = Math.ceil((units * chainPerUnit) / MAX_CHAIN);
  const parts = Math.min(units, Math.max(Math.floor(wanted), forChain));
  if (parts <= 1) return { parts: 1, part: units };
  const part = Math.ceil(units / parts / least) * least;
  return { parts: Math.ceil(units / part), part };
}

function teams(
  call: RunToPlan,
  { rows, folded }: PlanAxes,
  along: RunForm['along'],
  traits: DeviceTraits,
): readonly RowsVariant[] {
  const { kernel, rowCount, rowLength } = call.geometry;
  const busy = traits.computeUnits * LANES_PER_UNIT;
  const last = rows.sizes.at(-1) ?? 1;
  const inner = folded?.sizes.at(-1) ?? 1;
  const lines = inner === 0 ? 0 : rowLength / inner;
  const size = subgroupSizeOf(traits);
  const isScan = scansOf(kernel) !== undefined;
  const make = (kind: TeamKind, width: Width, groupSize: number, lanes: number): RowsVariant => {
    const units = along === 'folded' ? inner / width : inner;
    const blocks = along === 'rows' ? Math.ceil(last / width) : 1;
    const items = along === 'rows' ? (rowCount / last) * blocks : rowCount;
    const all = lines * units;
    const wanted = Math.min(busy / (items * lanes), all / (lanes * (isScan ? MIN_SCANNED : MIN_SHARE)));
    const side = isScan ? SCAN_BLOCKS : lanes * unrollOf(kernel);
    const { parts, part } = cut(all, wanted, 1 / side, lanes);
    const share = Math.ceil(all / lanes);
    const keeps =
      isReadAgain(kernel) && along === 'folded' && kind !== 'alone' && share > 0 && share * width <= MAX_KEPT;
    return {
      id: `run/rows-${kind}`,
      kind,
      along,
      width,
      groupSize,
      subgroupSize: kind === 'alone' ? undefined : size,
      kept: keeps ? 2 ** Math.ceil(Math.log2(share)) : 0,
      lines,
      units,
      blocks,
      hasWholeBlocks: false,
      items,
      elements: rowLength * (along === 'rows' ? width : 1),
      perGroup: groupSize / lanes,
      parts,
      part,
    };
  };
  if (along === 'rows') {
    const areMany = last % 4 === 0 && rowCount / 4 >= busy;
    return [make('alone', areMany ? 4 : 1, LANES, 1)];
  }
  if (isScan) return [make('alone', 1, LANES, 1)];
  const width = inner >= 4 && inner % 4 === 0 ? 4 : 1;
  const units = lines * (inner / width);
  const alone = make('alone', width, LANES, 1);
  const least = size ?? SMALL_GROUP;
  if (units < least / 4) return [alone];
  const byGroup = make('group', width, GROUP, GROUP);
  const bySubgroup =
    size === undefined ? make('group', width, SMALL_GROUP, SMALL_GROUP) : make('subgroup', width, GROUP, size);
  // What is read again is best kept, by the smallest team that can; what is read once goes to large teams only where there
  // are few rows, or long ones.
  const isLong = isReadAgain(kernel)
    ? units * width > least * MAX_KEPT
    : units > MIN_SHARE * least * (rowCount * GROUP <= busy ? 1 : 4);
  return isLong ? [byGroup, bySubgroup, alone] : [bySubgroup, byGroup, alone];
}

/** Returns whether a row is gone through more than once. */
function isReadAgain(kernel: Kernel): boolean {
  return phasesOf(kernel).folds.length > 1 || kernel.outputs.some(({ level }) => level === 'element');
}
