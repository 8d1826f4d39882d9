import type { ElementwiseParams } from '../checks/elementwise.ts';
import { type CaseText, type CheckTexts, UNTOUCHED } from '../harness/case-text.ts';

/** The words of the checks that unary and binary share; `formulaOf` gives the ulp of a function. */
export function elementwiseTexts(formulaOf: (fn: string) => string): CheckTexts<ElementwiseParams> {
  const judged = (fn: string): Omit<CaseText, 'does'> => {
    const formula = formulaOf(fn);
    const passes = `Every element is within the bound; NaN exactly where it belongs. ${UNTOUCHED}`;
    if (formula === '0') return { kind: 'exact', passes: `Every element has exactly the right value. ${UNTOUCHED}` };
    return {
      kind: 'function accuracy',
      passes,
      bound: {
        formula: `${formula} ulp of the exact result, and half an ulp as the reference is not rounded`,
        where: { 'under 2^-126': 'may be flushed to 0, in and out, unless the backend declares f32Subnormals kept' },
      },
    };
  };
  return {
    accuracy: ({ fn }) => ({
      does: `Computes ${fn} where functions bend.`,
      inputs:
        'random signs where the function has them, magnitudes from 2^-12 to 2^7 (pow: bases and exponents whose result is finite)',
      ...judged(fn),
    }),
    range: ({ fn }) => ({
      does: `Computes ${fn} over all of float32.`,
      inputs: 'random signs, exponents from -125 to 126, all bits of the mantissa in use',
      ...judged(fn),
    }),
    long: ({ fn }) => ({
      does: `Computes ${fn} of more elements than one dimension of 65,535 workgroups of 256 holds.`,
      inputs: '1,021 random values over and over: a prime, so that it falls into step with no tile',
      ...judged(fn),
    }),
    specials: ({ fn }) => ({
      does: `Computes ${fn} of NaN, infinities, zeros, limits, and values where formulas cancel or change over; binary functions of all pairs of them. Special results follow C99 Annex F.`,
      ...judged(fn),
    }),
    subnormals: ({ fn }) => ({
      does: `Computes ${fn} of values below the smallest normal float32.`,
      ...judged(fn),
    }),
  };
}
