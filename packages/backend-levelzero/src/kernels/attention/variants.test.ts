import { type AttentionShape, f16BitsToF32, f32ToF16Bits, type MaskField } from '@concord/backend-core';
import { type CheckedAttention, OPS } from '@concord/backend-core/implement';
import { attentionReference } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { readFloats, upload } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceTraits, Span } from '../recorder.ts';
import { planAttention } from './plan.ts';
import type { SubgroupVariant } from './subgroup.ts';
import type { AttentionVariant } from './table.ts';
import { wideTable } from './wide.ts';

// The software driver generates code at the first launch, which takes seconds on a free core.
vi.setConfig({ testTimeout: 180_000 });

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

type Shape = Omit<AttentionShape & MaskField, 'batch' | 'heads' | 'scale'> & {
  readonly batch?: number;
  readonly heads?: number;
};

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

/** One element into its own memory, with another one after it. */
const inside = (values: Float32Array, dtype: 'f32' | 'f16' = 'f32'): Span => {
  const padded = [Number.NaN, ...values, Number.NaN];
  if (dtype === 'f32') {
    const { buffer, byteLength } = upload(client, padded);
    return { buffer, byteOffset: 4, byteLength: byteLength - 8 };
  }
  const words = new Uint8Array(4 * Math.ceil(padded.length / 2));
  words.set(new Uint8Array(Uint16Array.from(padded, f32ToF16Bits).buffer));
  const buffer = client.allocate(words.length);
  client.write({ buffer, byteOffset: 0, byteLength: words.length }, words);
  return { buffer, byteOffset: 2, byteLength: 2 * values.length };
};

async function readValues(span: Span, dtype: 'f32' | 'f16'): Promise<number[]> {
  if (dtype === 'f32') return readFloats(client, span);
  let values: number[] = [];
  await client.read(
    span,
    (bytes) => {
      values = Array.from(new Uint16Array(bytes.slice().buffer), f16BitsToF32);
    },
    () => true,
  );
  return values;
}

type Choose = NonNullable<Parameters<typeof planAttention>[2]>;

/** Attention by one variant, compared with the oracle; what lies around the output is unchanged. */
async function check(shape: Shape, choose?: Choose, options: Options = {}): Promise<void> {
  const { spoil, traits = {}, bound = 2e-6 } = options;
  const whole = { batch: 1, heads: 1, ...shape, scale: 1 / Math.sqrt(shape.headDim) };
  const checked = OPS.attention.check(whole, false) as CheckedAttention;
  const { heads, seqQ, headDim, dtype, oStrides } = checked;
  const lengthOf = (name: string): number => checked.operands.find((each) => each.name === name)?.elements ?? 0;
  const stored = (values: Float32Array): Float32Array =>
    dtype === 'f16' ? values.map((x) => f16BitsToF32(f32ToF16Bits(x))) : values;
  const values = {
    q: stored(drawn(lengthOf('q'), 1)),
    k: stored(drawn(lengthOf('k'), 7)),
    v: stored(drawn(lengthOf('v'), 3)),
  };
  const mask = drawn(lengthOf('mask'), 5).map((x) => (x > 0.5 ? -Infinity : x));
  spoil?.(values, shape);
  const before = stored(drawn(lengthOf('o'), 2));
  const spans = {
    q: inside(values.q, dtype),
    k: inside(values.k, dtype),
    v: inside(values.v, dtype),
    ...(shape.mask === undefined ? {} : { mask: inside(mask) }),
    o: inside(before, dtype),
  };
  client.record('attention', (recorder) =>
    planAttention({ ...checked, ...spans, opName: 'attention' }, withTraits(recorder, traits), choose),
  );
  const { buffer } = spans.o;
  const bytes = dtype === 'f16' ? 2 : 4;
  const got = await readValues({ buffer, byteOffset: 0, byteLength: bytes * (before.length + 2) }, dtype);
  for (const span of Object.values(spans)) client.deallocate(span.buffer.id);
  const want = [Number.NaN, ...before, Number.NaN];
  attentionReference(whole, values.q, values.k, values.v, mask).value.forEach((value, i) => {
    const row = Math.floor(i / headDim);
    const head = Math.floor(row / seqQ);
    const [x, y, z] = oStrides;
    want[1 + Math.floor(head / heads) * x + (head % heads) * y + (row % seqQ) * z + (i % headDim)] = value;
  });
  const wrong = got.flatMap((x, i) => {
    const wanted = want[i] as number;
    const limit = bound + (dtype === 'f16' ? 1e-3 * Math.abs(wanted) : 0);
    return Object.is(x, wanted) || Math.abs(x - wanted) <= limit ? [] : [{ i, x, wanted }];
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
function shapesFor(variant: AttentionVariant): readonly Shape[] {
  if (variant.id === 'attention/row') return [...SHAPES, ...LARGE];
  if (isBySubgroups(variant)) {
    const all = [...SHAPES, ...NARROW, ...LARGE];
    if (!variant.isExact) return all.filter(({ headDim }) => headDim <= variant.headDim);
    return [
      ...all.filter(({ headDim }) => headDim === variant.headDim),
      { ...SHAPES[1], headDim: variant.headDim },
    ] as Shape[];
  }
  if (variant.id === 'attention/wide-16') return [...SHAPES.slice(0, 1), ...SHAPES.slice(3, 4), ...NARROW];
  return [...SHAPES.slice(1, 3), ...SHAPES.slice(4), ...LARGE];
}

/** Calls with each field, and with all of them, for heads of a dimension. */
function anyCalls(headDim: number): readonly Shape[] {
  const [seqQ, seqKv] = [19, 75];
  const few = { heads: 4, seqQ, seqKv, headDim };
  const queries = [seqQ * 4 * headDim, headDim, 4 * headDim] as const;
  const keys = [seqKv * 2 * (headDim + 1), headDim + 1, 2 * (headDim + 1)] as const;
  const all: Shape = {
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
    const [{ headDim }] = shapesFor(variant).slice(-1) as [Shape];
    // Sub-groups are emulated here, and slow: calls with all fields only.
    const calls = anyCalls(headDim);
    for (const shape of isBySubgroups(variant) ? calls.slice(-3) : calls) {
      await check(shape, choose, { bound: 1e-5 });
    }
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
