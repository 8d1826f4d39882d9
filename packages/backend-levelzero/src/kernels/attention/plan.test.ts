import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResolvedAttention } from '@concord/backend-core/implement';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceMemory, DeviceTraits, Span } from '../recorder.ts';
import { allKernels, planAttention } from './plan.ts';

type Shape = Pick<ResolvedAttention<DeviceMemory>, 'batch' | 'heads' | 'seqQ' | 'seqKv' | 'headDim' | 'causal'>;

const SHAPE: Shape = { batch: 2, heads: 16, seqQ: 2048, seqKv: 2048, headDim: 64, causal: false };

function planned(traits: DeviceTraits, change: Partial<Shape> = {}): PlanRecorder & { readonly o: Span } {
  const shape = { ...SHAPE, ...change };
  const { batch, heads, seqQ, seqKv, headDim } = shape;
  const recorder = new PlanRecorder(traits);
  const [queries, keys] = [seqQ, seqKv].map((rows) => 4 * batch * heads * rows * headDim) as [number, number];
  const operands = { q: fakeSpan(queries, 4), k: fakeSpan(keys), v: fakeSpan(keys, 8), o: fakeSpan(queries, 12) };
  planAttention({ ...shape, ...operands, scale: 0.125, dtype: 'f32', operands: [], opName: 'attention' }, recorder);
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
    for (const { groupSize } of allKernels({ ...TEST_DEVICES.gpu, maxGroupSize: 32 })) {
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
    const listed = new Set(allKernels(traits));
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
