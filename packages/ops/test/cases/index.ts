import type { OpCase } from '../support/op-case.ts';
import { castCases } from './cast.ts';
import { clampCases } from './clamp.ts';
import { foldCases } from './folds.ts';
import { whereCases } from './where.ts';

/** The cases of all functions; each backend runs them. */
export const ALL_CASES: Readonly<Record<string, readonly OpCase[]>> = {
  cast: castCases,
  clamp: clampCases,
  folds: foldCases,
  where: whereCases,
};
