import type { Value } from '@concord/spirv-builder';
import type { ParameterType } from '../kernel.ts';
import type { KernelCode, RowScope } from '../run/kernel-code.ts';
import { type Folds, fromWord, type States, toWord } from '../rows/states.ts';
import { FAN } from './combine.spv.ts';

/** One of the launches that work on rows in parts: the folds of a phase, or after all of them what is stored. */
export interface Stage {
  /** The phase whose folds are made; the phases before are in scratch memory. */
  readonly phase: number;
  /** The number of phases, that of the folds of scans counted. */
  readonly of: number;
  /**
   * The number of times that parts were joined to fewer, after those of scans, from which follows what comes before
   * each part.
   */
  readonly levels?: number;
}

/** The scratch memory of a phase's states. */
export const statesName = (phase: number): string => `states${phase}`;
/** The number of parts of each row after a phase. */
export const leftName = (phase: number): string => `left${phase}`;

/** The scratch memory of a level of the parts of scans, and their number. */
export const levelName = (level: number): string => `level${level}`;
export const countName = (level: number): string => `count${level}`;

/** Parameters of a kernel that works on parts: how many of what size, the rows, and the states of phases. */
export function stageParameters(
  index: 'u32' | 'u64',
  { phase, of, levels }: Stage,
): Readonly<Record<string, ParameterType>> {
  const parameters: Record<string, ParameterType> = { parts: index, part: index, rows: index };
  for (let level = 0; level < (levels ?? 0); level++) {
    Object.assign(parameters, { [levelName(level)]: 'u32*', [countName(level)]: index });
  }
  for (let at = 0; at <= Math.min(phase, of - (levels === undefined ? 1 : 2)); at++) {
    parameters[statesName(at)] = 'u32*';
    if (at < phase) parameters[leftName(at)] = index;
  }
  return parameters;
}

/**
 * Returns the place of a value of the states of a row's part: `[value][part][row]`, rows by number.
 *
 * @param parts - how many parts of each row there are
 */
function placeOf(code: KernelCode, row: RowScope, value: number, part: Value, parts: Value): Value {
  const { k } = code;
  const number = code.numberOf(row.coordinates, 0);
  const block = k.add(k.mul(parts, k.constant(parts.type, value)), part);
  return k.add(k.mul(block, code.arg('rows')), number);
}

/** Writes the states of a part of a row, or of neighbouring rows. */
export function storeStates(
  code: KernelCode,
  folds: Folds,
  phase: number,
  row: RowScope,
  part: Value,
  states: States,
): void {
  const { k } = code;
  folds.types.forEach((_, index) => {
    const place = k.at(code.arg(statesName(phase)), placeOf(code, row, index, part, code.arg('parts')));
    const word = toWord(k, states[index] as Value);
    if (word.type.kind === 'vector') k.storeVector(place, word);
    else k.store(place, word);
  });
}

/** Reads the states of a whole row, or of neighbouring rows: of the parts that are left, joined. */
export function loadStates(code: KernelCode, folds: Folds, phase: number, row: RowScope): States {
  const left = code.arg(leftName(phase));
  const none = folds.identity(code.math(code.form.along === 'rows' ? row.width : 1));
  return joinParts(code, folds, row, none, { memory: code.arg(statesName(phase)), count: left, to: left });
}

/** Reads the states of scans of all parts before one, or in reverse after it: of each level those beside it. */
export function loadBefore(
  code: KernelCode,
  folds: Folds,
  row: RowScope,
  { part, levels, isReverse }: { readonly part: Value; readonly levels: number; readonly isReverse: boolean },
): States {
  const { k } = code;
  let states = folds.identity(code.math(code.form.along === 'rows' ? row.width : 1));
  let at = part;
  for (let level = 0; level < levels; level++) {
    const [memory, count] = [code.arg(levelName(level)), code.arg(countName(level))];
    const isLast = level === levels - 1;
    const group = k.udiv(at, FAN);
    const end = isLast ? count : k.math('u_min', count, k.mul(k.add(group, 1), FAN));
    const first = isLast ? k.constant(at.type, 0) : k.mul(group, FAN);
    const range = isReverse ? { from: k.add(at, 1), to: end } : { from: first, to: at };
    states = joinParts(code, folds, row, states, { memory, count, ...range });
    at = group;
  }
  return states;
}

interface PartsOf {
  readonly memory: Value;
  /** Parts of each row there. */
  readonly count: Value;
  readonly from?: Value;
  readonly to: Value;
}

/** Joins the states of some parts of a row, or of neighbouring rows, to others. */
function joinParts(code: KernelCode, folds: Folds, row: RowScope, begin: States, parts: PartsOf): States {
  const { k, form } = code;
  const { memory, count, from, to } = parts;
  const width = form.along === 'rows' ? row.width : 1;
  const a = code.math(width);
  return k.forLoop(from === undefined ? { to } : { from, to }, begin, (part, states) => {
    const own = folds.types.map((type, index) => {
      const place = k.at(memory, placeOf(code, row, index, part, count));
      return fromWord(k, width === 1 ? k.load(place) : k.loadVector(place, width), type);
    });
    return [...folds.join(a, states, own)];
  });
}
