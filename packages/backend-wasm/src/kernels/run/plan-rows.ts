import { BYTES_OF } from '@concord/backend-core/implement';
import type { CheckedRun } from '@concord/backend-core/kernel';
import { partFoldsOf, type RunAxes, scansOf } from '@concord/kernel';
import { LANES } from './cursor.ts';
import { STATE_BYTES } from './fold-states.ts';
import { names, nodesToKeep, ONE_LINE, type RunForm, unitsOf } from './form.ts';
import { callForm, type FormAxes, geometryArguments, rowsAxes } from './operand-forms.ts';
import { type FormedCommand, WIDE } from './plan-map.ts';

/** The commands that fold: one; or where rows are few and long one for each phase of parts, and one for the rest. */
export interface FormedRows {
  readonly commands: readonly FormedCommand[];
  /** Memory for the states of the parts: its bytes, and where the states of each phase lie in it. */
  readonly temporaryBytes: number;
  readonly states: ReadonlyMap<string, number>;
  readonly offsets: readonly number[];
}

/** The input of the choice of the number of parts of a row. */
export interface PartsQuestion {
  readonly threads: number;
  /** Parts that each thread should find. */
  readonly perThread: number;
}

/** Additions that an element goes through before sums are moved to float64; and how many may be without that. */
const CHAIN = 512;
const LONGEST_CHAIN = 924;
/** The minimum number of elements of a part of a row, and the maximum number of parts. */
const LEAST_PART = 16_384;
const MOST_PARTS = 64;
/** Bytes of the values of a node that are kept between passes: more would not stay in a cache. */
const MOST_KEPT_BYTES = 131_072;
const VECTOR_BYTES = 4 * LANES;
/** Rows up to this length are worked on a vector of them at a time, if there are enough rows for a vector. */
const SHORT_ROW = 16;

/** Forms the commands of a kernel that folds. */
export function formRows(geometry: CheckedRun, axes: RunAxes, question: PartsQuestion): FormedRows {
  const { kernel, rowCount, rowLength } = geometry;
  const along = alongOf(geometry, axes);
  const isAcross = along === 'rows';
  const scans = scansOf(kernel);
  const { own, offsets } = inOrder(geometry, rowsAxes(axes, along), scans?.reverse === true);
  const rowSize = own.sizes[own.rowRank - 1] as number;
  const foldedSize = own.sizes.at(-1) as number;
  const lines = foldedSize === 0 ? 0 : rowLength / foldedSize;
  const wanted = partsOf(isAcross ? rowCount / LANES : rowCount, isAcross ? LANES * rowLength : rowLength, question);

  const isWide = isAcross ? rowSize >= 4 * LANES : foldedSize >= WIDE;
  // Vectors side by side would be scanned one after the other.
  const isSingle = isAcross ? wanted > 1 : scans !== undefined;
  const units = isWide && !isSingle ? unitsOf(kernel) : 1;
  const chain = isAcross ? rowLength : lines * Math.ceil(foldedSize / (units * LANES) + units);
  const isLong = chain > LONGEST_CHAIN;
  const foldedSegment = CHAIN * (isAcross ? 1 : units * LANES);
  const isFoldedSegmented = (isLong || wanted > 1) && foldedSize > foldedSegment;
  const foldedSegments = isFoldedSegmented ? Math.ceil(foldedSize / foldedSegment) : 1;
  const foldedItems = lines * foldedSegments;
  const perPart = Math.ceil(foldedItems / wanted);
  const parts = wanted > 1 ? Math.ceil(foldedItems / perPart) : 1;

  const segment = units * LANES;
  const isSegmented = isAcross && rowSize > segment;
  const segments = isSegmented ? Math.ceil(rowSize / segment) : 1;
  const items = isAcross ? (rowCount / rowSize) * segments : rowCount;
  const vectorSize = isAcross ? rowSize : foldedSize;
  // A number of each element, or a vector of rows of each; and room for a vector that begins at the last one.
  const keptStride = isAcross ? units * VECTOR_BYTES : 4;
  const keptBytes = Math.ceil((keptStride * rowLength + VECTOR_BYTES) / 64) * 64;
  const keeps = wanted === 1 && lines === 1 && keptBytes <= MOST_KEPT_BYTES;
  const form: RunForm = {
    ...callForm(geometry, own),
    ...ONE_LINE,
    stores: kernel.outputs.map((_, index) => index),
    units,
    hasWhole: vectorSize >= LANES,
    hasRest: vectorSize % LANES !== 0,
    isSegmented,
    isFoldedSegmented,
    isReverse: scans?.reverse === true,
    isLong,
    kept: keeps ? nodesToKeep(kernel) : [],
  };
  const args = new Map([
    ...geometryArguments(geometry, own),
    [names.keptBytes, keptBytes],
    [names.segment, segment],
    [names.segments, segments],
    [names.foldedSegment, foldedSegment],
    [names.foldedSegments, foldedSegments],
    [names.foldedItems, foldedItems],
    [names.perPart, perPart],
    [names.parts, parts],
    ...form.kept.map((_, at) => {
      const operand = form.inputs.length + form.outputs.length + at;
      return [names.stride(operand, own.sizes.length - 1), keptStride] as const;
    }),
  ]);
  const command = { form, args, items, points: rowCount * rowLength, scratchBytes: form.kept.length * keptBytes };
  return { offsets, ...(parts === 1 ? inOne(command) : inStages(command, parts)) };
}

/** Axes along which rows are gone through from their end where they are scanned from there, and where operands begin then. */
function inOrder(
  { inputs, outputs }: CheckedRun,
  axes: FormAxes,
  isReverse: boolean,
): { readonly own: FormAxes; readonly offsets: readonly number[] } {
  if (!isReverse) return { own: axes, offsets: [] };
  const isFolded = (axis: number): boolean => axis >= axes.rowRank;
  const strides = axes.strides.map((view) => view.map((stride, axis) => (isFolded(axis) ? -stride : stride)));
  const offsets = [...inputs, ...outputs].map(({ dtype, extent }, operand) => {
    if (extent === 0) return 0;
    const view = axes.strides[operand] as readonly number[];
    return view.reduce(
      (sum, stride, axis) => sum + (isFolded(axis) ? ((axes.sizes[axis] as number) - 1) * stride * BYTES_OF[dtype] : 0),
      0,
    );
  });
  return { own: { ...axes, strides }, offsets };
}

function inOne(command: FormedCommand): Omit<FormedRows, 'offsets'> {
  return { commands: [command], temporaryBytes: 0, states: new Map() };
}

/** A command for each phase of parts, and one that stores. */
function inStages(command: FormedCommand, parts: number): Omit<FormedRows, 'offsets'> {
  const { form } = command;
  const phases = partFoldsOf(form.kernel);
  const items = command.items * parts;
  const states = new Map<string, number>();
  let bytes = 0;
  phases.forEach((folds, phase) => {
    states.set(names.states(phase), bytes);
    // The state of a fold has two words at most.
    bytes += folds.length * 2 * STATE_BYTES * items;
  });
  const stages = Array.from({ length: phases.length + 1 }, (_, phase) => ({ phase }));
  const commands = stages.map((stage) => ({ ...command, items, form: { ...form, stage } }));
  return { commands, temporaryBytes: bytes, states };
}

/** Parts that a row should be worked on in: 1 where there are rows enough for all threads. */
function partsOf(count: number, length: number, { threads, perThread }: PartsQuestion): number {
  if (threads === 1 || count >= 2 * threads) return 1;
  const most = Math.min(MOST_PARTS, Math.floor(length / LEAST_PART));
  return Math.max(1, Math.min(most, Math.ceil((perThread * threads) / count)));
}

/** The axis of vectors: the one along which more operands are dense; across rows that are short. */
function alongOf({ rowLength }: CheckedRun, { rows, folded }: RunAxes): 'rows' | 'folded' {
  if ((rows.sizes.at(-1) ?? 1) < LANES) return 'folded';
  if (rowLength <= SHORT_ROW) return 'rows';
  const dense = (strides: RunAxes['rows']['strides']): number => strides.filter((view) => view.at(-1) === 1).length;
  return dense(rows.strides) > dense(folded.strides) ? 'rows' : 'folded';
}
