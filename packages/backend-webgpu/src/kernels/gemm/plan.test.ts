import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { deviceTraits, TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, StorageBuffer } from '../recorder.ts';
import { planGemm } from './plan.ts';

type Call = ResolvedGemm<StorageBuffer>;

/** A packed product, each operand in its own allocation unless given. */
function callOf(m: number, n: number, k: number, given: Partial<Call> = {}): Call {
  const { dtype = 'f32', batchCount = 1, transA = false, transB = false } = given;
  const bytes = dtype === 'f16' ? 2 : 4;
  const ld = { lda: transA ? m : k, ldb: transB ? k : n, ldc: n };
  const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
  const [a, b, c] = [m * k, k * n, m * n].map((elements) => fakeSpan(batchCount * elements * bytes));
  const rest = { opName: 'gemm', operands: [], alpha: 1, beta: 0 } as const;
  const call = { m, n, k, transA, transB, dtype, batchCount, ...rest, ...ld, ...strides, a, b, c };
  return { ...call, ...given } as Call;
}

function planned(traits: DeviceTraits, call: Call): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  planGemm(call, recorder);
  return recorder;
}

/** Kernels without the variant's parameters, such as `tiled f32 NN`. */
function briefly({ kernelNames }: PlanRecorder, words: number): string[] {
  return kernelNames.map((name) => name.replace('gemm/', '').split(' ').slice(0, words).join(' '));
}

describe('which kernel', () => {
  const { gpu, swiftshader, lavapipe, defaults } = TEST_DEVICES;

  it.each([
    ['128x128x8', { m: 4096, n: 4096, k: 4096 }],
    ['128x128x8', { m: 512, n: 512, k: 64, batchCount: 64 }],
    ['64x64x8', { m: 1536, n: 1536, k: 512 }],
    ['64x64x16', { m: 1024, n: 1024, k: 1024 }],
    ['32x64x16', { m: 512, n: 512, k: 512 }],
    ['32x32x32', { m: 128, n: 768, k: 768 }],
    ['32x32x32', { m: 37, n: 1999, k: 511 }],
    ['32x32x16', { m: 32, n: 32, k: 32, batchCount: 1024 }],
  ])('a GPU has tiles of %s for %o, in one launch', (tile, { m, n, k, ...batch }) => {
    expect(planned(gpu, callOf(m, n, k, batch)).kernelNames).toEqual([expect.stringContaining(` ${tile} `)]);
  });

  it('a GPU splits a product whose tiles leave cores idle at the end', () => {
    const { kernelNames, launches } = planned(gpu, callOf(4096, 768, 3072));
    expect(kernelNames).toEqual([expect.stringContaining(' 128x128x8 '), expect.stringContaining('finish')]);
    expect(launches.at(-1)?.uniforms).toMatchObject({ splits: 2 });
  });

  it('but not with more sums than the pool keeps', () => {
    expect(briefly(planned(gpu, callOf(4096, 11_008, 4096)), 1)).toEqual(['tiled']);
    // Two of its results would be more, one is not.
    expect(briefly(planned(gpu, callOf(4096, 4224, 4096)), 1)).toEqual(['tiled']);
  });

  it.each([
    ['1x128', { m: 4096, n: 1, k: 4096 }],
    ['4x32', { m: 16_384, n: 1, k: 768 }],
    ['8x16', { m: 65_536, n: 1, k: 64 }],
    ['8x128', { m: 1, n: 4096, k: 4096 }],
    ['8x64', { m: 1, n: 11_008, k: 4096 }],
    ['8x32', { m: 1, n: 65_536, k: 64 }],
  ])('a GPU has teams of %s for %o, in one launch', (group, { m, n, k }) => {
    expect(planned(gpu, callOf(m, n, k)).kernelNames).toEqual([expect.stringContaining(` ${group} `)]);
  });

  it('a software device has no barriers', () => {
    expect(briefly(planned(lavapipe, callOf(512, 512, 512)), 1)).toEqual(['direct']);
    expect(planned(swiftshader, callOf(512, 1, 512)).kernelNames[0]).toContain(' 64x1');
  });

  it('what does not fit into workgroup memory is not chosen', () => {
    expect(planned(defaults, callOf(4096, 4096, 4096)).kernelNames[0]).toContain(' 64x64x8 ');
    expect(planned(defaults, callOf(1, 4096, 4096)).kernelNames[0]).toContain(' 8x32 ');
    expect(briefly(planned(deviceTraits({ maxWorkgroupBytes: 256 }), callOf(99, 99, 99)), 1)).toEqual(['direct']);
  });

  it('a long sum for a small C is split, and finished', () => {
    expect(briefly(planned(gpu, callOf(64, 64, 100_000)), 1)).toEqual(['tiled', 'finish']);
    expect(briefly(planned(gpu, callOf(1, 3, 1_000_000)), 1)).toEqual(['matvec-columns', 'finish']);
  });

  it('binary16 is stored at once where the device has it, else out of sums', () => {
    const call = callOf(64, 64, 64, { dtype: 'f16' });
    expect(briefly(planned(lavapipe, call), 2)).toEqual(['direct f16']);
    expect(briefly(planned(swiftshader, call), 2)).toEqual(['direct f16-f32', 'finish half-words']);
  });

  it('rows and fours that are aligned are read by fours', () => {
    const nameOf = (call: Call): string | undefined => planned(lavapipe, call).kernelNames[0];
    expect(nameOf(callOf(64, 64, 64))).toContain(' wide');
    expect(nameOf(callOf(64, 64, 64, { lda: 65, a: fakeSpan(64 * 65 * 4) }))).not.toContain(' wide');
    expect(nameOf(callOf(64, 64, 64, { b: fakeSpan(64 * 64 * 4, 4) }))).not.toContain(' wide');
    // One row: its leading dimension says nothing.
    expect(nameOf(callOf(4, 64, 1, { transA: true, lda: 5, ldb: 65 }))).toContain(' wide');
  });
});

describe('operands', () => {
  it('in the allocation of C are copied out of it, others not', () => {
    const all = fakeSpan(3 * 4096 * 4);
    const [a, , c] = [0, 1, 2].map((i) => ({ ...all, byteOffset: i * 4096 * 4, byteLength: 4096 * 4 }));
    const { copies } = planned(TEST_DEVICES.lavapipe, callOf(64, 64, 64, { a: a as Call['a'], c: c as Call['c'] }));
    expect(copies.map(({ src }) => src)).toEqual([a]);
  });

  it('of which no single row fits are worked on all the same', () => {
    // The recorder throws where a binding is too long.
    const { launches } = planned(TEST_DEVICES.tiny, callOf(3, 500, 400, { beta: 2 }));
    expect(launches.length).toBeGreaterThan(400);
  });
});

describe('a B of a type of its own', () => {
  const quantB = {
    ...{ block: 32, blocks: 128, zero: 0 },
    scales: { dtype: 'f16', strides: [0, 128, 1] },
  } as const;
  const weights = (m: number, n: number, given: Partial<Call> = {}): Call => ({
    ...callOf(m, n, 4096, { transB: true, dtypeB: 'i4', quantB, ...given }),
    'quantB.scales': fakeSpan(n * 128 * 2),
  });

  it('is decoded in registers for few rows, by one launch, and in scratch memory for more', () => {
    const few = planned(TEST_DEVICES.gpu, weights(8, 4096));
    expect(briefly(few, 3)).toEqual(['weight-rows f32 u4']);
    expect(few.scratches).toEqual([]);
    expect(briefly(planned(TEST_DEVICES.gpu, weights(9, 4096)), 1).at(-1)).toBe('tiled');
    expect(planned(TEST_DEVICES.gpu, weights(1, 64, { ldb: 4098 })).scratches.length).toBeGreaterThan(0);
  });

  it('is read by as many words as its rows are made of', () => {
    const wide = (m: number, ldb: number): string | undefined =>
      / wide \d$/.exec(planned(TEST_DEVICES.gpu, weights(m, 64, { ldb })).launches[0]?.kernel.name ?? '')?.[0];
    expect([4096, 4112, 4104].map((ldb) => wide(1, ldb))).toEqual([' wide 4', ' wide 2', undefined]);
    expect([4096, 4104].map((ldb) => wide(4, ldb))).toEqual([' wide 2', ' wide 1']);
  });

  it('is decoded by eights to memory where rows are whole ones, else as a run does', () => {
    const first = (given: Partial<Call> = {}): string | undefined =>
      planned(TEST_DEVICES.gpu, weights(64, 4096, given)).launches[0]?.kernel.name;
    expect(first()).toBe('gemm/decode f32 u4 f16 one');
    expect(first({ ldb: 4100 })).toMatch(/^map decode/);
    expect(first({ b: fakeSpan(2048 * 4096, 2) })).toMatch(/^map decode/);
  });

  it('of integers beside f16 is decoded for matrix units for more rows than have sums', () => {
    const names = (m: number, given: Partial<Call> = {}, traits = TEST_DEVICES.gpu): string[] =>
      briefly(planned(traits, weights(m, 4096, { dtype: 'f16', ...given })), 1);
    expect(names(16)).toEqual(['weight-units']);
    expect(names(8)).toEqual(['weight-rows']);
    expect(names(17)).not.toContain('weight-units');
    expect(names(16, {}, { ...TEST_DEVICES.gpu, matrixUnits: [] })).not.toContain('weight-units');
    expect(names(9, { ldb: 4096 + 16 })).not.toContain('weight-units');
    expect(names(9, { a: fakeSpan(2 * 9 * 4096, 8) })).not.toContain('weight-units');
    const variant = (n: number): string | undefined =>
      planned(TEST_DEVICES.gpu, weights(16, n, { dtype: 'f16' })).launches[0]?.variant;
    expect([variant(2048), variant(8192)]).toEqual(['gemm/weight-units-16x8', 'gemm/weight-units-16x2']);
  });

  it('that is larger than a binding when it is decoded is so piece by piece, in the same memory', () => {
    const { launches } = planned(TEST_DEVICES.defaults, weights(64, 20_000));
    const decoded = launches.flatMap(({ storage, kernel }) =>
      kernel.name.startsWith('gemm/tiled') ? storage['b'] : [],
    );
    expect(decoded.length).toBeGreaterThanOrEqual(3);
    expect(new Set(decoded.map((span) => span?.buffer)).size).toBe(1);
  });

  it('is decoded to no more memory than the pool keeps', () => {
    const { scratches } = planned(TEST_DEVICES.gpu, weights(64, 20_000, { dtype: 'f16' }));
    expect(Math.max(...scratches.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(2 ** 27);
  });
});

describe('panels along k', () => {
  const { launches } = planned(TEST_DEVICES.tiny, callOf(1, 8, 600, { alpha: 3, beta: 2 }));
  const [first, ...others] = launches.slice(0, -1);
  const last = launches.at(-1);

  it('add up without alpha and beta, which are applied once', () => {
    expect(last?.kernel.name).toBe('gemm/finish f32');
    expect(last?.uniforms).toMatchObject({ alpha: 3, beta: 2, reads_c: 1, splits: 1 });
    expect(first?.uniforms).toMatchObject({ alpha: 1, beta: 0, reads_c: 0 });
    expect(others.length).toBeGreaterThan(0);
    for (const { uniforms } of others) expect(uniforms).toMatchObject({ alpha: 1, beta: 1, reads_c: 1 });
  });

  it('make up all of k', () => {
    const terms = launches.map(({ uniforms }) => uniforms['k'] ?? 0);
    expect(terms.reduce((sum, k) => sum + k)).toBe(600);
  });
});
