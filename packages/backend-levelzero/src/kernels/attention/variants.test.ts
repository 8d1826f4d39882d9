import { describe, it, vi } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { type AttentionCase, type AttentionCheck, checkAttention } from '../../../../backend-cpu/test/op-memory.ts';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { memoryOf } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceTraits } from '../recorder.ts';
import { planAttention } from './plan.ts';
import type { SubgroupVariant } from './subgroup.ts';
import type { AttentionVariant } from './table.ts';
import { wideTable } from './wide.ts';

// The software driver generates code at the first launch, which takes seconds on a free core.
vi.setConfig({ testTimeout: 180_000 });

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

const client = opened(() => LevelZeroClient.open());

type Choose = NonNullable<Parameters<typeof planAttention>[2]>;
type Options = Pick<AttentionCheck, 'spoil' | 'bound'> & { readonly traits?: Partial<DeviceTraits> };

/** Attention by one variant, one element into its memory. */
const check = (
  shape: AttentionCase,
  choose?: Choose,
  { traits = {}, bound = 2e-6, spoil }: Options = {},
): Promise<void> =>
  checkAttention(
    memoryOf(client),
    shape,
    (call) => client.record('attention', (recorder) => planAttention(call, withTraits(recorder, traits), choose)),
    { spoil, bound, leads: [1, 1] },
  );

/** Beside and between the blocks of queries, keys and columns; fewer queries than keys, and more. */
const SHAPES: readonly AttentionCase[] = [
  { seqQ: 1, seqKv: 33, headDim: 16 },
  { heads: 2, seqQ: 17, seqKv: 31, headDim: 33 },
  { heads: 3, seqQ: 9, seqKv: 70, headDim: 64 },
  { seqQ: 40, seqKv: 7, headDim: 31 },
  { seqQ: 5, seqKv: 65, headDim: 63 },
];
const NARROW: readonly AttentionCase[] = [
  { heads: 2, seqQ: 5, seqKv: 3, headDim: 4 },
  { seqQ: 70, seqKv: 70, headDim: 1 },
  { heads: 3, seqQ: 9, seqKv: 40, headDim: 15 },
];
const LARGE: readonly AttentionCase[] = [
  { heads: 2, seqQ: 9, seqKv: 70, headDim: 80 },
  { seqQ: 66, seqKv: 33, headDim: 128 },
  { seqQ: 3, seqKv: 65, headDim: 256 },
];

const one = (...variants: readonly Omit<AttentionVariant, 'splits'>[]): readonly AttentionVariant[] =>
  [1, 3].flatMap((splits) => variants.map((variant) => ({ splits, ...variant })));
/** Both sizes of sub-groups, alone and several; heads that fill a kernel, and less. */
const SUBGROUPS: readonly Omit<SubgroupVariant, 'splits'>[] = [
  { id: 'attention/subgroups-8', lanes: 8, rows: 4, subgroups: 8, headDim: 64, isExact: false },
  { id: 'attention/subgroups-8', lanes: 16, rows: 8, subgroups: 8, headDim: 64, isExact: true, registers: 'large' },
  { id: 'attention/subgroup', lanes: 16, rows: 1, subgroups: 1, headDim: 256, isExact: false },
  { id: 'attention/subgroups-8', lanes: 8, rows: 2, subgroups: 8, headDim: 128, isExact: true },
];
const VARIANTS: readonly AttentionVariant[] = [
  ...one({ id: 'attention/row' }),
  ...one(...wideTable.ids.map((id) => ({ id }))),
  ...one(...SUBGROUPS),
];

const isBySubgroups = (variant: AttentionVariant): variant is SubgroupVariant => 'lanes' in variant;

/** The calls that a variant takes. */
function shapesFor(variant: AttentionVariant): readonly AttentionCase[] {
  if (variant.id === 'attention/row') return [...SHAPES, ...LARGE];
  if (isBySubgroups(variant)) {
    const all = [...SHAPES, ...NARROW, ...LARGE];
    if (!variant.isExact) return all.filter(({ headDim }) => headDim <= variant.headDim);
    return [
      ...all.filter(({ headDim }) => headDim === variant.headDim),
      { ...SHAPES[1], headDim: variant.headDim },
    ] as AttentionCase[];
  }
  if (variant.id === 'attention/wide-16') return [...SHAPES.slice(0, 1), ...SHAPES.slice(3, 4), ...NARROW];
  return [...SHAPES.slice(1, 3), ...SHAPES.slice(4), ...LARGE];
}

/** Calls with each field, and with all of them, for heads of a dimension. */
function anyCalls(headDim: number): readonly AttentionCase[] {
  const [seqQ, seqKv] = [19, 75];
  const few = { heads: 4, seqQ, seqKv, headDim };
  const queries = [seqQ * 4 * headDim, headDim, 4 * headDim] as const;
  const keys = [seqKv * 2 * (headDim + 1), headDim + 1, 2 * (headDim + 1)] as const;
  const all: AttentionCase = {
    ...{ ...few, batch: 2, kvHeads: 2, softcap: 2, causal: true, causalOffset: 20, window: 33 },
    strides: { q: queries, k: keys, v: keys, o: queries },
    mask: { strides: [0, seqQ * seqKv, seqKv, 1] },
  };
  return [
    { ...few, kvHeads: 1 },
    { ...few, causal: true, causalOffset: 30, window: 40 },
    { ...few, heads: 1, window: 3 },
    { ...few, heads: 1, causal: true, causalOffset: -9 },
    { ...few, heads: 2, mask: { strides: [0, 0, seqKv, 1] } },
    { ...few, heads: 2, softcap: 1.5 },
    { ...few, heads: 2, dtype: 'f16' },
    all,
    { ...all, dtype: 'f16' },
    { ...all, seqQ: 1, mask: { strides: [0, 0, 0, 1] } },
  ];
}

/** Splits of at least a tile of keys, of which there may be fewer than wanted. */
const split = (variant: AttentionVariant, keys: number): AttentionVariant => ({
  ...variant,
  splits: Math.min(variant.splits, Math.ceil(keys / 64)),
});

describe.each(VARIANTS.map((variant) => [JSON.stringify(variant), variant] as const))('%s', (_, variant) => {
  const choose: Choose = ({ keys }) => split(variant, keys);
  const cases = shapesFor(variant).flatMap((shape) => [shape, { ...shape, causal: true }]);

  it.each(cases)('%j', (shape) => check(shape, choose));

  it('what the mask hides is not seen, NaN and infinities too', async () => {
    for (const shape of cases.filter(({ causal, seqQ, seqKv }) => causal && seqKv > seqQ)) {
      await check(shape, choose, {
        spoil: ({ k, v }, { seqQ, seqKv, headDim }) => {
          for (const [i] of k.entries()) {
            if (Math.floor(i / headDim) % seqKv < seqQ) continue;
            k[i] = [Number.NaN, Infinity, -Infinity][i % 3] as number;
            v[i] = [Infinity, Number.NaN, -Infinity][i % 3] as number;
          }
        },
      });
    }
  });

  it('a NaN in K or V, and an infinity in V, show where the oracle has them', async () => {
    for (const shape of cases) {
      await check(shape, choose, { spoil: ({ v }) => v.fill(Number.NaN, v.length >> 1, (v.length >> 1) + 1) });
      await check(shape, choose, { spoil: ({ k }) => k.fill(Number.NaN, 0, 1) });
      await check(shape, choose, { spoil: ({ v }) => v.fill(Infinity, v.length - 1) });
    }
  });

  it('in grids of few columns', async () => {
    for (const shape of cases) await check(shape, choose, { traits: { maxGroups: [7, 65_535, 1] } });
  });

  it('any call', async () => {
    const [{ headDim }] = shapesFor(variant).slice(-1) as [AttentionCase];
    // Sub-groups are emulated here, and slow: calls with all fields only.
    const calls = anyCalls(headDim);
    for (const shape of isBySubgroups(variant) ? calls.slice(-3) : calls) {
      await check(shape, choose, { bound: 1e-5 });
    }
  });

  it('large scores of both signs', async () => {
    for (const shape of cases) {
      const spoil: AttentionCheck['spoil'] = ({ q }) => q.forEach((value, i) => void (q[i] = 100 * value));
      await check(shape, choose, { spoil, bound: 2e-4 });
    }
  });
});

it('wide, some heads at a time', () =>
  check({ heads: 7, seqQ: 9, seqKv: 40, headDim: 9 }, undefined, {
    traits: { isCpuLike: true, maxAllocationBytes: 2 * 4 * 40 * 16 },
  }));

it('many keys, in parts', async () => {
  for (const isCpuLike of [true, false]) {
    await check({ seqQ: 2, seqKv: 20_001, headDim: 24 }, undefined, { traits: { isCpuLike } });
  }
});
