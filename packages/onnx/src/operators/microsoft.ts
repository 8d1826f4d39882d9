import type { Operators } from './operator.ts';

/** To be written: see OPERATORS-TODO. */
export const MICROSOFT: Operators = {};
