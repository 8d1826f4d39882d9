import { GAMMA_FORMULA, gamma, REDUCE_FORMULA, reduceDepth } from '../checks/bounds.ts';
import { type CaseText, type CheckTexts, repeat, UNTOUCHED } from '../harness/case-text.ts';
import type { ReduceParams } from '../cases/reduce.ts';

/** The judgement of results: sums by the bound, unless they are exact; max and min have no rounding. */
function judged({ fn, shape, axis }: ReduceParams, exactly: CaseText['kind'] | undefined): Omit<CaseText, 'does'> {
  const isSum = fn === 'sum' || fn === 'mean';
  if (!isSum || (exactly !== undefined && fn !== 'mean')) {
    const passes = `Every element of the output has exactly the reference's value. ${UNTOUCHED}`;
    return { kind: exactly ?? 'exact', passes };
  }
  const n = shape[axis] ?? 0;
  const d = reduceDepth(n) + (fn === 'mean' ? 3 : 0);
  return {
    kind: 'bounded',
    passes: `Every element of the output is within the bound. ${UNTOUCHED}`,
    bound: {
      formula: fn === 'mean' ? `${REDUCE_FORMULA}; mean: gamma(d + 3), and the sum divided by n` : REDUCE_FORMULA,
      where: { n, d: reduceDepth(n), [fn === 'mean' ? 'gamma(d + 3)' : 'gamma(d)']: gamma(d), gamma: GAMMA_FORMULA },
    },
  };
}

/** The words of the checks of reduce. */
export const REDUCE_TEXTS: CheckTexts<ReduceParams> = {
  exact: (params) => ({
    does: `Takes the ${params.fn} of small integers along an axis: sums are exact in any order; the mean is divided, and so bounded. An empty axis gives 0, -Infinity, Infinity or NaN.`,
    inputs: 'integers from -8 to 8',
    ...judged(params, 'exact'),
  }),
  bounded: (params) => ({
    does: `Takes the ${params.fn} of numbers of many magnitudes along an axis and compares with float64.`,
    inputs: 'random signs, exponents from -3 to 3, one in twenty from -12 to 12',
    ...judged(params, undefined),
  }),
  positive: (params) => ({
    does: `Takes the ${params.fn} of a long axis of one sign, where an error that grows with the length shows most.`,
    inputs: 'uniform in [0.1, 1.1)',
    ...judged(params, undefined),
  }),
  equal: (params) => ({
    does: `Takes the ${params.fn} of one value over and over.`,
    inputs: 'the same value with all bits of its mantissa in use',
    ...judged(params, undefined),
  }),
  huge: (params) => ({
    does: `Takes the ${params.fn} of numbers near the end of float32's range: the mean is finite, and only a sum may be infinite.`,
    inputs: 'uniform in [2e38, 3.3e38), all of one sign',
    ...judged(params, undefined),
  }),
  specials: (params) => ({
    does: `Takes the ${params.fn} where there are NaN and infinities: NaN wins everywhere, infinities are as in arithmetic.`,
    inputs: 'integers from -4 to 4, few NaN and infinities',
    ...judged(params, 'exact'),
  }),
  repeat,
};
