import { type CaseText, type CheckTexts, repeat, UNTOUCHED } from '../harness/case-text.ts';
import type { TopKParams } from '../cases/top-k.ts';

const PASSES = `Indices are exactly those of the sorted row, of equals the lower first; each value has the bits of the element at its index. ${UNTOUCHED}`;

/** A selection that has one right answer. */
function selection(of: string, inputs: string): (params: TopKParams) => CaseText {
  return ({ k, least }) => ({
    does: `Selects the ${k} ${least ? 'least' : 'greatest'} of each row ${of}.`,
    inputs,
    kind: 'exact',
    passes: PASSES,
  });
}

/** The words of the checks of topK. */
export const TOP_K_TEXTS: CheckTexts<TopKParams> = {
  exact: selection(
    'of numbers of many magnitudes',
    'random signs, exponents from -20 to 20 and all bits of the mantissa in use',
  ),
  ties: selection(
    'of few different numbers, among which the lower index decides',
    'integers from -2 to 2, half of the zeros negative',
  ),
  equal: selection('of equal numbers: the first ones', 'one value throughout'),
  rising: selection('of numbers in rising order', 'multiples of 1/8 from below 0 on, each greater than the one before'),
  falling: selection('of numbers in falling order', 'multiples of 1/8 down to below 0, each less than the one before'),
  edges: selection(
    'where the best are at the ends of the row and on both sides of multiples of powers of two',
    'random signs, exponents from -3 to 3; 1e9, or -1e9 where the least are selected, at those places',
  ),
  specials: selection(
    'where there are NaN, which are above Infinity, infinities, subnormals and zeros of both signs, which are equal',
    'integers from -3 to 3; two in five are NaN of several bit patterns, infinite, subnormal, zero or the ends of the range',
  ),
  most: ({ least }) => ({
    does: `Selects as many of the ${least ? 'least' : 'greatest'} as the device can, capabilities.limits.maxTopK, from a row that is little longer.`,
    inputs: 'random signs, exponents from -20 to 20 and all bits of the mantissa in use',
    kind: 'exact',
    passes: PASSES,
  }),
  repeat,
  limits: () => ({
    does: 'Calls topK with k over the columns, with more columns than indices can tell, and with k over capabilities.limits.maxTopK.',
    kind: 'behaviour',
    passes:
      'The limit is at least 256; the first two calls throw INVALID_ARGUMENT, the third UNSUPPORTED, and supports says so too.',
  }),
};
