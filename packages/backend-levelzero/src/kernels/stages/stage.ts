import type { Value } from '@concord/spirv-builder';
import type { ParameterType } from '../kernel.ts';
import type { KernelCode, RowScope } from '../run/kernel-code.ts';
import { type Folds, fromWord, type States, toWord } from '../rows/states.ts';

/** One of the launches that work on rows in parts: the folds of a phase, or after all of them what is stored. */
export interface Stage {
  /** The phase whose folds are made; the phases before are in scratch memory. */
  readonly phase: number;
  /** The number of phases. */
  readonly of: number;
}

/** The scratch memory of a phase's states. */
export const statesName = (phase: number): string => `states${phase}`;
/** The number of parts of each row after a phase. */
export const leftName = (phase: number): string => `left${phase}`;

/** Parameters of a kernel that works on parts: how many of what size, the rows, and the states of phases. */
export function stageParameters(index: 'u32' | 'u64', { phase, of }: Stage): Readonly<Record<string, ParameterType>> {
  const parameters: Record<string, ParameterType> = { parts: index, part: index, rows: index };
  for (let at = 0; at <= Math.min(phase, of - 1); at++) {
    parameters[statesName(at)] = 'u32*';
    if (at < phase) parameters[leftName(at)] = index;
  }
  return parameters;
}

/**
 * Where a value of the states of a row's part lies: `[value][part][row]`, rows by number.
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
  const { k, form } = code;
  const width = form.along === 'rows' ? row.width : 1;
  const a = code.math(width);
  const left = code.arg(leftName(phase));
  return k.forLoop({ to: left }, folds.identity(a), (part, states) => {
    const own = folds.types.map((type, index) => {
      const place = k.at(code.arg(statesName(phase)), placeOf(code, row, index, part, left));
      return fromWord(k, width === 1 ? k.load(place) : k.loadVector(place, width), type);
    });
    return [...folds.join(a, states, own)];
  });
}
