import type { OpCase } from '../support/op-case.ts';
import { foldCases } from './folds.ts';

/** The cases of all functions; each backend runs them. */
export const ALL_CASES: Readonly<Record<string, readonly OpCase[]>> = {
  folds: foldCases,
};
