import { type CheckedRun, type Kernel, type KernelNode, type NodeOp, operandsOf } from '@concord/backend-core/kernel';
import { foldAt, phasesOf, type RunAxes, runAxes } from '@concord/kernel';
import type { WasmTraits } from '../kernel.ts';
import { LANES } from './cursor.ts';
import { STATE_BYTES } from './fold-states.ts';
import { type EmittedRun, emitRun } from './emit.ts';
import { formKey, names, type RunForm } from './form.ts';
import { type FormAxes, geometryWords, mapAxes, operandForms, reordered, rowsAxes } from './operand-forms.ts';
import { wordsOf } from './words.ts';

/** One command of a planned `run`. */
export interface PlannedCommand {
  readonly emitted: EmittedRun;
  /** Those that do not change from call to call; the others are 0. */
  readonly words: Uint32Array;
  readonly tiles: number;
  /** Bytes that each thread needs for itself. */
  readonly scratchBytes: number;
}

/** A planned `run`: its commands, and the memory that they share. */
export interface RunPlan {
  readonly commands: readonly PlannedCommand[];
  readonly temporaryBytes: number;
  /** Where the states of each phase lie in that memory. */
  readonly states: ReadonlyMap<string, number>;
}

/** Points of a segment of a map's line. */
const SEGMENT = 8192;
/** The same where an input lies the other way: so many of its cache lines are read again for the neighbouring lines. */
const TURNED_SEGMENT = 16;
/** The same where lines were too short for vectors, which lie across them: what they read stays in the first level of cache. */
const SHORT_LINE_SEGMENT = 512;
/** Points of a tile: fewer are not worth the sharing out, more leave threads idle at the end. */
const LEAST_TILE = 8192;
const MOST_TILE = 65_536;
/** Tiles for each thread, where there is enough to do. */
const TILES_PER_THREAD = 4;
/** Additions that an element goes through before sums are moved to float64. */
const CHAIN = 512;
/** Elements that are worth a part of a row of their own, and the most parts. */
const LEAST_PART = 16_384;
const MOST_PARTS = 64;
/** Bytes of the values of a node that are kept between passes: more would not stay in a cache. */
const MOST_KEPT_BYTES = 131_072;
const VECTOR_BYTES = 16;
/** Rows that are shorter are worked on several at a time, if there are several. */
const SHORT_ROW = 16;
/** Vectors that are worked on side by side where a kernel is light: what a loop costs itself is shared, and sums do not wait. */
const SIDE_BY_SIDE = 4;
const MOST_LIGHT_NODES = 16;
/** Points of a line from which on that is worth its code. */
const WIDE = 64;
/** Nodes of dozens of instructions, which leave a processor enough to do while a sum waits. */
const HEAVY: ReadonlySet<NodeOp> = new Set([
  'pow',
  'exp',
  'exp2',
  'expm1',
  'log',
  'log2',
  'log1p',
  'sin',
  'cos',
  'tanh',
  'sigmoid',
  'silu',
  'gelu',
  'geluTanh',
  'erf',
  'random',
  'rem',
]);

/** Makes plans; emitted code is kept by its form, for good. */
export class RunPlanner {
  readonly #traits: WasmTraits;
  readonly #emitted = new Map<string, EmittedRun>();

  constructor(traits: WasmTraits) {
    this.#traits = traits;
  }

  /** The commands of a call: rows where anything is folded, else a map for the elements and one for what there is a row. */
  plan(geometry: CheckedRun): RunPlan {
    const axes = runAxes(geometry);
    if (phasesOf(geometry.kernel).folds.length > 0) return this.#planRows(geometry, axes);
    const commands = (['element', 'row'] as const).flatMap((level) => this.#planMap(geometry, axes, level));
    return { commands, temporaryBytes: 0, states: new Map() };
  }

  #planMap(geometry: CheckedRun, axes: RunAxes, level: 'row' | 'element'): readonly PlannedCommand[] {
    const stores = geometry.kernel.outputs.flatMap((output, index) => (output.level === level ? [index] : []));
    const given = mapAxes(geometry, axes, level);
    const points = product(given.sizes);
    if (stores.length === 0 || points === 0) return [];
    const { order, segment } = orderOf(geometry, given) ?? { order: undefined, segment: SEGMENT };
    const own = order === undefined ? given : reordered(given, order);
    const size = own.sizes.at(-1) as number;
    const isSegmented = size > segment;
    const segments = isSegmented ? Math.ceil(size / segment) : 1;
    const items = (points / size) * segments;
    const form: RunForm = {
      kernel: geometry.kernel,
      ...own.form,
      ...operandForms(geometry, own),
      stores,
      units: size >= WIDE && isLight(geometry.kernel) ? SIDE_BY_SIDE : 1,
      hasWhole: size >= LANES,
      hasRest: size % LANES !== 0,
      isSegmented,
      isTurned: order !== undefined && isSegmented,
      isFoldedSegmented: false,
      isLong: false,
      kept: [],
    };
    const words = geometryWords(geometry, own);
    words.set(names.segment, segment);
    words.set(names.segments, segments);
    return [this.#command(form, words, items, points)];
  }

  #planRows(geometry: CheckedRun, axes: RunAxes): RunPlan {
    const { kernel, rowCount, rowLength } = geometry;
    const { threads } = this.#traits;
    const along = alongOf(geometry, axes);
    const own = rowsAxes(geometry, axes, along);
    const { rowRank } = own.form;
    const rowSize = own.sizes[rowRank - 1] as number;
    const foldedSize = own.sizes.at(-1) as number;
    const lines = foldedSize === 0 ? 0 : rowLength / foldedSize;
    const isAcross = along === 'rows';

    const isWide = isAcross ? rowSize >= SIDE_BY_SIDE * LANES : foldedSize >= WIDE;
    const few = isAcross ? rowCount / (rowSize < LANES ? rowSize : LANES) : rowCount;
    const most = Math.min(MOST_PARTS, Math.floor((rowLength * (isAcross ? LANES : 1)) / LEAST_PART));
    const wanted = few < 2 * threads ? Math.max(1, Math.min(most, Math.ceil((TILES_PER_THREAD * threads) / few))) : 1;
    const isParted = wanted > 1 && threads > 1;
    const units = isWide && isLight(kernel) && !(isAcross && isParted) ? SIDE_BY_SIDE : 1;

    const chain = isAcross ? rowLength : lines * Math.ceil(foldedSize / (units * LANES) + units);
    const isLong = chain > 2 * CHAIN - 100;
    const foldedSegment = CHAIN * (isAcross ? 1 : units * LANES);
    const isFoldedSegmented = (isLong || isParted) && foldedSize > foldedSegment;
    const foldedSegments = isFoldedSegmented ? Math.ceil(foldedSize / foldedSegment) : 1;
    const foldedItems = lines * foldedSegments;
    const perPart = Math.ceil(foldedItems / wanted);
    const parts = isParted ? Math.ceil(foldedItems / perPart) : 1;

    // A number of each element, or a vector of rows of each.
    const keptStride = isAcross ? units * VECTOR_BYTES : 4;
    const keptBytes = Math.ceil((keptStride * rowLength + VECTOR_BYTES) / 64) * 64;

    const segment = units * LANES;
    const isSegmented = isAcross && rowSize > segment;
    const segments = isSegmented ? Math.ceil(rowSize / segment) : 1;
    const items = isAcross ? (rowCount / rowSize) * segments : rowCount;
    const vectorSize = isAcross ? rowSize : foldedSize;
    const form: RunForm = {
      kernel,
      ...own.form,
      ...operandForms(geometry, own),
      stores: kernel.outputs.map((_, index) => index),
      units,
      hasWhole: vectorSize >= LANES,
      hasRest: vectorSize % LANES !== 0,
      isSegmented,
      isTurned: false,
      isFoldedSegmented,
      isLong,
      kept: isParted || lines !== 1 || keptBytes > MOST_KEPT_BYTES ? [] : keptNodes(kernel),
    };
    const words = geometryWords(geometry, own);
    form.kept.forEach((_, at) => {
      const operand = form.inputs.length + form.outputs.length + at;
      words.set(names.stride(operand, own.sizes.length - 1), keptStride);
    });
    for (const [name, value] of [
      [names.keptBytes, keptBytes],
      [names.segment, segment],
      [names.segments, segments],
      [names.foldedSegment, foldedSegment],
      [names.foldedSegments, foldedSegments],
      [names.foldedItems, foldedItems],
      [names.perPart, perPart],
      [names.parts, parts],
    ] as const) {
      words.set(name, value);
    }
    const points = rowCount * rowLength;
    if (parts === 1)
      return { commands: [this.#command(form, words, items, points)], temporaryBytes: 0, states: new Map() };

    const phases = phasesOf(kernel).folds;
    const states = new Map<string, number>();
    let bytes = 0;
    phases.forEach((folds, phase) => {
      states.set(names.states(phase), bytes);
      // Two words are the most that the state of a fold has.
      bytes += folds.length * 2 * STATE_BYTES * items * parts;
    });
    const commands = Array.from({ length: phases.length + 1 }, (_, phase) =>
      this.#command({ ...form, stage: { phase } }, words, items * parts, points),
    );
    return { commands, temporaryBytes: bytes, states };
  }

  #command(form: RunForm, values: Map<string, number>, items: number, points: number): PlannedCommand {
    const tilePoints = Math.min(MOST_TILE, Math.max(LEAST_TILE, points / (TILES_PER_THREAD * this.#traits.threads)));
    const perTile = Math.max(1, Math.floor((tilePoints * items) / Math.max(1, points)));
    const emitted = this.#emit(form);
    const words = wordsOf(
      emitted.words,
      new Map([...values, [names.items, items] as const, [names.perTile, perTile] as const]),
    );
    const scratchBytes = form.kept.length * (values.get(names.keptBytes) ?? 0);
    return { emitted, words, tiles: Math.ceil(items / perTile), scratchBytes };
  }

  #emit(form: RunForm): EmittedRun {
    const key = formKey(form);
    let emitted = this.#emitted.get(key);
    if (emitted === undefined) {
      emitted = emitRun(form, this.#traits);
      this.#emitted.set(key, emitted);
    }
    return emitted;
  }
}

/**
 * The order of a map's axes, and how long segments are, where neighbours of another axis than the last lie side by side too: the
 * longest one goes last where the last is no vector, which then comes before it; and an axis that an input is dense along
 * comes before a last one that it is not dense along. Undefined where the axes are good as they are.
 */
function orderOf(
  { inputs }: CheckedRun,
  { sizes, strides }: FormAxes,
): { readonly order: readonly number[]; readonly segment: number } | undefined {
  const last = sizes.length - 1;
  const all = [...sizes.keys()];
  const without = (...axes: readonly number[]): number[] => all.filter((axis) => !axes.includes(axis));
  if ((sizes[last] as number) < LANES) {
    const longest = sizes.indexOf(Math.max(...sizes));
    if ((sizes[longest] as number) < 4 * LANES) return undefined;
    return { order: [...without(last, longest), last, longest], segment: SHORT_LINE_SEGMENT };
  }
  for (const [input, { access }] of inputs.entries()) {
    const own = strides[input] as readonly number[];
    if (access === 'gather' || (own[last] as number) < 2) continue;
    const axis = own.findIndex((stride, at) => at < last && stride === 1 && (sizes[at] as number) >= LANES);
    if (axis >= 0) return { order: [...without(axis, last), axis, last], segment: TURNED_SEGMENT };
  }
  return undefined;
}

/** Whether no node takes long. */
function isLight({ nodes }: Kernel): boolean {
  return nodes.length <= MOST_LIGHT_NODES && !nodes.some((node) => node.kind === 'arithmetic' && HEAVY.has(node.op));
}

/** Nodes dear to compute, a value for each element, that more than one pass over a row needs. */
function keptNodes(kernel: Kernel): readonly number[] {
  const { nodes, outputs } = kernel;
  const folds = phasesOf(kernel).folds;
  const passes = [
    ...folds.map((phase) => phase.flatMap((fold) => [...foldAt(kernel, fold).operands])),
    outputs.flatMap(({ level, node }) => (level === 'element' ? [node] : [])),
  ];
  const uses = new Map<number, number>();
  for (const roots of passes) {
    const seen = new Set<number>();
    const stack = [...roots];
    while (stack.length > 0) {
      const index = stack.pop() as number;
      const node = nodes[index] as KernelNode;
      if (seen.has(index) || node.kind === 'fold') continue;
      seen.add(index);
      stack.push(...operandsOf(node));
    }
    for (const index of seen) uses.set(index, (uses.get(index) ?? 0) + 1);
  }
  return [...uses].flatMap(([index, count]) => {
    const node = nodes[index] as KernelNode;
    const isDear = node.kind === 'arithmetic' && node.level === 'element' && HEAVY.has(node.op);
    return isDear && count > 1 ? [index] : [];
  });
}

/** Where vectors lie: along what more operands have side by side, and across rows that are short. */
function alongOf({ rowLength }: CheckedRun, { rows, folded }: RunAxes): 'rows' | 'folded' {
  if ((rows.sizes.at(-1) ?? 1) < LANES) return 'folded';
  if (rowLength <= SHORT_ROW) return 'rows';
  const dense = (strides: RunAxes['rows']['strides']): number => strides.filter((view) => view.at(-1) === 1).length;
  return dense(rows.strides) > dense(folded.strides) ? 'rows' : 'folded';
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1);
}
