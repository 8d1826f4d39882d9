import type { AttentionShape, AttentionViews, FloatDType, MaskDType, StoredFloatDType } from '@concord/backend-core';
import { defineSuite, type Suite } from '../../harness/case.ts';
import type { Random } from '../../harness/random.ts';
import { plainer, smallerSizes } from '../../harness/shrink.ts';
import { ATTENTION_CHECKS } from './checks.ts';
import { FIELD_CASES, PLAIN_CASES } from './lists.ts';

/** The layout of Q, K, V and O in memory: see `placement.ts`. */
type AttentionLayout = 'packed' | 'interleaved' | 'padded' | 'joined' | 'only q' | 'only k' | 'only v' | 'only o';

export type PlacedBy = 'none' | 'one' | 'each';

/** Parameters of attention, with the value that each has where an id leaves it out. */
export const ATTENTION_DEFAULTS = {
  batch: 1,
  heads: 1,
  /** 0: as many as heads. */
  kvHeads: 0,
  seqQ: 1,
  seqKv: 1,
  headDim: 1,
  /** 0: headDim. */
  valueDim: 0,
  /** 0: 1 / sqrt(headDim). */
  scale: 0,
  /** 0: none. */
  softcap: 0,
  causal: false,
  causalOffset: 0,
  /** 0: none. */
  window: 0,
  /** The axes along which the mask varies, of `bhqk`; the others have stride 0. `none`: no mask. `one`: of one number. */
  mask: 'none',
  /** The storage of the mask; `own`: the dtype of Q, K and V. */
  maskDtype: 'f32' as 'f32' | 'u8' | 'own',
  /** The numbers of keys in device memory: one for `each` batch, or `one` for all. `none`: seqKv. */
  lengths: 'none' as PlacedBy,
  /** The starts of the queries, likewise. */
  starts: 'none' as PlacedBy,
  /** True if the logarithms of the sums of exp(score) are written too. */
  lse: false,
  dtype: 'f32' as FloatDType,
  /** The dtype of K and V; `own`: `dtype`, always if that is f16 or all lie in one operand. */
  dtypeKv: 'own' as 'own' | 'f16' | 'bf16',
  layout: 'packed' as AttentionLayout,
  /** Entries of Q and K are in [-range, range]. */
  range: 1,
  offset: 0,
  together: false,
  seed: 0,
};

/** Parameters of attention. */
export type AttentionParams = Readonly<typeof ATTENTION_DEFAULTS>;

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
  const { batch, heads, seqQ, seqKv, headDim, kvHeads, mask, layout } = params;
  const isJoined = layout === 'joined';
  const sizes = Object.entries({ batch, seqQ, ...(isJoined ? {} : { seqKv }), headDim });
  const fewerHeads =
    kvHeads > 0
      ? [{ kvHeads: 0 }, { heads: heads / kvHeads, kvHeads: 1 }]
      : smallerSizes(heads).map((less) => ({ heads: less }));
  return [
    ...sizes.flatMap(([name, size]) =>
      smallerSizes(size).map((less) => ({ [name]: less, ...(isJoined && name === 'seqQ' ? { seqKv: less } : {}) })),
    ),
    ...fewerHeads,
    ...plainer(params, ATTENTION_DEFAULTS, ['softcap', 'causalOffset', 'window', 'offset', 'valueDim']),
    ...(mask === 'none' ? [] : ['none', 'k', 'one'].map((other) => ({ mask: other }))),
    ...plainer(params, ATTENTION_DEFAULTS, ['maskDtype', 'layout', 'dtype', 'together', 'causal', 'dtypeKv']),
    ...plainer(params, ATTENTION_DEFAULTS, ['lse', 'lengths', 'starts']),
  ];
}

/** `attention`. */
export const attentionSuite: Suite = defineSuite<AttentionParams>({
  op: 'attention',
  defaults: ATTENTION_DEFAULTS,
  checks: ATTENTION_CHECKS,
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
