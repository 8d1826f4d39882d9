import { foldsOf, hasMean, names, scansOf } from '@concord/kernel';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel, type ParameterType } from '../kernel.ts';
import { contractionOf, formName, formParameters, type RunForm } from '../run/form.ts';
import { type Condition, coordinatesOf, KernelCode, type RowScope } from '../run/kernel-code.ts';
import { loadBefore, loadStates, type Stage, stageParameters, storeStates } from '../stages/stage.ts';
import { RowProgram } from './row-program.ts';
import { acrossOf, unrollOf } from './states.ts';
import { joinTeam, type TeamKind, teamOf } from './team.ts';
import { keptWalk, lineWalk, type Share, stridedWalk, type Walk } from './walk.ts';

/** The parameters that distinguish the kernels of rows. */
export interface RowsParams {
  readonly form: RunForm;
  /** `runs`, for CPUs: a work-item takes several rows, one after the other; the others, for GPUs: a team takes one. */
  readonly kind: 'runs' | TeamKind;
  readonly groupSize: number;
  readonly subgroupSize: number | undefined;
  /** Vectors of a row that each work-item keeps in registers; 0 where rows are read again in each pass. */
  readonly kept: number;
  /** True for `runs` along rows if there are blocks that the last axis does not cut short. */
  readonly hasWholeBlocks: boolean;
  /** The pass of rows that are worked on in parts. */
  readonly stage: Stage | undefined;
}

/**
 * Folds rows, and stores what comes of them. Rows have numbers, row-major; where vectors lie along rows, a block is
 * neighbours along the last axis of rows: a vector, or for `runs` {@link rowBlock}.
 *
 * - `runs`: a work-item takes `run` of the `items` from `first` on: rows or blocks, or parts of them.
 * - `alone`, `subgroup`, `group`: a work-item, a sub-group or a group takes one.
 *
 * An item is a row's number times `parts` plus that of a part; with blocks, the part is counted between the outer axes of rows
 * and the blocks. A part is `part` lines of a row, or of a row that is one line that many elements (for `runs`) or
 * vectors.
 *
 * All passes that fold are through before anything is stored: an output may be an input.
 */
export function rowsKernel(params: RowsParams): Kernel {
  const { form, kind, groupSize, subgroupSize, kept, stage } = params;
  const { index } = form;
  const parameters: Record<string, ParameterType> = { ...formParameters(form), items: index, first: index };
  if (hasMean(form.kernel)) Object.assign(parameters, { meanScale: 'f32', meanDivisor: 'f32' });
  if (kind === 'runs') parameters['run'] = index;
  else parameters['units'] = index;
  parameters['lines'] = index;
  if (form.along === 'rows') parameters['blocks'] = index;
  if (stage !== undefined) Object.assign(parameters, stageParameters(index, stage));
  return defineKernel<string>({
    name: `run/rows ${kind} ${groupSize} kept ${kept} ${formName(form, { ...params, form: undefined })}`,
    parameters,
    groupSize: [groupSize, 1, 1],
    subgroupSize,
    contraction: contractionOf(form),
    write: (k, { args }) => {
      const code = new KernelCode(k, form, args);
      if (kind === 'runs') writeRuns(k, code, params);
      else writeTeams(k, code, params, kind);
    },
  });
}

/** Rows of a block of `runs`, where vectors lie along rows. */
export function rowBlock({ kernel, width }: Pick<RunForm, 'kernel' | 'width'>): number {
  return acrossOf(kernel) * width;
}

/** Rows and the part of them that an item is. */
interface Item {
  /** Coordinates of the row, or of the outer axes of rows where vectors lie along the last one. */
  readonly coordinates: readonly Value[];
  readonly part: Value | undefined;
  /** The first row of a block along the last axis. */
  readonly block: Value | undefined;
}

function itemAt(code: KernelCode, item: Value, isParted: boolean): Item {
  const { k, form } = code;
  const sizes = code.sizes(0, form.rowRank);
  let left = item;
  const take = (count: Value): Value => {
    const quotient = k.udiv(left, count);
    const rest = k.sub(left, k.mul(quotient, count));
    left = quotient;
    return rest;
  };
  if (form.along === 'folded') {
    const part = isParted ? take(code.arg('parts')) : undefined;
    return { coordinates: coordinatesOf(k, left, sizes), part, block: undefined };
  }
  const block = take(code.arg('blocks'));
  const part = isParted ? take(code.arg('parts')) : undefined;
  return { coordinates: coordinatesOf(k, left, sizes.slice(0, -1)), part, block };
}

function writeRuns(k: FunctionBuilder, code: KernelCode, params: RowsParams): void {
  const { form, stage } = params;
  const from = k.add(code.arg('first'), k.mul(k.uconvert(groupIndex(k), code.index), code.arg('run')));
  const to = k.math('u_min', k.add(from, code.arg('run')), code.arg('items'));
  k.forLoop({ from, to }, [], (number) => {
    const item = itemAt(code, number, stage !== undefined);
    if (form.along === 'folded') {
      runProgram(code, params, item, [code.row(item.coordinates, 1)], unrollOf(form.kernel));
      return;
    }
    const { width } = form;
    const block = k.mul(item.block as Value, rowBlock(form));
    const last = code.arg(names.size(form.rowRank - 1));
    const rowsAt = (place: Value, components: Width): RowScope => code.row([...item.coordinates, place], components);
    const end = k.math('u_min', k.add(block, rowBlock(form)), last);
    const single = (): void => {
      const tail = width === 1 ? block : k.add(block, k.and(k.sub(end, block), -width));
      if (width > 1) {
        k.forLoop({ from: block, to: tail, step: width }, [], (place) => {
          runProgram(code, params, item, [rowsAt(place, width)], unrollOf(form.kernel));
        });
      }
      k.forLoop({ from: tail, to: end }, [], (place) => {
        runProgram(code, params, item, [rowsAt(place, 1)], unrollOf(form.kernel));
      });
    };
    if (!params.hasWholeBlocks) {
      single();
      return;
    }
    k.ifElse(
      k.eq(k.sub(end, block), rowBlock(form)),
      () => {
        const slots = Array.from({ length: acrossOf(form.kernel) }, (_, slot) => k.add(block, slot * width));
        runProgram(
          code,
          params,
          item,
          slots.map((place) => rowsAt(place, width)),
          1,
        );
      },
      single,
    );
  });
}

/** All passes of one or more rows of a CPU's work-item. */
function runProgram(
  code: KernelCode,
  { form, stage }: RowsParams,
  { part }: Item,
  rows: readonly RowScope[],
  unroll: number,
): void {
  const { k } = code;
  const program = new RowProgram(code);
  const zero = k.constant(code.index, 0);
  const length = code.arg(names.size(form.rowRank + form.foldedRank - 1));
  const isOneLine = form.foldedRank === 1;
  const endOf = (count: Value): Value =>
    part === undefined ? count : k.math('u_min', count, k.mul(k.add(part, 1), code.arg('part')));
  const start =
    part === undefined
      ? zero
      : k.math('u_min', k.mul(part, code.arg('part')), endOf(isOneLine ? length : code.arg('lines')));
  const walk = lineWalk(code, {
    firstLine: isOneLine ? zero : start,
    endLine: isOneLine ? zero : endOf(code.arg('lines')),
    start: isOneLine ? start : zero,
    end: isOneLine ? endOf(length) : length,
    width: form.along === 'folded' ? form.width : 1,
    unroll,
  });
  passes({ code, program, rows, walk, stage, part, works: undefined, join: (_, states) => states });
}

function writeTeams(k: FunctionBuilder, code: KernelCode, params: RowsParams, kind: TeamKind): void {
  const { form, stage, kept } = params;
  const team = teamOf(code, { ...params, kind });
  const group = k.uconvert(groupIndex(k), code.index);
  const number = k.add(code.arg('first'), k.add(k.mul(group, team.perGroup), team.number));
  const works = k.ult(number, code.arg('items'));
  // No work-item may be missing where a team joins its states: one without a row takes the last one once more.
  const item = itemAt(code, k.math('u_min', number, k.sub(code.arg('items'), 1)), stage !== undefined);
  const row = rowOf(code, item);
  const program = new RowProgram(code);
  const units = k.mul(code.arg('lines'), code.arg('units'));
  const width = form.along === 'folded' ? form.width : 1;
  const share = { first: team.lane, end: units, lanes: team.lanes, width };
  const own = item.part === undefined ? share : partOf(code, item.part, share);
  const walk = kept === 0 ? stridedWalk(code, own, unrollOf(form.kernel)) : keptWalk(code, row, share, kept);
  const leads = team.lanes === 1 ? works : k.and(works, k.eq(team.lane, 0));
  const join = (phase: number, states: readonly Value[]): readonly Value[] =>
    joinTeam(code, team, program.phases[phase] as RowProgram['phases'][number], states);
  passes({ code, program, rows: [row], walk, stage, part: item.part, works, leads, join });
}

function rowOf(code: KernelCode, { coordinates, block }: Item): RowScope {
  const { k, form } = code;
  if (block === undefined) return code.row(coordinates, 1);
  return code.row([...coordinates, form.width === 1 ? block : k.mul(block, form.width)], form.width);
}

/**
 * The vectors of a part that are a lane's. Where vectors lie along rows, parts are worked on by neighbours, for which the
 * elements of a part lie as far apart as there are parts: what they read together is contiguous.
 */
function partOf(code: KernelCode, part: Value, share: Share): Share {
  const { k, form } = code;
  // What is scanned is one after the other.
  if (form.along === 'rows' && scansOf(form.kernel) === undefined) {
    return { ...share, first: part, lanes: code.arg('parts') };
  }
  const from = k.mul(part, code.arg('part'));
  const end = k.math('u_min', share.end, k.add(from, code.arg('part')));
  return { ...share, first: k.add(from, share.first), end };
}

interface Passes {
  readonly code: KernelCode;
  readonly program: RowProgram;
  readonly rows: readonly RowScope[];
  readonly walk: Walk;
  readonly stage: Stage | undefined;
  readonly part: Value | undefined;
  /** True if this work-item has a row. */
  readonly works: Condition;
  /** True if it is the one that writes for the row's team. */
  readonly leads?: Value;
  readonly join: (phase: number, states: readonly Value[]) => readonly Value[];
}

/** The passes over rows, each of which needs those before. */
function passes({ code, program, rows, walk, stage, part, works, leads = works, join }: Passes): void {
  const folded = stage?.phase ?? 0;
  const phases = foldsOf(code.kernel).length;
  for (let phase = 0; phase < Math.min(folded, phases); phase++) {
    for (const row of rows) program.finish(phase, row, loadStates(code, program.phases[phase] as never, phase, row));
  }
  if (stage !== undefined && stage.phase < program.phases.length) {
    const states = program.foldOwn(stage.phase, rows, walk);
    rows.forEach((row, index) => {
      const joined = join(stage.phase, states[index] as readonly Value[]);
      code.when([leads], () => {
        storeStates(code, program.phases[stage.phase] as never, stage.phase, row, part as Value, joined);
      });
    });
    return;
  }
  for (let phase = folded; phase < phases; phase++) {
    const states = program.foldOwn(phase, rows, walk);
    rows.forEach((row, index) => program.finish(phase, row, join(phase, states[index] as readonly Value[])));
  }
  const scans = scansOf(code.kernel);
  if (scans === undefined) program.storeElements(rows, walk, works);
  else {
    const levels = stage?.levels;
    const before = (row: RowScope): readonly Value[] | undefined =>
      levels === undefined
        ? undefined
        : loadBefore(code, program.phases[phases] as never, row, {
            part: part as Value,
            levels,
            isReverse: scans.reverse,
          });
    program.storeScanned(scans, rows, rows.map(before), walk, works);
  }
  const isFirst = part === undefined ? undefined : code.k.eq(part, 0);
  program.storeRows(rows, leads, isFirst);
}
