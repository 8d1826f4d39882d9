import { f16BitsToF32, fromF16Array, toF16Array } from '@concord/backend-core';
import { type AttentionReference, attentionReference } from '@concord/backend-cpu/reference';
import { attentionBound, ulpF16, ulpF32 } from '../../checks/bounds.ts';
import { compareAll, compareBytes } from '../../checks/compare.ts';
import type { CaseContext } from '../../harness/case.ts';
import { checkPlanned, type PlanCall } from '../../harness/planned-call.ts';
import type { Check } from '../../harness/suite.ts';
import { Workspace } from '../../harness/workspace.ts';
import { type AttentionParams, kvHeadsOf, maskStridesOf, shapeOf, visibleKeys } from './params.ts';
import { type AttentionOperands, placeAttention } from './placement.ts';

/** Which part of a drawn mask hides its key. */
const HIDDEN_PART = 0.3;

function drawOperands({ random }: CaseContext, params: AttentionParams): AttentionOperands {
  const { batch, heads, seqQ, seqKv, headDim, range, mask } = params;
  const uniform = (length: number, limit: number): Float32Array =>
    Float32Array.from({ length }, () => (random.unit() * 2 - 1) * limit);
  const q = uniform(batch * heads * seqQ * headDim, range);
  const k = uniform(batch * kvHeadsOf(params) * seqKv * headDim, range);
  const v = uniform(k.length, 1);
  const drawn = { q, k, v, mask: mask === 'none' ? undefined : uniform(maskLength(params), 2) };
  for (const i of drawn.mask?.keys() ?? []) if (random.chance(HIDDEN_PART)) drawn.mask?.fill(-Infinity, i, i + 1);
  return stored(params, drawn);
}

function maskLength({ batch, heads, seqQ, seqKv, ...params }: AttentionParams): number {
  const strides = maskStridesOf({ batch, heads, seqQ, seqKv, ...params });
  return [batch, heads, seqQ, seqKv].reduce((sum, size, axis) => sum + (size - 1) * (strides[axis] as number), 1);
}

/** Q, K and V as the dtype stores them. */
function stored({ dtype }: AttentionParams, { q, k, v, mask }: AttentionOperands): AttentionOperands {
  const round = (values: Float32Array): Float32Array => (dtype === 'f16' ? fromF16Array(toF16Array(values)) : values);
  return { q: round(q), k: round(k), v: round(v), mask };
}

async function attend(
  { backend }: CaseContext,
  params: AttentionParams,
  operands: AttentionOperands,
): Promise<Float32Array> {
  const workspace = new Workspace(backend, { offsetBytes: params.offset, together: params.together });
  const placed = placeAttention(workspace, params, operands);
  const layout = params.layout === 'packed' ? {} : { strides: placed.strides };
  await workspace.run(() => backend.attention({ ...shapeOf(params), ...layout, ...placed.pointers() }));
  return placed.output();
}

function oracle(params: AttentionParams, { q, k, v, mask }: AttentionOperands): AttentionReference {
  const masked = mask === undefined ? {} : { mask: { strides: maskStridesOf(params) } };
  return attentionReference({ ...shapeOf(params), ...masked }, q, k, v, mask);
}

/**
 * Compares a packed result with the oracle.
 *
 * @throws {CaseFailure} where it is out of bounds
 */
export function compareWithOracle(params: AttentionParams, got: Float32Array, operands: AttentionOperands): void {
  const { seqQ, headDim, dtype } = params;
  const { value, magnitude, scoreMagnitude, spread, scoreSpread } = oracle(params, operands);
  compareAll('o', got, value, {
    format: dtype,
    bound: (i) => {
      const row = Math.floor(i / headDim);
      const [first, end] = visibleKeys(params, row % seqQ);
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

/** Uniform values, judged by the error bound. */
export const planAttention: PlanCall<AttentionParams> = (slots, context, params) => {
  const { backend } = context;
  const operands = drawOperands(context, params);
  const placed = placeAttention(slots, params, operands);
  const shape = { ...shapeOf(params), ...(params.layout === 'packed' ? {} : { strides: placed.strides }) };
  return {
    op: 'attention',
    shape: params.mask === 'none' ? shape : { ...shape, mask: { strides: maskStridesOf(params) } },
    call: () => backend.attention({ ...shape, ...placed.pointers() }),
    judge: () => compareWithOracle(params, placed.output(), operands),
  };
};

/** With one key the softmax is 1, and O is V. */
async function checkOneKey(context: CaseContext, params: AttentionParams): Promise<void> {
  const { random } = context;
  const drawn = drawOperands(context, params);
  const operands = { ...drawn, v: drawn.v.map(() => random.wideFloat()) };
  const got = await attend(context, params, operands);
  const { value } = oracle(params, operands);
  compareAll('o against v', got, value, { bound: (i) => 8 * ulpF32(value[i] as number) });
}

/** The weights of a row sum to 1: attention over ones gives ones. */
async function checkRows(context: CaseContext, params: AttentionParams): Promise<void> {
  const drawn = drawOperands(context, params);
  const operands = { ...drawn, v: drawn.v.fill(1) };
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/** Values that causal and window hide from all queries may be NaN or infinite without effect, in the mask too. */
async function checkHidden(context: CaseContext, params: AttentionParams): Promise<void> {
  const { random } = context;
  const { headDim, seqKv, seqQ } = params;
  const operands = drawOperands(context, params);
  const ranges = Array.from({ length: seqQ }, (_, query) => visibleKeys(params, query));
  const isHidden = (key: number): boolean => ranges.every(([first, end]) => key < first || key >= end);
  for (let i = 0; i < operands.k.length; i++) {
    if (!isHidden(Math.floor(i / headDim) % seqKv)) continue;
    operands.k[i] = random.pick([Number.NaN, Infinity, -Infinity]);
    operands.v[i] = random.pick([Number.NaN, Infinity, -Infinity]);
  }
  const { mask } = operands;
  if (mask !== undefined && params.mask.endsWith('k')) {
    for (const i of mask.keys()) if (isHidden(i % seqKv)) mask[i] = random.pick([Number.NaN, Infinity]);
  }
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/** Every third query has a mask of -Infinity: it sees no key, and gives 0. The others see some. */
async function checkUnseen(context: CaseContext, params: AttentionParams): Promise<void> {
  const { seqQ, seqKv } = params;
  const operands = drawOperands(context, params);
  const mask = operands.mask as Float32Array;
  const [, , queryStride, keyStride] = maskStridesOf(params);
  for (const i of mask.keys()) {
    const query = queryStride === 0 ? 0 : Math.floor(i / queryStride) % seqQ;
    const key = keyStride === 0 ? 0 : i % seqKv;
    if (query % 3 === 0) mask[i] = -Infinity;
    else if (key === visibleKeys(params, query)[0]) mask[i] = 0;
  }
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/** A mask of -Infinity is added like any other: a NaN score stays NaN, and its row is NaN. */
async function checkMaskedNaN(context: CaseContext, params: AttentionParams): Promise<void> {
  const operands = drawOperands(context, params);
  const key = context.random.integer(0, params.seqKv - 1);
  operands.k.fill(Number.NaN, key * params.headDim, (key + 1) * params.headDim);
  operands.mask?.fill(-Infinity);
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/** A NaN in V shows in its column of every row that sees the key; one in Q in its whole row. */
async function checkSpecials(context: CaseContext, params: AttentionParams): Promise<void> {
  const { random } = context;
  const operands = drawOperands(context, params);
  operands.v[random.integer(0, operands.v.length - 1)] = Number.NaN;
  operands.q[random.integer(0, operands.q.length - 1)] = Number.NaN;
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/**
 * An infinity in V makes its column infinite in every row that sees the key; two of different sign make it NaN. For
 * scores that are close together: no weight may underflow.
 */
async function checkInfinite(context: CaseContext, params: AttentionParams): Promise<void> {
  const { random } = context;
  const operands = drawOperands(context, params);
  const { v } = operands;
  for (let count = 0; count < 4; count++) v[random.integer(0, v.length - 1)] = Infinity;
  for (let count = 0; count < 4; count++) v[random.integer(0, v.length - 1)] = -Infinity;
  // In the last column of the last head both signs meet.
  v[v.length - 1] = Infinity;
  v[v.length - 1 - params.headDim] = -Infinity;
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/** A NaN in K shows in every query that sees the key: it is not a score of -Infinity. */
async function checkBadKey(context: CaseContext, params: AttentionParams): Promise<void> {
  const operands = drawOperands(context, params);
  operands.k[context.random.integer(0, operands.k.length - 1)] = Number.NaN;
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/**
 * Scores that are beyond float32 are infinite before scale is multiplied to them, also where they would be back in range:
 * +Infinity makes the row NaN, -Infinity is a weight of 0. One key of a head overflows with two of three queries.
 */
async function checkOverflow(context: CaseContext, params: AttentionParams): Promise<void> {
  const { random } = context;
  const { seqQ, seqKv, headDim } = params;
  const operands = drawOperands(context, params);
  const { q, k } = operands;
  for (let i = 0; i < q.length; i += headDim) q[i] = [2 ** 66, -(2 ** 66), 0][((i / headDim) % seqQ) % 3] as number;
  for (let i = 0; i < k.length; i += headDim) k[i] = (k[i] as number) * 2 ** -60;
  for (let head = 0; head < k.length; head += seqKv * headDim) {
    k[head + random.integer(0, seqKv - 1) * headDim] = 2 ** 66;
  }
  compareWithOracle(params, await attend(context, params, operands), operands);
}

async function checkRepeat(context: CaseContext, params: AttentionParams): Promise<void> {
  const operands = drawOperands(context, params);
  const first = await attend(context, params, operands);
  const second = await attend(context, params, operands);
  compareBytes('second of two equal calls', new Uint8Array(second.buffer), new Uint8Array(first.buffer));
}

/** Sums of three quarters and one quarter of two neighbours in binary16 are rounded to the nearer. */
async function checkRounding(context: CaseContext, params: AttentionParams): Promise<void> {
  const { random } = context;
  const { headDim } = params;
  const operands = drawOperands(context, params);
  const [often, once] = [0, 1].map(() => new Float32Array(headDim)) as [Float32Array, Float32Array];
  for (const d of often.keys()) {
    // Magnitudes are ordered as their bits are.
    const bits = random.integer(1, 0x7bfe) | (random.chance(0.5) ? 0x8000 : 0);
    const [here, above] = [f16BitsToF32(bits), f16BitsToF32(bits + 1)];
    [often[d], once[d]] = random.chance(0.5) ? [here, above] : [above, here];
  }
  for (let row = 0; row * headDim < operands.v.length; row++) {
    operands.v.set(row % 4 === 1 ? once : often, row * headDim);
  }
  const got = await attend(context, params, { ...operands, q: operands.q.fill(0) });
  compareAll(
    'o',
    got,
    Float32Array.from(got, (_, i) => often[i % headDim] as number),
    { format: 'f16', bound: () => 0 },
  );
}

/** The checks of attention by name. */
export const ATTENTION_CHECKS: Readonly<Record<string, Check<AttentionParams>>> = {
  bounded: checkPlanned(planAttention),
  'one-key': checkOneKey,
  rows: checkRows,
  hidden: checkHidden,
  unseen: checkUnseen,
  'masked-nan': checkMaskedNaN,
  specials: checkSpecials,
  infinite: checkInfinite,
  'bad-key': checkBadKey,
  overflow: checkOverflow,
  repeat: checkRepeat,
  rounding: checkRounding,
};
