import type { AttentionShape, AttentionViews, FloatDType, MaskDType, StoredFloatDType } from '@concord/backend-core';
import { ATTENTION_FORMULA, gamma, GAMMA_FORMULA, LSE_FORMULA, SCORE_FORMULA } from '../../checks/compare.ts';
import {
  type BoundText,
  type CaseText,
  type CheckTexts,
  defineSuite,
  type Suite,
  UNTOUCHED,
} from '../../harness/case.ts';
import type { Random } from '../../harness/random.ts';
import { ATTENTION_CHECKS } from './checks.ts';
import { FIELD_CASES, PLAIN_CASES } from './lists.ts';

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
const ATTENTION_TEXTS: CheckTexts<AttentionParams> = {
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

/** The layout of Q, K, V and O in memory: see `placement.ts`. */
type AttentionLayout = 'packed' | 'interleaved' | 'padded' | 'joined' | 'only q' | 'only k' | 'only v' | 'only o';

export type PlacedBy = 'none' | 'one' | 'each';

/** Parameters of attention. */
export type AttentionParams = {
  readonly batch: number;
  readonly heads: number;
  /** 0: as many as heads. */
  readonly kvHeads: number;
  readonly seqQ: number;
  readonly seqKv: number;
  readonly headDim: number;
  /** 0: headDim. */
  readonly valueDim: number;
  /** 0: 1 / sqrt(headDim). */
  readonly scale: number;
  /** 0: none. */
  readonly softcap: number;
  readonly causal: boolean;
  readonly causalOffset: number;
  /** 0: none. */
  readonly window: number;
  /** The axes along which the mask varies, of `bhqk`; the others have stride 0. `none`: no mask. `one`: of one number. */
  readonly mask: string;
  /** The storage of the mask; `own`: the dtype of Q, K and V. */
  readonly maskDtype: 'f32' | 'u8' | 'own';
  /** The numbers of keys in device memory: one for `each` batch, or `one` for all. `none`: seqKv. */
  readonly lengths: PlacedBy;
  /** The starts of the queries, likewise. */
  readonly starts: PlacedBy;
  /** True if the logarithms of the sums of exp(score) are written too. */
  readonly lse: boolean;
  readonly dtype: FloatDType;
  /** The dtype of K and V; `own`: `dtype`, always if that is f16 or all lie in one operand. */
  readonly dtypeKv: 'own' | 'f16' | 'bf16';
  readonly layout: AttentionLayout;
  /** Entries of Q and K are in [-range, range]. */
  readonly range: number;
  readonly offset: number;
  readonly together: boolean;
  readonly seed: number;
};

/** The parameters that an id leaves out. */
export const ATTENTION_DEFAULTS: AttentionParams = {
  batch: 1,
  heads: 1,
  kvHeads: 0,
  seqQ: 1,
  seqKv: 1,
  headDim: 1,
  valueDim: 0,
  scale: 0,
  softcap: 0,
  causal: false,
  causalOffset: 0,
  window: 0,
  mask: 'none',
  maskDtype: 'f32',
  lengths: 'none',
  starts: 'none',
  lse: false,
  dtype: 'f32',
  dtypeKv: 'own',
  layout: 'packed',
  range: 1,
  offset: 0,
  together: false,
  seed: 0,
};

/** The heads of K and V. */
export const kvHeadsOf = ({ heads, kvHeads }: AttentionParams): number => (kvHeads === 0 ? heads : kvHeads);

/** The columns of V and O. */
export const valueDimOf = ({ headDim, valueDim }: AttentionParams): number => (valueDim === 0 ? headDim : valueDim);

/** The shape without what says how operands lie. */
export function shapeOf(params: AttentionParams): AttentionShape {
  const { batch, heads, kvHeads, seqQ, seqKv, headDim, valueDim, softcap, causal, causalOffset, window, dtype } =
    params;
  return {
    ...{ batch, heads, seqQ, seqKv, headDim, causal },
    scale: params.scale === 0 ? 1 / Math.sqrt(headDim) : params.scale,
    ...(kvHeads === 0 ? {} : { kvHeads }),
    ...(valueDim === 0 ? {} : { valueDim }),
    ...(softcap === 0 ? {} : { softcap }),
    ...(causalOffset === 0 ? {} : { causalOffset }),
    ...(window === 0 ? {} : { window }),
    ...(dtype === 'f32' ? {} : { dtype }),
    ...(dtypeKvOf(params) === dtype ? {} : { dtypeKv: dtypeKvOf(params) }),
  };
}

/** The operands of a case that have pointers of their own, without those. */
export function viewsOf(params: AttentionParams): AttentionViews {
  const [lengths, starts] = [batchStrides(params.lengths), batchStrides(params.starts)];
  return {
    ...(params.mask === 'none' ? {} : { mask: { strides: maskStridesOf(params), ...maskType(params) } }),
    ...(lengths === undefined ? {} : { lengths: { strides: lengths } }),
    ...(starts === undefined ? {} : { starts: { strides: starts } }),
    ...(params.lse ? { lse: {} } : {}),
  };
}

/** Element type of K and V. */
export const dtypeKvOf = ({ dtype, dtypeKv, layout }: AttentionParams): StoredFloatDType =>
  dtypeKv === 'own' || dtype === 'f16' || layout === 'joined' ? dtype : dtypeKv;

/** Element type of the mask. */
export const maskDtypeOf = ({ maskDtype, dtype }: AttentionParams): MaskDType =>
  maskDtype === 'own' ? dtype : maskDtype;

const maskType = (params: AttentionParams): { dtype?: MaskDType } =>
  params.maskDtype === 'f32' ? {} : { dtype: maskDtypeOf(params) };

/** Strides of a packed mask over the axes of `mask`, 0 along the others. */
export function maskStridesOf({ mask, batch, heads, seqQ, seqKv }: AttentionParams): [number, number, number, number] {
  const sizes = { b: batch, h: heads, q: seqQ, k: seqKv };
  let stride = 1;
  const strides = (['k', 'q', 'h', 'b'] as const).map((axis) => {
    if (!mask.includes(axis) || mask === 'one') return 0;
    const own = stride;
    stride *= sizes[axis];
    return own;
  });
  return strides.reverse() as [number, number, number, number];
}

/** Strides of lengths or starts; undefined: there are none. */
const batchStrides = (by: PlacedBy): readonly [number] | undefined =>
  by === 'none' ? undefined : [by === 'one' ? 0 : 1];

function draw(random: Random): [string, AttentionParams] {
  const size = (): number => random.pick([random.integer(1, 6), random.integer(1, 80)]);
  const rarely = <T>(usual: T, other: () => T): T => (random.chance(0.25) ? other() : usual);
  const kvHeads = random.integer(1, 3);
  const seqQ = random.pick([1, size(), size()]);
  const layout = random.pick(['packed', 'packed', 'interleaved', 'padded', 'joined'] as const);
  const seqKv = layout === 'joined' ? seqQ : size();
  const mask = rarely('none', () => random.pick(['bhqk', 'hqk', 'qk', 'bk', 'k', 'q', 'one']));
  const params: AttentionParams = {
    batch: random.integer(1, 2),
    ...rarely({ heads: kvHeads, kvHeads: 0 }, () => ({ heads: kvHeads * random.integer(1, 8), kvHeads })),
    ...{ seqQ, seqKv, layout, mask, maskDtype: rarely('f32', () => random.pick(['u8', 'own'])) },
    headDim: random.pick([random.integer(1, 20), random.integer(1, 256), 64]),
    valueDim: rarely(0, () => random.pick([random.integer(1, 20), random.integer(1, 256)])),
    scale: random.pick([0, 0, 1, 0.01]),
    softcap: rarely(0, () => random.pick([0.5, 5, 50])),
    causal: random.chance(0.5),
    causalOffset: rarely(0, () => random.integer(-3, seqKv)),
    window: rarely(0, () => random.integer(1, seqKv + 1)),
    ...rarely({ lengths: 'none', starts: 'none' } as const, () => drawPlaces(random)),
    lse: random.chance(0.2),
    dtype: random.pick(['f32', 'f32', 'f16'] as const),
    dtypeKv: rarely('own', () => random.pick(['f16', 'bf16'] as const)),
    range: random.pick([1, 1, 4, 20]),
    offset: random.pick([0, 4, 12]),
    together: random.chance(0.2),
    seed: random.uint32(),
  };
  if (params.starts !== 'none') return ['bounded', { ...params, causalOffset: 0 }];
  if (params.causal && random.chance(0.2)) return ['hidden', params];
  if (mask !== 'none') return [random.pick(['bounded', 'bounded', 'rows', 'unseen', 'repeat']), params];
  return [random.pick(['bounded', 'bounded', 'rows', 'specials', 'bad-key', 'repeat']), params];
}

function drawPlaces(random: Random): Pick<AttentionParams, 'lengths' | 'starts'> {
  const by = () => random.pick(['none', 'one', 'each'] as const);
  return { lengths: by(), starts: by() };
}

function shrink(params: AttentionParams): Partial<AttentionParams>[] {
  const { batch, heads, seqQ, seqKv, headDim, kvHeads } = params;
  const smaller: Partial<AttentionParams>[] = [];
  const isJoined = params.layout === 'joined';
  for (const [name, size] of Object.entries({ batch, seqQ, ...(isJoined ? {} : { seqKv }), headDim })) {
    for (const next of size > 1 ? [Math.ceil(size / 2), size - 1] : []) {
      smaller.push({ [name]: next, ...(isJoined && name === 'seqQ' ? { seqKv: next } : {}) });
    }
  }
  if (kvHeads > 0) smaller.push({ kvHeads: 0 }, { heads: heads / kvHeads, kvHeads: 1 });
  else if (heads > 1) smaller.push({ heads: Math.ceil(heads / 2) }, { heads: heads - 1 });
  for (const name of ['softcap', 'causalOffset', 'window', 'offset', 'valueDim'] as const) {
    if (params[name] !== 0) smaller.push({ [name]: 0 });
  }
  if (params.mask !== 'none') smaller.push(...['none', 'k', 'one'].map((mask) => ({ mask })));
  if (params.maskDtype !== 'f32') smaller.push({ maskDtype: 'f32' });
  if (params.layout !== 'packed') smaller.push({ layout: 'packed' });
  if (params.dtype !== 'f32') smaller.push({ dtype: 'f32' });
  if (params.together) smaller.push({ together: false });
  if (params.causal) smaller.push({ causal: false });
  if (params.dtypeKv !== 'own') smaller.push({ dtypeKv: 'own' });
  if (params.lse) smaller.push({ lse: false });
  for (const name of ['lengths', 'starts'] as const) {
    if (params[name] !== 'none') smaller.push({ [name]: 'none' });
  }
  return smaller;
}

/** `attention`. */
export const attentionSuite: Suite = defineSuite<AttentionParams>({
  op: 'attention',
  defaults: ATTENTION_DEFAULTS,
  checks: ATTENTION_CHECKS,
  texts: ATTENTION_TEXTS,
  list: [...PLAIN_CASES, ...FIELD_CASES],
  needs: (params) => {
    const { dtype, dtypeKv, lengths, starts, mask, valueDim, lse } = params;
    const needsMore =
      lengths !== 'none' || starts !== 'none' || mask !== 'none' || valueDim !== 0 || lse || dtypeKv !== 'own';
    return needsMore ? { dtype, shape: { ...shapeOf(params), ...viewsOf(params) } } : { dtype };
  },
  draw,
  shrink,
});
