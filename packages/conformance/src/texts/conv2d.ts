import { GAMMA_FORMULA, gamma, PRODUCT_FORMULA } from '../checks/bounds.ts';
import { type CheckTexts, repeat, UNTOUCHED } from '../harness/case-text.ts';
import type { Conv2dParams } from '../checks/conv2d-data.ts';

const EXACTLY = `Every element of the output has exactly the reference's value, rounded once to the format. ${UNTOUCHED}`;

const EPILOGUE = `Every element of the output is what the kernel may give for a sum within its bound, rounded once. ${UNTOUCHED}`;

/** Products summed for one output element; transposed, at most. */
function termsOf({ input, filter, groups }: Conv2dParams): number {
  const [, channels = 0] = input;
  const [, height = 0, width = 0] = filter;
  return (channels / groups) * height * width;
}

/** The words of the checks of conv2dForward. */
export const CONV2D_TEXTS: CheckTexts<Conv2dParams> = {
  exact: () => ({
    does: 'Convolves small integers. Every order of summation gives the same bits, so a wrong index shows.',
    inputs: 'integers from -8 to 8',
    kind: 'exact',
    passes: EXACTLY,
  }),
  'exact-wide': () => ({
    does: 'Convolves full mantissas with filters of one power of two each, which moves them about: a device that rounds its inputs loses bits.',
    inputs: 'input: all bits of the mantissa in use; filter: one 0.5, 1 or -2 in each, else 0',
    kind: 'exact-wide',
    passes: EXACTLY,
  }),
  bounded: (params) => ({
    does: 'Convolves random values and compares with float64.',
    inputs: 'uniform in [-1, 1)',
    kind: 'bounded',
    passes: `Every element of the output is within the bound. ${UNTOUCHED}`,
    bound: {
      formula: params.dtype === 'f16' ? `${PRODUCT_FORMULA} + 1 ulp of binary16` : PRODUCT_FORMULA,
      where: {
        ...{ k: termsOf(params), alpha: 1, beta: 0 },
        ...{ 'gamma(k+3)': gamma(termsOf(params) + 3), gamma: GAMMA_FORMULA },
      },
    },
  }),
  specials: () => ({
    does: 'Puts three NaN or infinities into the input: they reach the outputs whose window holds them, and no other.',
    inputs: 'integers from -3 to 3, the filter finite',
    kind: 'exact',
    passes: EXACTLY,
  }),
  epilogue: () => ({
    does: 'Convolves integers whose sums binary16 does not hold, and lets a kernel make the output of them.',
    inputs: 'integers from -60 to 60; from -8 to 8 in the inputs of the epilogue',
    kind: 'exact',
    passes: EPILOGUE,
  }),
  'epilogue-bounded': (params) => ({
    does: 'Convolves random values and lets a kernel make the output of the sums.',
    inputs: 'uniform in [-1, 1)',
    kind: 'bounded',
    passes: EPILOGUE,
    bound: {
      formula: PRODUCT_FORMULA,
      where: {
        ...{ k: termsOf(params), alpha: 1, beta: 0 },
        ...{ 'gamma(k+3)': gamma(termsOf(params) + 3), gamma: GAMMA_FORMULA },
      },
    },
  }),
  repeat,
};
