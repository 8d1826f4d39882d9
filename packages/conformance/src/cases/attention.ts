import { attentionReference } from '@concord/backend-cpu/reference';
import { attentionBound, ulpF32 } from '../checks/bounds.ts';
import { compareAll, compareBytes } from '../checks/compare.ts';
import type { CaseContext } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';
import { defineSuite, type Suite } from '../harness/suite.ts';
import { Workspace } from '../harness/workspace.ts';
import { ATTENTION_TEXTS } from '../texts/attention.ts';

/** Parameters of attention. */
export type AttentionParams = {
  readonly batch: number;
  readonly heads: number;
  readonly seqQ: number;
  readonly seqKv: number;
  readonly headDim: number;
  /** 0: 1 / sqrt(headDim). */
  readonly scale: number;
  readonly causal: boolean;
  /** Entries of Q and K are in [-range, range]. */
  readonly range: number;
  readonly offset: number;
  readonly together: boolean;
  readonly seed: number;
};

interface Operands {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

function shapeOf(params: AttentionParams) {
  const { batch, heads, seqQ, seqKv, headDim, causal } = params;
  const scale = params.scale === 0 ? 1 / Math.sqrt(headDim) : params.scale;
  return { batch, heads, seqQ, seqKv, headDim, causal, scale };
}

function drawOperands({ random }: CaseContext, params: AttentionParams): Operands {
  const { batch, heads, seqQ, seqKv, headDim, range } = params;
  const uniform = (length: number, limit: number): Float32Array =>
    Float32Array.from({ length }, () => (random.unit() * 2 - 1) * limit);
  const q = uniform(batch * heads * seqQ * headDim, range);
  const k = uniform(batch * heads * seqKv * headDim, range);
  return { q, k, v: uniform(k.length, 1) };
}

async function attend({ backend }: CaseContext, params: AttentionParams, { q, k, v }: Operands): Promise<Float32Array> {
  const workspace = new Workspace(backend, { offsetBytes: params.offset, together: params.together });
  const slots = { q: workspace.input(q), k: workspace.input(k), v: workspace.input(v) };
  const o = workspace.output(q.length);
  await workspace.run(() =>
    backend.attention({ ...shapeOf(params), q: slots.q.ptr, k: slots.k.ptr, v: slots.v.ptr, o: o.ptr }),
  );
  return o.values();
}

function compareWithOracle(params: AttentionParams, got: Float32Array, operands: Operands): void {
  const { seqQ, seqKv, headDim, causal } = params;
  const { q, k, v } = operands;
  const { value, magnitude, scoreMagnitude, spread } = attentionReference(shapeOf(params), q, k, v);
  compareAll('o', got, value, {
    bound: (i) => {
      const row = Math.floor(i / headDim);
      const keys = causal ? Math.min(seqKv, (row % seqQ) + 1) : seqKv;
      const terms = { magnitude: magnitude[i] as number, spread: spread[i] as number };
      return attentionBound({ headDim, keys, scoreMagnitude: scoreMagnitude[row] as number, ...terms });
    },
  });
}

async function checkBounded(context: CaseContext, params: AttentionParams): Promise<void> {
  const operands = drawOperands(context, params);
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/** With one key the softmax is 1, and O is V. */
async function checkOneKey(context: CaseContext, params: AttentionParams): Promise<void> {
  const { random } = context;
  const drawn = drawOperands(context, params);
  const operands = { ...drawn, v: drawn.v.map(() => random.wideFloat()) };
  const got = await attend(context, params, operands);
  const { value } = attentionReference(shapeOf(params), operands.q, operands.k, operands.v);
  compareAll('o against v', got, value, { bound: (i) => 8 * ulpF32(value[i] as number) });
}

/** The weights of a row sum to 1: attention over ones gives ones. */
async function checkRows(context: CaseContext, params: AttentionParams): Promise<void> {
  const drawn = drawOperands(context, params);
  const operands = { ...drawn, v: drawn.v.fill(1) };
  compareWithOracle(params, await attend(context, params, operands), operands);
}

/** What the causal mask hides may be NaN or infinite without being seen. */
async function checkHidden(context: CaseContext, params: AttentionParams): Promise<void> {
  const { random } = context;
  const { headDim, seqKv, seqQ } = params;
  const operands = drawOperands(context, params);
  for (let i = 0; i < operands.k.length; i++) {
    if (Math.floor(i / headDim) % seqKv < seqQ) continue;
    operands.k[i] = random.pick([Number.NaN, Infinity, -Infinity]);
    operands.v[i] = random.pick([Number.NaN, Infinity, -Infinity]);
  }
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

type Entry = readonly [string, Partial<AttentionParams>];

/** seqQ, seqKv, headDim */
const SIZES: readonly (readonly [number, number, number])[] = [
  [1, 1, 1],
  [1, 33, 8],
  [5, 3, 4],
  [3, 5, 7],
  [16, 16, 16],
  [17, 31, 33],
  [64, 65, 64],
  [33, 129, 40],
  [65, 17, 128],
  [2, 3, 256],
];

const list: Entry[] = [
  ...SIZES.flatMap(([seqQ, seqKv, headDim]): Entry[] => [
    ['bounded', { seqQ, seqKv, headDim }],
    ['bounded', { seqQ, seqKv, headDim, causal: true }],
  ]),
  ...SIZES.slice(3, 8).map(([seqQ, seqKv, headDim]): Entry => ['rows', { seqQ, seqKv, headDim, range: 3 }]),
  ['bounded', { batch: 2, heads: 3, seqQ: 7, seqKv: 9, headDim: 5 }],
  ['bounded', { batch: 3, heads: 2, seqQ: 9, seqKv: 7, headDim: 5, causal: true }],
  ['bounded', { batch: 2, heads: 2, seqQ: 20, seqKv: 20, headDim: 24, offset: 4 }],
  ['bounded', { batch: 2, heads: 2, seqQ: 20, seqKv: 20, headDim: 24, offset: 4, together: true }],
  ['bounded', { seqQ: 4, seqKv: 1500, headDim: 16 }],
  ['bounded', { seqQ: 3, seqKv: 2501, headDim: 4 }],
  ['bounded', { seqQ: 2, seqKv: 20_001, headDim: 8 }],
  ['bounded', { seqQ: 501, seqKv: 9, headDim: 4 }],
  ['bounded', { seqQ: 501, seqKv: 501, headDim: 3, causal: true }],
  ['bounded', { seqQ: 300, seqKv: 300, headDim: 16, causal: true }],
  ['bounded', { seqQ: 8, seqKv: 40, headDim: 16, range: 30 }],
  ['bounded', { seqQ: 8, seqKv: 40, headDim: 16, range: 30, causal: true }],
  ['bounded', { seqQ: 4, seqKv: 20, headDim: 4, range: 100, scale: 1 }],
  ['bounded', { seqQ: 8, seqKv: 8, headDim: 8, scale: 2.5 }],
  ['bounded', { seqQ: 8, seqKv: 8, headDim: 8, scale: 1e-30 }],
  ['bounded', { batch: 660, heads: 100, seqQ: 1, seqKv: 2, headDim: 2 }],
  ['rows', { seqQ: 70, seqKv: 70, headDim: 8, causal: true, range: 3 }],
  ['rows', { seqQ: 3, seqKv: 700, headDim: 8, range: 6 }],
  ['one-key', { batch: 2, heads: 2, seqQ: 5, seqKv: 1, headDim: 64 }],
  // Large scores of both signs: with a maximum that starts at 0 the weights of the negative ones vanish.
  ['one-key', { batch: 2, heads: 3, seqQ: 5, seqKv: 1, headDim: 64, range: 50 }],
  ['one-key', { seqQ: 1, seqKv: 40, headDim: 33, causal: true, range: 5 }],
  ['one-key', { seqQ: 3, seqKv: 1, headDim: 100, causal: true, range: 50 }],
  ['hidden', { heads: 2, seqQ: 5, seqKv: 40, headDim: 8, causal: true }],
  ['hidden', { seqQ: 40, seqKv: 70, headDim: 64, causal: true }],
  ['specials', { heads: 2, seqQ: 9, seqKv: 12, headDim: 8 }],
  ['specials', { heads: 2, seqQ: 12, seqKv: 12, headDim: 8, causal: true }],
  ['infinite', { heads: 2, seqQ: 9, seqKv: 12, headDim: 8 }],
  ['infinite', { heads: 2, seqQ: 20, seqKv: 20, headDim: 8, causal: true }],
  ['infinite', { seqQ: 5, seqKv: 300, headDim: 16 }],
  ['infinite', { seqQ: 70, seqKv: 70, headDim: 33, causal: true }],
  ['bad-key', { heads: 2, seqQ: 9, seqKv: 12, headDim: 8 }],
  ['bad-key', { heads: 2, seqQ: 20, seqKv: 20, headDim: 8, causal: true }],
  ['bad-key', { heads: 2, seqQ: 5, seqKv: 200, headDim: 8 }],
  ['overflow', { scale: 2 ** -10 }],
  ['overflow', { heads: 2, seqQ: 9, seqKv: 12, headDim: 8, scale: 2 ** -10 }],
  ['overflow', { heads: 2, seqQ: 20, seqKv: 20, headDim: 8, scale: 2 ** -10, causal: true }],
  ['overflow', { seqQ: 5, seqKv: 300, headDim: 16, scale: 2 ** -10 }],
  ['overflow', { seqQ: 70, seqKv: 70, headDim: 33, scale: 2 ** -10, causal: true }],
  ['overflow', { seqQ: 130, seqKv: 200, headDim: 64, scale: 2 ** -10 }],
  ['repeat', { heads: 2, seqQ: 33, seqKv: 65, headDim: 32 }],
  ['repeat', { heads: 2, seqQ: 65, seqKv: 65, headDim: 32, causal: true }],
];

function draw(random: Random): [string, AttentionParams] {
  const size = (): number => random.pick([random.integer(1, 6), random.integer(1, 80)]);
  const params: AttentionParams = {
    batch: random.integer(1, 2),
    heads: random.integer(1, 3),
    seqQ: size(),
    seqKv: size(),
    headDim: random.pick([random.integer(1, 20), random.integer(1, 256), 64]),
    scale: random.pick([0, 0, 1, 0.01]),
    causal: random.chance(0.5),
    range: random.pick([1, 1, 4, 20]),
    offset: random.pick([0, 4, 12]),
    together: random.chance(0.2),
    seed: random.uint32(),
  };
  if (params.causal && random.chance(0.2)) return ['hidden', params];
  return [random.pick(['bounded', 'bounded', 'rows', 'specials', 'bad-key', 'repeat']), params];
}

function shrink(params: AttentionParams): Partial<AttentionParams>[] {
  const { batch, heads, seqQ, seqKv, headDim } = params;
  const smaller: Partial<AttentionParams>[] = [];
  for (const [name, size] of Object.entries({ batch, heads, seqQ, seqKv, headDim })) {
    if (size > 1) smaller.push({ [name]: Math.ceil(size / 2) }, { [name]: size - 1 });
  }
  if (params.offset > 0) smaller.push({ offset: 0 });
  if (params.together) smaller.push({ together: false });
  if (params.causal) smaller.push({ causal: false });
  return smaller;
}

/** `attention`. */
export const attentionSuite: Suite = defineSuite<AttentionParams>({
  op: 'attention',
  defaults: {
    batch: 1,
    heads: 1,
    seqQ: 1,
    seqKv: 1,
    headDim: 1,
    scale: 0,
    causal: false,
    range: 1,
    offset: 0,
    together: false,
    seed: 0,
  },
  checks: {
    bounded: checkBounded,
    'one-key': checkOneKey,
    rows: checkRows,
    hidden: checkHidden,
    specials: checkSpecials,
    infinite: checkInfinite,
    'bad-key': checkBadKey,
    overflow: checkOverflow,
    repeat: checkRepeat,
  },
  texts: ATTENTION_TEXTS,
  list,
  needs: () => ({ dtype: 'f32' }),
  draw,
  shrink,
});
