import { attentionReference } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { readFloats, upload } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceTraits, Span } from '../recorder.ts';
import { type AttentionVariant, COLUMNS, named } from './choose-variant.ts';
import { planAttention } from './plan.ts';

// The software driver generates code at the first launch, which takes seconds on a free core.
vi.setConfig({ testTimeout: 180_000 });

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

interface Shape {
  readonly heads?: number;
  readonly seqQ: number;
  readonly seqKv: number;
  readonly headDim: number;
  readonly causal?: boolean;
}

interface Operands {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
}

interface Options {
  /** Changes what was drawn. */
  readonly spoil?: (operands: Operands, shape: Shape) => void;
  readonly traits?: Partial<DeviceTraits>;
  /** Largest difference, relative to the largest value of V. */
  readonly bound?: number;
}

let client: LevelZeroClient;
beforeAll(async () => {
  client = await LevelZeroClient.open();
});
afterAll(() => client.dispose());

/** Numbers in [-1, 1). */
function drawn(length: number, seed: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => (Math.imul(i * 2 + seed, 0x9e3779b1) >>> 8) / 2 ** 23 - 1);
}

/** One element into memory of its own, with another one behind it. */
const inside = (values: Float32Array): Span => {
  const { buffer, byteLength } = upload(client, [Number.NaN, ...values, Number.NaN]);
  return { buffer, byteOffset: 4, byteLength: byteLength - 8 };
};

type Choose = NonNullable<Parameters<typeof planAttention>[2]>;

/** Attention by one variant, compared with the oracle; what lies around the output is unchanged. */
async function check(shape: Shape, choose?: Choose, options: Options = {}): Promise<void> {
  const { heads = 1, seqQ, seqKv, headDim, causal = false } = shape;
  const { spoil, traits = {}, bound = 2e-6 } = options;
  const call = { batch: 1, heads, seqQ, seqKv, headDim, causal, scale: 1 / Math.sqrt(headDim) };
  const values = {
    q: drawn(heads * seqQ * headDim, 1),
    k: drawn(heads * seqKv * headDim, 7),
    v: drawn(heads * seqKv * headDim, 3),
  };
  spoil?.(values, shape);
  const spans = { q: inside(values.q), k: inside(values.k), v: inside(values.v), o: inside(drawn(values.q.length, 2)) };
  client.record('attention', (recorder) =>
    planAttention(
      { ...call, ...spans, dtype: 'f32', operands: [], opName: 'attention' },
      withTraits(recorder, traits),
      choose,
    ),
  );
  const { buffer } = spans.o;
  const got = await readFloats(client, { buffer, byteOffset: 0, byteLength: buffer.size });
  for (const span of Object.values(spans)) client.deallocate(span.buffer.id);
  const want = [Number.NaN, ...attentionReference(call, values.q, values.k, values.v).value, Number.NaN];
  const wrong = got.flatMap((x, i) => {
    const wanted = want[i] as number;
    return Object.is(x, wanted) || Math.abs(x - wanted) <= bound ? [] : [{ i, x, wanted }];
  });
  expect(got).toHaveLength(want.length);
  expect(wrong.slice(0, 3)).toEqual([]);
}

/** Beside and between the blocks of queries, keys and columns; fewer queries than keys, and more. */
const SHAPES: readonly Shape[] = [
  { seqQ: 1, seqKv: 33, headDim: 16 },
  { heads: 2, seqQ: 17, seqKv: 31, headDim: 33 },
  { heads: 3, seqQ: 9, seqKv: 70, headDim: 64 },
  { seqQ: 40, seqKv: 7, headDim: 31 },
  { seqQ: 5, seqKv: 65, headDim: 63 },
];
const NARROW: readonly Shape[] = [
  { heads: 2, seqQ: 5, seqKv: 3, headDim: 4 },
  { seqQ: 70, seqKv: 70, headDim: 1 },
  { heads: 3, seqQ: 9, seqKv: 40, headDim: 15 },
];
const LARGE: readonly Shape[] = [
  { heads: 2, seqQ: 9, seqKv: 70, headDim: 80 },
  { seqQ: 66, seqKv: 33, headDim: 128 },
  { seqQ: 3, seqKv: 65, headDim: 256 },
];

const one = (...ways: readonly Parameters<typeof named>[0][]): readonly AttentionVariant[] =>
  [1, 3].flatMap((splits) => ways.map((way) => named(way, splits)));
/** Both sizes of sub-groups, alone and several; heads that fill a kernel, and less. */
const SUBGROUPS: readonly Extract<Parameters<typeof named>[0], { readonly kind: 'subgroup' }>[] = [
  { kind: 'subgroup', lanes: 8, rows: 4, subgroups: 8, headDim: 64, isExact: false },
  { kind: 'subgroup', lanes: 16, rows: 8, subgroups: 8, headDim: 64, isExact: true, registers: 'large' },
  { kind: 'subgroup', lanes: 16, rows: 1, subgroups: 1, headDim: 256, isExact: false },
  { kind: 'subgroup', lanes: 8, rows: 2, subgroups: 8, headDim: 128, isExact: true },
];
const VARIANTS: readonly AttentionVariant[] = [
  ...one({ kind: 'row' }),
  ...one(...COLUMNS.map((columns) => ({ kind: 'wide', columns }) as const)),
  ...one(...SUBGROUPS),
];

/** What a variant takes. */
function shapesFor(variant: AttentionVariant): readonly Shape[] {
  if (variant.kind === 'row') return [...SHAPES, ...LARGE];
  if (variant.kind === 'subgroup') {
    const all = [...SHAPES, ...NARROW, ...LARGE];
    if (!variant.isExact) return all.filter(({ headDim }) => headDim <= variant.headDim);
    return [
      ...all.filter(({ headDim }) => headDim === variant.headDim),
      { ...SHAPES[1], headDim: variant.headDim },
    ] as Shape[];
  }
  if (variant.columns === 16) return [...SHAPES.slice(0, 1), ...SHAPES.slice(3, 4), ...NARROW];
  return [...SHAPES.slice(1, 3), ...SHAPES.slice(4), ...LARGE];
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

  it('large scores of both signs', async () => {
    for (const shape of cases) {
      const spoil = ({ q }: Operands): void => q.forEach((value, i) => void (q[i] = 100 * value));
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
