import { kernelsFor } from '@concord/variants';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttentionShape, AttentionViews } from '@concord/backend-core';
import { type CheckedAttention, OPS } from '@concord/backend-core/implement';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, Span } from '../recorder.ts';
import { attentionFamily, planAttention } from './plan.ts';

type Shape = Omit<AttentionShape & AttentionViews, 'scale'>;

const SHAPE: Shape = { batch: 2, heads: 16, seqQ: 2048, seqKv: 2048, headDim: 64, causal: false };

function planned(traits: DeviceTraits, change: Partial<Shape> = {}): PlanRecorder & { readonly o: Span } {
  const shape = { ...SHAPE, ...change };
  const recorder = new PlanRecorder(traits);
  const checked = OPS.attention.check({ ...shape, scale: 0.125 }, false) as CheckedAttention;
  const leads: Readonly<Record<string, number>> = { q: 4, v: 8, o: 12 };
  const operands = Object.fromEntries(
    checked.operands.map(({ name, dtype, elements }) => [
      name,
      fakeSpan((dtype === 'f16' ? 2 : 4) * elements, leads[name] ?? 0),
    ]),
  ) as Record<'q' | 'k' | 'v' | 'o', Span>;
  planAttention({ ...checked, ...operands, opName: 'attention' }, recorder);
  return Object.assign(recorder, { o: operands.o });
}

const kernels = (recorder: PlanRecorder): readonly string[] =>
  recorder.kernelNames.map((name) => name.replace('attention/', ''));

describe('on a CPU', () => {
  it.each([
    ['many queries', { batch: 1 }, ['pack-keys', 'wide 8x32x32']],
    ['narrow heads', { batch: 1, headDim: 17 }, ['pack-keys', 'wide 8x32x16']],
    ['very narrow ones', { batch: 1, heads: 1, headDim: 5 }, ['pack-keys', 'pad-values', 'wide 8x32x16']],
    ['one query of many heads', { seqQ: 1 }, ['row']],
    ['one query of one head', { batch: 1, heads: 1, seqQ: 1 }, ['row partial', 'combine']],
    ['few queries', { batch: 1, heads: 1, seqQ: 4 }, ['pack-keys', 'wide 8x32x32 partial', 'combine']],
  ] as const)('%s', (_, change, names) => {
    expect(kernels(planned(TEST_DEVICES.cpu, change))).toEqual(names);
  });

  it('lays out the keys of each piece after those of the one before, also where heads share them', () => {
    for (const kvHeads of [16, 4]) {
      const { launches } = planned(TEST_DEVICES.cpu, { batch: 64, kvHeads, headDim: 256 });
      const packed = launches.filter(({ kernel }) => kernel.name === 'attention/pack-keys');
      expect(packed.length).toBeGreaterThan(2);
      let before = 0;
      for (const { args } of packed) {
        expect((args['k'] as Span).byteOffset).toBe(before * 4 * SHAPE.seqKv * 256);
        before += args['heads'] as number;
      }
      expect(before).toBe(64 * kvHeads);
    }
  });

  it('lays out as many heads at a time as 64 MiB hold', () => {
    const recorder = planned(TEST_DEVICES.cpu, { batch: 64, headDim: 256 });
    const packed = recorder.launches.filter(({ kernel }) => kernel.name === 'attention/pack-keys');
    expect(packed).toHaveLength(32);
    expect(recorder.scratches.map(({ byteLength }) => byteLength)).toEqual([2 ** 26]);
  });

  it('lays out only keys that are seen', () => {
    const [pack] = planned(TEST_DEVICES.cpu, { seqQ: 100, seqKv: 5000, causal: true }).launches;
    expect(pack?.args['panels_per_head']).toBe(4);
  });
});

it.each(Object.entries(TEST_DEVICES))('%s: heads that take turns find their own rows and mask', (_, traits) => {
  const sizes = { batch: 64, headDim: 64, seqQ: 16_384, seqKv: 16_384 };
  const { launches, o } = planned(traits, { ...sizes, mask: { strides: [16 * 16_384, 16_384, 0, 1] } });
  const attending = launches.filter(({ args }) => 'first_head' in args);
  expect(attending.length).toBeGreaterThan(2);
  let before = 0;
  for (const { args } of attending) {
    expect(args['first_head']).toBe(before);
    expect((args['o'] as Span).byteOffset - o.byteOffset).toBe(before * 4 * 16_384 * 64);
    before += args['heads'] as number;
  }
  expect(before).toBe(64 * 16);
});

describe('fields of a call', () => {
  const few = { batch: 1, heads: 8, seqQ: 64, seqKv: 64 };

  it.each([
    ['grouped heads', { kvHeads: 2 }, ['pack-keys', 'wide 8x32x32 any']],
    ['what is the default', { kvHeads: 8, causal: true, causalOffset: 0 }, ['pack-keys', 'wide 8x32x32']],
    ['a mask', { mask: { strides: [0, 0, 0, 1] } }, ['pack-keys', 'wide 8x32x32 any']],
    ['rows of V apart', { strides: { v: [0, 4480, 70] } }, ['relayout f32 to packed', 'pack-keys', 'wide 8x32x32']],
    [
      'f16',
      { dtype: 'f16' },
      [
        ...Array.from({ length: 3 }, () => 'relayout f16 to packed'),
        'pack-keys',
        'wide 8x32x32',
        'relayout f16 to operand',
      ],
    ],
  ] as const)('%s', (_, change, names) => {
    expect(kernels(planned(TEST_DEVICES.cpu, { ...few, ...change }))).toEqual(names);
  });

  it('K of a group is laid out once', () => {
    const [pack] = planned(TEST_DEVICES.cpu, { ...few, kvHeads: 2 }).launches;
    expect(pack?.args).toMatchObject({ heads: 2, panels_per_head: 2 });
  });
});

describe('on a GPU', () => {
  it.each([
    ['many queries', {}, ['subgroup 8x4x8 64']],
    ['wide heads', { headDim: 160 }, ['subgroup 8x1x8 up to 256']],
    ['a few of one head', { batch: 1, heads: 1, seqQ: 64 }, ['subgroup 8x4x8 64 partial', 'combine']],
    ['one query', { seqQ: 1 }, ['subgroup 1x1x8 64 partial', 'combine']],
  ] as const)('%s', (_, change, names) => {
    expect(kernels(planned(TEST_DEVICES.gpu, change))).toEqual(names);
  });

  it('twice the queries where threads may have twice the registers, or registers are twice as wide', () => {
    const large = { ...TEST_DEVICES.gpu, hasLargeRegisterFile: true };
    expect(kernels(planned(large))).toEqual(['subgroup 8x8x8 64 large']);
    expect(kernels(planned({ ...large, subgroupSizes: [16, 32] }))).toEqual(['subgroup 8x8x16 64 large']);
  });

  it('what CPUs take, where there are no sub-groups', () => {
    expect(kernels(planned(TEST_DEVICES.plainGpu))).toEqual(['pack-keys', 'wide 8x32x32']);
    expect(kernels(planned({ ...TEST_DEVICES.gpu, subgroupSizes: [32] }))).toEqual(['pack-keys', 'wide 8x32x32']);
  });

  it('keys and values beyond 4 GiB of a head are not counted in 32 bits', () => {
    const many = { batch: 1, heads: 1, seqQ: 4, seqKv: 2 ** 24 };
    expect(kernels(planned({ ...TEST_DEVICES.gpu, maxAllocationBytes: 2 ** 34 }, many))[0]).toContain('pack-keys');
  });

  it('kernels that are listed fit the device', () => {
    for (const { groupSize } of kernelsFor({ attention: attentionFamily }, { ...TEST_DEVICES.gpu, maxGroupSize: 32 })) {
      expect(groupSize[0] * groupSize[1]).toBeLessThanOrEqual(64);
    }
    expect(kernels(planned({ ...TEST_DEVICES.gpu, maxGroupSize: 32 }))).toEqual(['subgroup 1x1x8 64']);
  });
});

it('splits of the keys: each not empty, all keys, and as many as there are', () => {
  for (const traits of [TEST_DEVICES.cpu, TEST_DEVICES.gpu]) {
    for (const seqKv of [512, 513, 600, 1025, 20_001]) {
      const [attend, merge] = planned(traits, { batch: 1, heads: 1, seqQ: 1, seqKv }).launches;
      const [splits, size] = [attend?.args['splits'] as number, attend?.args['split_keys'] as number];
      expect(splits).toBeGreaterThan(1);
      expect(size * splits).toBeGreaterThanOrEqual(seqKv);
      expect(size * (splits - 1)).toBeLessThan(seqKv);
      expect(attend?.groups[0]).toBe(splits);
      expect(merge?.args['splits']).toBe(splits);
    }
  }
});

const size = (max: number): fc.Arbitrary<number> =>
  fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max }));
const shapes: fc.Arbitrary<Shape> = fc.record({
  batch: size(9),
  heads: size(200),
  seqQ: size(3000),
  seqKv: size(30_000),
  headDim: size(256),
  causal: fc.boolean(),
});

it.each(Object.entries(TEST_DEVICES))(
  'any shape on %s: only kernels that are listed, and O is written last',
  (_, traits) => {
    const listed = new Set(kernelsFor({ attention: attentionFamily }, traits));
    fc.assert(
      fc.property(shapes, (shape) => {
        const recorder = planned(traits, shape);
        for (const { kernel } of recorder.launches) expect(listed.has(kernel)).toBe(true);
        expect(recorder.launches.at(-1)?.args).toHaveProperty('o.buffer', recorder.o.buffer);
      }),
      { seed: 5 },
    );
  },
);
