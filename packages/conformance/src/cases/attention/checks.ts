import { f16BitsToF32, type StoredFloatDType } from '@concord/backend-core';
import { type AttentionReference, attentionReference, visibleKeys } from '@concord/backend-cpu/reference';
import { attentionBound, compareAll, lseBound, ulpF16, ulpF32 } from '../../checks/compare.ts';
import type { CaseContext, Check } from '../../harness/case.ts';
import { checkPlanned, checkRepeat, type PlanCall } from '../../harness/planned-call.ts';
import type { Random } from '../../harness/random.ts';
import { roundingTo } from '../../run/placement.ts';
import {
  type AttentionParams,
  dtypeKvOf,
  kvHeadsOf,
  maskStridesOf,
  type PlacedBy,
  shapeOf,
  valueDimOf,
  viewsOf,
} from './suite.ts';
import { type AttentionOperands, placeAttention } from './placement.ts';

/** The share of a drawn mask that hides its key. */
const HIDDEN_PART = 0.3;

function drawOperands({ random }: CaseContext, params: AttentionParams): AttentionOperands {
  const { batch, heads, seqQ, seqKv, headDim, range, mask } = params;
  const uniform = (length: number, limit: number): Float32Array =>
    Float32Array.from({ length }, () => (random.unit() * 2 - 1) * limit);
  const q = uniform(batch * heads * seqQ * headDim, range);
  const k = uniform(batch * kvHeadsOf(params) * seqKv * headDim, range);
  const v = uniform((k.length / headDim) * valueDimOf(params), 1);
  const maskOf = (length: number): Float32Array =>
    params.maskDtype === 'u8' ? Float32Array.from({ length }, () => random.integer(1, 255)) : uniform(length, 2);
  const drawn = { q, k, v, mask: mask === 'none' ? undefined : maskOf(maskLength(params)) };
  const places = {
    lengths: drawPlaces(params, params.lengths, () => random.pick([0, seqKv, random.integer(0, seqKv), 2 ** 32 - 1])),
    starts: drawPlaces(params, params.starts, () =>
      random.pick([0, random.integer(-seqQ - 2, seqKv + 2), -(2 ** 31), 2 ** 31 - 1]),
    ),
  };
  for (const i of drawn.mask?.keys() ?? []) if (random.chance(HIDDEN_PART)) drawn.mask?.fill(hiding(params), i, i + 1);
  return { ...stored(params, drawn), ...places };
}

function drawPlaces({ batch }: AttentionParams, by: PlacedBy, place: () => number): readonly number[] | undefined {
  return by === 'none' ? undefined : Array.from({ length: by === 'one' ? 1 : batch }, place);
}

function maskLength({ batch, heads, seqQ, seqKv, ...params }: AttentionParams): number {
  const strides = maskStridesOf({ batch, heads, seqQ, seqKv, ...params });
  return [batch, heads, seqQ, seqKv].reduce((sum, size, axis) => sum + (size - 1) * (strides[axis] as number), 1);
}

/** Returns the value in a mask that hides a key. */
const hiding = ({ maskDtype }: AttentionParams): number => (maskDtype === 'u8' ? 0 : -Infinity);

/** Q, K, V and the mask as they are stored. */
function stored(params: AttentionParams, { q, k, v, mask }: AttentionOperands): AttentionOperands {
  const { dtype, maskDtype } = params;
  const round = (values: Float32Array, to: StoredFloatDType = dtype): Float32Array => values.map(roundingTo(to));
  const kv = dtypeKvOf(params);
  return { q: round(q), k: round(k, kv), v: round(v, kv), mask: maskDtype === 'own' ? mask && round(mask) : mask };
}

/** The keys from the first to before the second are what a query of a batch sees. */
function seenKeys(params: AttentionParams, { lengths, starts }: AttentionOperands, batch: number, query: number) {
  const of = (values: readonly number[] | undefined, by: PlacedBy) => values?.[by === 'one' ? 0 : batch];
  const length = of(lengths, params.lengths) ?? params.seqKv;
  return visibleKeys({ ...shapeOf(params), ...viewsOf(params), length, start: of(starts, params.starts) }, query);
}

function oracle(params: AttentionParams, { q, k, v, mask, lengths, starts }: AttentionOperands): AttentionReference {
  return attentionReference({ ...shapeOf(params), ...viewsOf(params) }, q, k, v, mask, { lengths, starts });
}

/**
 * Compares a packed result with the oracle.
 *
 * @throws {CaseFailure} where it is out of bounds
 */
export function compareWithOracle(params: AttentionParams, got: Float32Array, operands: AttentionOperands): void {
  const { heads, seqQ, headDim, dtype } = params;
  const valueDim = valueDimOf(params);
  const { value, magnitude, scoreMagnitude, spread, scoreSpread } = oracle(params, operands);
  compareAll('o', got, value, {
    format: dtype,
    bound: (i) => {
      const row = Math.floor(i / valueDim);
      const [first, end] = seenKeys(params, operands, Math.floor(row / seqQ / heads), row % seqQ);
      const bound = attentionBound({
        ...{ headDim, keys: end - first, scoreMagnitude: scoreMagnitude[row] as number },
        magnitude: magnitude[i] as number,
        spread: spread[i] as number,
        scoreSpread: scoreSpread[i] as number,
      });
      return bound + (dtype === 'f16' ? ulpF16(value[i] as number) : 0);
    },
  });
}

/**
 * Compares logarithms of sums of exp(score) with the oracle.
 *
 * @throws {CaseFailure} where one is out of bounds
 */
export function compareSums(params: AttentionParams, got: Float32Array, operands: AttentionOperands): void {
  const { heads, seqQ, headDim } = params;
  const { lse, largest, scoreMagnitude, weightSpread, scoreError } = oracle(params, operands);
  compareAll('lse', got, lse, {
    bound: (row) => {
      const [first, end] = seenKeys(params, operands, Math.floor(row / seqQ / heads), row % seqQ);
      return lseBound({
        ...{ headDim, keys: end - first, scoreMagnitude: scoreMagnitude[row] as number },
        ...{ weightSpread: weightSpread[row] as number, scoreError: scoreError[row] as number },
        ...{ lse: lse[row] as number, largest: largest[row] as number },
      });
    },
  });
}

/** Changes drawn operands. */
type Change = (operands: AttentionOperands, random: Random, params: AttentionParams) => AttentionOperands | void;
type Judge = (params: AttentionParams, got: Float32Array, operands: AttentionOperands) => void;

const planChanged =
  (change: Change, judge: Judge = compareWithOracle): PlanCall<AttentionParams> =>
  (slots, context, params) => {
    const { backend, random } = context;
    const drawn = drawOperands(context, params);
    const operands = change(drawn, random, params) ?? drawn;
    const placed = placeAttention(slots, params, operands);
    const shape = { ...shapeOf(params), ...(params.layout === 'packed' ? {} : { strides: placed.strides }) };
    return {
      op: 'attention',
      shape: { ...shape, ...viewsOf(params) },
      call: () => backend.attention({ ...shape, ...placed.pointers() }),
      judge: () => {
        judge(params, placed.output(), operands);
        if (placed.lse !== undefined) compareSums(params, placed.lse.values(), operands);
      },
    };
  };

/** Uniform values, judged by the error bound. */
export const planAttention: PlanCall<AttentionParams> = planChanged(() => undefined);

const anywhere = (values: Float32Array, random: Random): number => random.integer(0, values.length - 1);

const CHANGES: Readonly<Record<string, Change>> = {
  bounded: () => undefined,
  /** The weights of a row sum to 1: attention over ones gives ones. */
  rows: ({ v }) => void v.fill(1),
  /** Values that causal and window hide from all queries may be NaN or infinite without effect, in the mask too. */
  hidden: (operands, random, params) => {
    const { k, v, mask } = operands;
    const { batch, headDim, seqKv, seqQ } = params;
    const ranges = Array.from({ length: batch * seqQ }, (_, row) =>
      seenKeys(params, operands, Math.floor(row / seqQ), row % seqQ),
    );
    const isHiddenIn = (of: typeof ranges, key: number): boolean =>
      of.every(([first, end]) => key < first || key >= end);
    const isHidden = (key: number): boolean => isHiddenIn(ranges, key);
    for (const [values, width] of [[k, headDim] as const, [v, valueDimOf(params)] as const]) {
      for (let i = 0; i < values.length; i++) {
        const of = Math.floor((i / values.length) * batch) * seqQ;
        if (!isHiddenIn(ranges.slice(of, of + seqQ), Math.floor(i / width) % seqKv)) continue;
        values[i] = random.pick([Number.NaN, Infinity, -Infinity]);
      }
    }
    if (mask === undefined || !params.mask.endsWith('k') || params.maskDtype === 'u8') return;
    for (const i of mask.keys()) if (isHidden(i % seqKv)) mask[i] = random.pick([Number.NaN, Infinity]);
  },
  /** Every third query has a mask of -Infinity: it sees no key, and gives 0. The others see some. */
  unseen: (operands, _, params) => {
    const { seqQ, seqKv } = params;
    const mask = operands.mask as Float32Array;
    const [, , queryStride, keyStride] = maskStridesOf(params);
    for (const i of mask.keys()) {
      const query = queryStride === 0 ? 0 : Math.floor(i / queryStride) % seqQ;
      const key = keyStride === 0 ? 0 : i % seqKv;
      if (query % 3 === 0) mask[i] = hiding(params);
      else if (key === seenKeys(params, operands, 0, query)[0]) mask[i] = params.maskDtype === 'u8' ? 1 : 0;
    }
  },
  /** A mask of -Infinity is added like any other: a NaN score stays NaN, and its row is NaN. */
  'masked-nan': ({ k, mask }, random, params) => {
    const { seqKv, headDim } = params;
    const key = random.integer(0, seqKv - 1);
    k.fill(Number.NaN, key * headDim, (key + 1) * headDim);
    mask?.fill(hiding(params));
  },
  /** A NaN in V shows in its column of every row that sees the key; one in Q in its whole row. */
  specials: ({ q, v }, random) => {
    v[anywhere(v, random)] = Number.NaN;
    q[anywhere(q, random)] = Number.NaN;
  },
  /**
   * An infinity in V makes its column infinite in every row that sees the key; two of different sign make it NaN. For scores that
   * are close together: no weight may underflow.
   */
  infinite: ({ v }, random, params) => {
    for (const value of [Infinity, -Infinity]) {
      for (let count = 0; count < 4; count++) v[anywhere(v, random)] = value;
    }
    // In the last column of the last head both signs meet.
    v[v.length - 1] = Infinity;
    v[v.length - 1 - valueDimOf(params)] = -Infinity;
  },
  /** A NaN in K shows in every query that sees the key: it is not a score of -Infinity. */
  'bad-key': ({ k }, random) => {
    k[anywhere(k, random)] = Number.NaN;
  },
  /**
   * Scores that are beyond float32 are infinite before scale is multiplied to them, also where they would be back in range:
   * +Infinity makes the row NaN, -Infinity is a weight of 0. One key of a head overflows with two of three queries.
   */
  overflow: ({ q, k }, random, { seqQ, seqKv, headDim }) => {
    for (let i = 0; i < q.length; i += headDim) q[i] = [2 ** 66, -(2 ** 66), 0][((i / headDim) % seqQ) % 3] as number;
    for (let i = 0; i < k.length; i += headDim) k[i] = (k[i] as number) * 2 ** -60;
    for (let head = 0; head < k.length; head += seqKv * headDim) {
      k[head + random.integer(0, seqKv - 1) * headDim] = 2 ** 66;
    }
  },
};

/** A softmax over one key is 1, and O is V. */
const planOneKey = planChanged(
  (drawn, random) => ({ ...drawn, v: drawn.v.map(() => random.wideFloat()) }),
  (params, got, operands) => {
    const { value } = oracle(params, operands);
    compareAll('o against v', got, value, { bound: (i) => 8 * ulpF32(value[i] as number) });
  },
);

/** Sums of three quarters and one quarter of two neighbours in binary16 are rounded to the nearer: Q is 0. */
const planRounding = planChanged(
  ({ q, v }, random, params) => {
    const valueDim = valueDimOf(params);
    const [often, once] = [0, 1].map(() => new Float32Array(valueDim)) as [Float32Array, Float32Array];
    for (const d of often.keys()) {
      // Magnitudes are ordered as their bits are.
      const bits = random.integer(1, 0x7bfe) | (random.chance(0.5) ? 0x8000 : 0);
      const [here, above] = [f16BitsToF32(bits), f16BitsToF32(bits + 1)];
      [often[d], once[d]] = random.chance(0.5) ? [here, above] : [above, here];
    }
    for (let row = 0; row * valueDim < v.length; row++) v.set(row % 4 === 1 ? once : often, row * valueDim);
    q.fill(0);
  },
  // The first row of V is one of the three.
  (params, got, { v }) =>
    compareAll(
      'o',
      got,
      got.map((_, i) => v[i % valueDimOf(params)] as number),
      { format: 'f16', bound: () => 0 },
    ),
);

/** The checks of attention by name. */
export const ATTENTION_CHECKS: Readonly<Record<string, Check<AttentionParams>>> = {
  ...Object.fromEntries(Object.entries(CHANGES).map(([name, change]) => [name, checkPlanned(planChanged(change))])),
  'one-key': checkPlanned(planOneKey),
  repeat: checkRepeat(planAttention),
  rounding: checkPlanned(planRounding),
};
