import { ATTENTION_FORMULA, GAMMA_FORMULA, gamma, LSE_FORMULA, SCORE_FORMULA } from '../checks/bounds.ts';
import type { BoundText, CaseText, CheckTexts } from '../harness/case-text.ts';
import { UNTOUCHED } from '../harness/case-text.ts';
import type { AttentionParams } from '../cases/attention/params.ts';

const WITHIN = `Every element of O is within the bound. ${UNTOUCHED}`;
const operands = ({ range, mask, maskDtype, dtype, dtypeKv }: AttentionParams): string =>
  `Q and K uniform in [-${range}, ${range}), V in [-1, 1)` +
  (mask === 'none'
    ? ''
    : maskDtype === 'u8'
      ? ', the mask from 1 to 255 and here and there 0'
      : ', the mask in [-2, 2) and here and there -Infinity') +
  (dtype === 'f16' ? ', rounded to binary16' : dtypeKv === 'own' ? '' : `, K and V rounded to ${dtypeKv}`);

function bound(params: AttentionParams): BoundText {
  const { seqQ, seqKv, headDim, scale, causal, causalOffset, window, mask, softcap, lse, dtype } = params;
  const last = Math.max(0, Math.min(seqKv, seqQ + causalOffset));
  const most = Math.min(causal ? last : seqKv, window === 0 ? Infinity : causal ? window : seqKv);
  const isEqual = !causal && window === 0;
  const byScores = softcap === 0 && mask === 'none' ? '' : SCORE_FORMULA;
  return {
    formula: `${ATTENTION_FORMULA}${byScores}${dtype === 'f16' ? ' + 1 ulp of binary16' : ''}${lse ? `; ${LSE_FORMULA}` : ''}`,
    where: {
      D: headDim,
      L: isEqual ? most : `at most ${most}, the keys that a query sees`,
      scale: scale === 0 ? 1 / Math.sqrt(headDim) : scale,
      'gamma(D+2)': gamma(headDim + 2),
      'largest gamma(4L)': gamma(4 * most),
      ...(softcap === 0 ? {} : { c: softcap }),
      ...{ u: 2 ** -23, gamma: GAMMA_FORMULA },
    },
  };
}

const judged =
  (does: string, kind: CaseText['kind'] = 'property'): ((params: AttentionParams) => CaseText) =>
  (params) => ({ does, inputs: operands(params), kind, passes: WITHIN, bound: bound(params) });

/** The words of the checks of attention. */
export const ATTENTION_TEXTS: CheckTexts<AttentionParams> = {
  bounded: judged('Computes attention over random operands and compares with float64.', 'bounded'),
  'one-key': (params) => ({
    does: 'Lets a query see one key only: the softmax is 1, and O is V, however large the score.',
    inputs: `Q and K uniform in [-${params.range}, ${params.range}), V with all bits of the mantissa in use`,
    kind: 'property',
    passes: `Every element of O is within 8 ulp of the V it sees. ${UNTOUCHED}`,
    bound: { formula: '8 ulp of the wanted value', where: {} },
  }),
  rows: (params) => ({
    does: 'Attention over a V of ones: the weights of a row sum to 1.',
    inputs: `Q and K uniform in [-${params.range}, ${params.range}), V 1`,
    ...{ kind: 'property', passes: WITHIN, bound: bound(params) },
  }),
  hidden: judged(
    'Makes the keys and values that causal and window hide from all queries NaN and infinite, and the mask there: they must not be seen.',
  ),
  unseen: judged('Hides all keys of every third query by a mask of -Infinity: it gives 0.'),
  'masked-nan': judged(
    'Adds a mask of -Infinity to scores of which one is NaN: where a query would see that key its row is NaN, as arithmetic has it; the others give 0.',
  ),
  specials: judged(
    'Puts a NaN into V, which shows in its column of every row that sees the key, and one into Q, which shows in its whole row.',
  ),
  infinite: judged(
    'Puts infinities into V: a column is infinite in every row that sees one, and NaN where two signs meet.',
  ),
  'bad-key': judged(
    'Puts a NaN into K: it shows in every query that sees the key, and is not taken for a score of -Infinity.',
  ),
  overflow: (params) => ({
    does: 'Scores that are beyond float32: they are infinite before scale is multiplied to them, also where they would be back in range. +Infinity makes the row NaN, -Infinity is a weight of 0.',
    inputs: `${operands(params)}; the first column of Q 2^66, -2^66 or 0, that of K times 2^-60, but 2^66 in one key of each head`,
    ...{ kind: 'property', passes: WITHIN, bound: bound(params) },
  }),
  rounding: () => ({
    does: 'Weighs two neighbours in binary16 by three quarters and one quarter: the sum is rounded to the nearer one.',
    inputs: 'Q 0, so that all weights are equal; three rows of V alike, one their neighbour',
    kind: 'exact',
    passes: `Every element of O is the nearer neighbour. ${UNTOUCHED}`,
  }),
  repeat: (params) => ({
    does: 'Makes the same call twice.',
    inputs: operands(params),
    kind: 'property',
    passes: `Both calls give the same bits. ${UNTOUCHED}`,
  }),
};
