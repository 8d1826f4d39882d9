import type { AttentionShape, AttentionViews, StoredFloatDType, FloatDType, MaskDType } from '@concord/backend-core';

/** The layout of Q, K, V and O in memory: see `placement.ts`. */
export type AttentionLayout =
  | 'packed'
  | 'interleaved'
  | 'padded'
  | 'joined'
  | 'only q'
  | 'only k'
  | 'only v'
  | 'only o';

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
  /** How the mask is stored; `own`: as Q, K and V are. */
  readonly maskDtype: 'f32' | 'u8' | 'own';
  /** Of keys, in the memory of the device: of `each` batch its own, or `one` of all. `none`: seqKv. */
  readonly lengths: PlacedBy;
  /** Where queries begin, likewise. */
  readonly starts: PlacedBy;
  /** Also writes the logarithms of the sums of exp(score). */
  readonly lse: boolean;
  readonly dtype: FloatDType;
  /** Of K and V; `own`: as `dtype`, as ever where that is f16 or all lie in one operand. */
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
