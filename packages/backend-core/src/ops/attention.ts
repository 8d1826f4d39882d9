import { BYTES_OF, type StoredFloatDType, type FloatDType } from '../contract/element-types.ts';
import {
  checkBoolean,
  checkDType,
  checkedExtent,
  checkFloat32,
  checkOneOf,
  checkPositive,
  checkSize,
  checkSizes,
  describe,
} from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { checkFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import { areDistinct } from '../kernel/check-run.ts';
import type { CheckedCall, OpDefinition } from './op-definition.ts';

/** Elements from one batch, head and row to the next. */
export type HeadStrides = readonly [batch: number, head: number, seq: number];

/** A mask over `[batch, heads, seqQ, seqKv]`. */
export interface MaskView {
  /** Elements from one index of an axis to the next; 0 repeats. Default: packed. */
  readonly strides?: readonly [batch: number, head: number, query: number, key: number];
  /** `'f32'` (default) or the dtype of q, k, v and o: what is added. `'u8'`: 0 counts as -Infinity, any other as 0. Features. */
  readonly dtype?: MaskDType;
}

/** Element type of a mask. */
export type MaskDType = FloatDType | 'u8';

/** A number for each batch, in the memory of the device. */
export interface BatchView {
  /** Elements from one batch to the next; 0 repeats. Default: `[1]`. */
  readonly strides?: readonly [batch: number];
}

/**
 * Shape of `O = softmax(scores) V` for every (batch, head), where `scores = scale * Q K^T`, then `softcap`, then `mask`,
 * then what `causal` and `window` leave. A query that sees no key gives 0.
 */
export interface AttentionShape {
  readonly batch: number;
  readonly heads: number;
  /** Heads of K and V; divides `heads`, and each serves `heads / kvHeads` consecutive ones. Default: `heads`. */
  readonly kvHeads?: number;
  /** Rows of Q and O. */
  readonly seqQ: number;
  /** Rows of K and V. */
  readonly seqKv: number;
  /** Columns of Q and K; at most `capabilities.limits.maxHeadDim`. */
  readonly headDim: number;
  /** Columns of V and O, likewise. Default: `headDim`; another is a feature. */
  readonly valueDim?: number;
  /** Positive and finite; rounded to float32 first. Usually `1 / sqrt(headDim)`. */
  readonly scale: number;
  /** Turns a score s into `softcap * tanh(s / softcap)`. Positive and finite. Default: none. */
  readonly softcap?: number;
  /** Default false. True: query i sees key j only when `j <= i + causalOffset`. */
  readonly causal?: boolean;
  /**
   * Place of query 0 among the keys: the length of a cache before it. Any integer; default 0. With `lengths` it counts from
   * where the last query has the place of the last key, with `starts` it must be 0.
   */
  readonly causalOffset?: number;
  /** Query i sees key j only when `j > place of i - window`. At least 1. Default: no limit. */
  readonly window?: number;
  /** Layouts that are not packed; each row of `headDim`, or `valueDim`, is dense. */
  readonly strides?: {
    readonly q?: HeadStrides;
    readonly k?: HeadStrides;
    readonly v?: HeadStrides;
    readonly o?: HeadStrides;
  };
  /** Storage of q, o, and by default k and v. Default `'f32'`. `'f16'` computes in float32 and rounds once, to nearest even. */
  readonly dtype?: FloatDType;
  /** Storage of k and v. Where `dtype` is `'f32'` also `'f16'` and `'bf16'`, which are features. */
  readonly dtypeKv?: StoredFloatDType;
}

/**
 * Arguments of `attention`: q is `[batch, heads, seqQ, headDim]`, k `[batch, kvHeads, seqKv, headDim]`, v `[batch, kvHeads, seqKv,
 * valueDim]`, o `[batch, heads, seqQ, valueDim]`.
 */
export interface AttentionCall extends AttentionShape {
  readonly q: DevicePtr;
  readonly k: DevicePtr;
  readonly v: DevicePtr;
  readonly o: DevicePtr;
  /** Added to the scores, see {@link MaskView}; -Infinity hides a key, unless its score is NaN or its value infinite: see `docs/numerics.md`. */
  readonly mask?: MaskView & { readonly ptr: DevicePtr };
  /**
   * u32, `[batch]`: of the keys of a batch the first `min(length, seqKv)` exist; what lies behind is not seen. The place of its
   * query i is `that - seqQ + causalOffset + i`. A feature: see `capabilities.features`.
   */
  readonly lengths?: BatchView & { readonly ptr: DevicePtr };
  /** i32, `[batch]`: the place of query i is `start + i`, a start beyond 2^30 either way being as good as 2^30. A feature. */
  readonly starts?: BatchView & { readonly ptr: DevicePtr };
  /**
   * An output, f32, packed `[batch, heads, seqQ]`: log of the sum of exp(score) over the keys that a query sees; -Infinity where it sees
   * none. A feature.
   */
  readonly lse?: { readonly ptr: DevicePtr };
}

/** The fields of an attention that have pointers of their own, without them. */
export interface AttentionViews {
  readonly mask?: MaskView;
  readonly lengths?: BatchView;
  readonly starts?: BatchView;
  readonly lse?: object;
}

/** An attention with its defaults filled in. */
export interface CheckedAttention extends CheckedCall {
  readonly batch: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly seqQ: number;
  readonly seqKv: number;
  readonly headDim: number;
  readonly valueDim: number;
  /** float32 */
  readonly scale: number;
  /** float32; 0: none. */
  readonly softcap: number;
  readonly causal: boolean;
  readonly causalOffset: number;
  /** Infinity: no limit. */
  readonly window: number;
  /** Strides of the mask; undefined without one. */
  readonly maskStrides: readonly number[] | undefined;
  /** `'f32'` without a mask, too. */
  readonly maskDtype: MaskDType;
  /** Elements from one batch to the next; undefined: none. */
  readonly lengthStride: number | undefined;
  readonly startStride: number | undefined;
  readonly hasLse: boolean;
  readonly qStrides: HeadStrides;
  readonly kStrides: HeadStrides;
  readonly vStrides: HeadStrides;
  readonly oStrides: HeadStrides;
  readonly dtype: FloatDType;
  readonly dtypeKv: StoredFloatDType;
}

/** `attention`. */
export const attention: OpDefinition<AttentionShape & AttentionViews, CheckedAttention> = {
  kernel: 'attention',
  operands: ['q', 'k', 'v', 'o'],
  output: 'o',
  fields: {
    batch: 'size',
    heads: 'size',
    kvHeads: 'size',
    seqQ: 'size',
    seqKv: 'size',
    headDim: 'size',
    valueDim: 'size',
    scale: 'number',
    softcap: 'number',
    mask: 'object',
    lengths: 'object',
    starts: 'object',
    lse: 'object',
    causal: 'boolean',
    causalOffset: 'axis',
    window: 'size',
    strides: 'object',
    dtype: 'word',
    dtypeKv: 'word',
  },
  nested: {
    mask: ['ptr', 'strides', 'dtype'],
    lengths: ['ptr', 'strides'],
    starts: ['ptr', 'strides'],
    lse: ['ptr'],
    strides: ['q', 'k', 'v', 'o'],
  },
  scalars: { scale: isPositive, softcap: isPositive },
  read: (call) => {
    const { batch, heads, kvHeads, seqQ, seqKv, headDim, valueDim, scale, softcap, mask, lengths, starts } = call;
    const { lse, causal, causalOffset, window, strides, dtype, dtypeKv, q, k, v, o } = call;
    const sizes = [batch, heads, kvHeads, seqQ, seqKv, headDim, valueDim];
    const views = [mask, lengths, starts, lse];
    return [...sizes, scale, softcap, ...views, causal, causalOffset, window, strides, dtype, dtypeKv, q, k, v, o];
  },
  dtypes: ['f32', 'f16'],
  check,
  cost: (call) => {
    const { batch, heads, kvHeads, seqQ, seqKv, headDim, valueDim, dtype, dtypeKv } = call;
    return {
      operations: 2 * batch * heads * seenKeys(call) * (headDim + valueDim),
      bytes: batch * (heads * seqQ * BYTES_OF[dtype] + kvHeads * seqKv * BYTES_OF[dtypeKv]) * (headDim + valueDim),
    };
  },
  sample: {
    shape: { batch: 1, heads: 2, seqQ: 3, seqKv: 4, headDim: 5, scale: 1 },
    nothingToDo: [{ batch: 0 }, { heads: 0 }],
  },
};

function isPositive(value: number): boolean {
  return value > 0 && value < Infinity;
}

/** The keys that all queries of a head see, together; of places and lengths in memory at most. */
function seenKeys({ seqQ, seqKv, causal, causalOffset, window, lengthStride, startStride }: CheckedAttention): number {
  if (startStride !== undefined) return seqQ * Math.min(seqKv, window);
  const first = lengthStride === undefined ? causalOffset : seqKv - seqQ + causalOffset;
  let keys = 0;
  for (let behind = first + 1; behind <= first + seqQ; behind++)
    keys += Math.max(0, Math.min(seqKv, causal ? behind : seqKv) - Math.max(0, behind - window));
  return keys;
}

function check(shape: AttentionShape & AttentionViews): CheckedAttention | null {
  const { batch, heads, seqQ, seqKv, headDim } = shape;
  checkSize('batch', batch);
  checkSize('heads', heads);
  checkSize('seqQ', seqQ);
  checkSize('seqKv', seqKv);
  checkSize('headDim', headDim);
  const valueDim = shape.valueDim ?? headDim;
  checkSize('valueDim', valueDim);
  const kvHeads = shape.kvHeads ?? heads;
  checkSize('kvHeads', kvHeads);
  const givenScale: unknown = shape.scale;
  const scale = checkFloat32('scale', givenScale);
  const softcap = shape.softcap === undefined ? 0 : checkFloat32('softcap', shape.softcap);
  const causal = checkBoolean('causal', shape.causal, false);
  const causalOffset = shape.causalOffset ?? 0;
  if (!Number.isSafeInteger(causalOffset)) {
    throw invalid(`causalOffset must be a safe integer, got ${describe(causalOffset)}`);
  }
  const window = shape.window ?? Infinity;
  if (shape.window !== undefined) checkPositive('window', window);
  const given = readStrides(shape.strides);
  const maskSizes = readView('mask', shape.mask, ['batch', 'head', 'query', 'key'], ['dtype']);
  const lengthSizes = readView('lengths', shape.lengths, ['batch']);
  const startSizes = readView('starts', shape.starts, ['batch']);
  readView('lse', shape.lse, []);
  const hasLse = shape.lse !== undefined;
  const dtype = checkDType(shape.dtype);
  const caches = dtype === 'f32' ? (['f32', 'f16', 'bf16'] as const) : [dtype];
  const dtypeKv = checkOneOf<StoredFloatDType>('dtypeKv', shape.dtypeKv ?? dtype, caches);
  const maskDtype = checkOneOf('mask.dtype', shape.mask?.dtype ?? 'f32', [...new Set(['f32', dtype, 'u8'] as const)]);

  if (seqQ === 0 || seqKv === 0 || headDim === 0) {
    throw invalid(`seqQ, seqKv and headDim must all be > 0, got ${seqQ}, ${seqKv} and ${headDim}`);
  }
  if (valueDim === 0) throw invalid('valueDim must be > 0, got 0');
  // Judged after rounding: a scale that float32 turns into 0 or Infinity is as useless as one given so.
  if (!isPositive(scale)) {
    throw invalid(`scale must be a positive finite number, got ${String(givenScale)}`);
  }
  if (shape.softcap !== undefined && !isPositive(softcap)) {
    throw invalid(`softcap must be a positive finite number, got ${String(shape.softcap)}`);
  }
  if (shape.starts !== undefined && causalOffset !== 0) {
    throw invalid(`causalOffset must be 0 where starts are given, got ${causalOffset}`);
  }
  if (batch === 0 || heads === 0) return null;
  if (kvHeads === 0 || heads % kvHeads !== 0) throw invalid(`kvHeads ${kvHeads} must divide heads ${heads}`);

  const packed = (count: number, rows: number, width: number): HeadStrides => [
    count * rows * width,
    rows * width,
    width,
  ];
  const [qStrides, kStrides, vStrides, oStrides] = [
    given.q ?? packed(heads, seqQ, headDim),
    given.k ?? packed(kvHeads, seqKv, headDim),
    given.v ?? packed(kvHeads, seqKv, valueDim),
    given.o ?? packed(heads, seqQ, valueDim),
  ];
  const [queries, results] = [headDim, valueDim].map((width) => [batch, heads, seqQ, width]) as [number[], number[]];
  const [keys, values] = [headDim, valueDim].map((width) => [batch, kvHeads, seqKv, width]) as [number[], number[]];
  const maskStrides = maskSizes === undefined ? undefined : (maskSizes ?? packedMask(heads, seqQ, seqKv));
  const lengthStride = strideOf(lengthSizes);
  const startStride = strideOf(startSizes);
  const eachBatch = (name: string, dtype: 'u32' | 'i32', stride: number | undefined) =>
    stride === undefined ? [] : [{ name, dtype, elements: extent(name, [batch], [stride]) }];
  const operands = [
    { name: 'q', dtype, elements: extent('q', queries, [...qStrides, 1]) },
    { name: 'k', dtype: dtypeKv, elements: extent('k', keys, [...kStrides, 1]) },
    { name: 'v', dtype: dtypeKv, elements: extent('v', values, [...vStrides, 1]) },
    ...(maskStrides === undefined
      ? []
      : [{ name: 'mask', dtype: maskDtype, elements: extent('mask', [batch, heads, seqQ, seqKv], maskStrides) }]),
    ...eachBatch('lengths', 'u32', lengthStride),
    ...eachBatch('starts', 'i32', startStride),
    ...(hasLse ? [{ name: 'lse', dtype: 'f32' as const, elements: batch * heads * seqQ, output: true }] : []),
    { name: 'o', dtype, elements: extent('o', results, [...oStrides, 1]), output: true },
  ];
  if (!areDistinct(results, [...oStrides, 1])) {
    throw invalid(`strides.o [${oStrides.join(', ')}] may let rows of o coincide: [${results.join(', ')}]`);
  }
  // One literal: an object that is put together from parts gets slow when its operands are added.
  return {
    batch,
    heads,
    kvHeads,
    seqQ,
    seqKv,
    headDim,
    valueDim,
    scale,
    softcap,
    causal,
    causalOffset,
    window,
    maskStrides,
    maskDtype,
    lengthStride,
    startStride,
    hasLse,
    qStrides,
    kStrides,
    vStrides,
    oStrides,
    dtype,
    dtypeKv,
    operands,
    needs: [
      ...(lengthStride === undefined ? [] : (['lengths'] as const)),
      ...(startStride === undefined ? [] : (['starts'] as const)),
      ...(hasLse ? (['lse'] as const) : []),
      ...(dtypeKv === dtype ? [] : ([`dtypeKv ${dtypeKv as 'f16' | 'bf16'}`] as const)),
      ...(valueDim === headDim ? [] : (['valueDim'] as const)),
      ...(maskDtype === 'f32' ? [] : ([`mask ${maskDtype}`] as const)),
    ],
  };
}

type GivenStrides = { readonly [Name in 'q' | 'k' | 'v' | 'o']?: HeadStrides };

function readStrides(value: unknown): GivenStrides {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null) throw invalid(`strides must be an object, got ${describe(value)}`);
  checkFields('strides', value, ['q', 'k', 'v', 'o']);
  const { q, k, v, o } = value as Record<string, unknown>;
  const read: Record<string, HeadStrides> = {};
  for (const [name, given] of Object.entries({ q, k, v, o })) {
    if (given === undefined) continue;
    const strides = checkSizes(`strides.${name}`, given);
    if (strides.length !== 3) {
      throw invalid(`strides.${name} must have 3 elements [batch, head, seq], got ${strides.length}`);
    }
    read[name] = strides as HeadStrides;
  }
  return read;
}

/** Strides of an operand that is given with its pointer; null: packed; undefined: there is none. */
function readView(
  name: string,
  value: unknown,
  axes: readonly string[],
  others: readonly string[] = [],
): readonly number[] | null | undefined {
  if (value === undefined) return undefined;
  const fields = [...(axes.length === 0 ? [] : ['strides']), ...others];
  if (typeof value !== 'object' || value === null)
    throw invalid(
      `${name} must be { ${['ptr', ...fields.map((each) => `${each}?`)].join(', ')} }, got ${describe(value)}`,
    );
  checkFields(name, value, ['ptr', ...fields]);
  const { strides } = value as { readonly strides?: unknown };
  if (strides === undefined) return null;
  const checked = checkSizes(`${name}.strides`, strides);
  if (checked.length === axes.length) return checked;
  const elements = `${axes.length} element${axes.length === 1 ? '' : 's'}`;
  throw invalid(`${name}.strides must have ${elements} [${axes.join(', ')}], got ${checked.length}`);
}

const strideOf = (sizes: readonly number[] | null | undefined): number | undefined =>
  sizes === undefined ? undefined : (sizes?.[0] ?? 1);

function packedMask(heads: number, seqQ: number, seqKv: number): readonly number[] {
  return [heads * seqQ * seqKv, seqQ * seqKv, seqKv, 1];
}

function extent(name: string, shape: readonly number[], strides: readonly number[]): number {
  return checkedExtent(
    name,
    shape.reduce((sum, size, axis) => sum + (size - 1) * (strides[axis] as number), 1),
  );
}
