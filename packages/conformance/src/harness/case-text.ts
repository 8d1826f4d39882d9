import type { Params } from './case-id.ts';

/** The five kinds of numeric check of `docs/numerics.md`, and checks of what a backend does rather than computes. */
export type CheckKind =
  | 'exact'
  | 'exact-wide'
  | 'bounded'
  | 'function accuracy'
  | 'property'
  | 'fixed values'
  | 'behaviour';

/** The tolerance of a result around the reference. */
export interface BoundText {
  /** As in `docs/numerics.md`, where it is derived. */
  readonly formula: string;
  /** The meaning of the letters in this case. */
  readonly where: Readonly<Record<string, number | string>>;
}

/** The description of a case, in words: written beside the check that does it. */
export interface CaseText {
  /** The calls, and their reason: a sentence or two. */
  readonly does: string;
  /** The content of the operands, beyond the ranges that a run of the case shows. */
  readonly inputs?: string;
  readonly kind: CheckKind;
  /** The condition for the case to pass. */
  readonly passes: string;
  /** Where it is left out, nothing is measured, or the tolerance is 0. */
  readonly bound?: BoundText;
}

/** The words of each check of a suite, by its name. */
export type CheckTexts<P extends Params> = Readonly<Record<string, (params: P) => CaseText>>;

/** The surroundings of the operands of every numeric case, for the end of its `passes`. */
export const UNTOUCHED = 'Inputs and the guard bytes around every operand must be unchanged.';

/** The words of the check `repeat`, which several ops have. */
export function repeat(): CaseText {
  return {
    does: 'Makes the same call twice.',
    inputs: 'random signs, exponents from -3 to 3 and all bits of the mantissa in use',
    kind: 'property',
    passes: `Both calls give the same bits. ${UNTOUCHED}`,
  };
}

/** The words of a case that checks what a backend does. */
export function behaviour(does: string, passes: string): () => CaseText {
  return () => ({ does, kind: 'behaviour', passes });
}
