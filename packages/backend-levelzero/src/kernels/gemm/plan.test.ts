import { kernelsFor } from '@concord/variants';
import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceMemory, DeviceTraits, Span } from '../recorder.ts';
import { gemmFamily, planGemm } from './plan.ts';

type Call = ResolvedGemm<DeviceMemory>;

const { cpu, gpu, fewGroups } = TEST_DEVICES;
const smallGpu: DeviceTraits = { ...gpu, computeUnits: 32 };
const noSubgroups: DeviceTraits = { ...smallGpu, subgroupSizes: [] };

/** A packed product, each operand in its own allocation. */
function callOf(m: number, n: number, k: number, given: Partial<Call> = {}): Call {
  const { dtype = 'f32', batchCount = 1, transA = false, transB = false } = given;
  const bytes = dtype === 'f16' ? 2 : 4;
  const ld = { lda: transA ? m : k, ldb: transB ? k : n, ldc: n };
  const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
  const [a, b, c] = [m * k, k * n, m * n].map((elements) => fakeSpan(batchCount * elements * bytes)) as [
    Span,
    Span,
    Span,
  ];
  const rest = { opName: 'gemm', operands: [], alpha: 1, beta: 0 } as const;
  return { m, n, k, transA, transB, dtype, batchCount, ...rest, ...ld, ...strides, a, b, c, ...given };
}

function planned(traits: DeviceTraits, ...args: Parameters<typeof callOf>): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  planGemm(callOf(...args), recorder);
  return recorder;
}

/** Names of kernels without their parameters, such as `wide`. */
const kinds = (...args: Parameters<typeof planned>): string[] =>
  planned(...args).kernelNames.map((name) => name.replace('gemm/', '').replace(/ .*/, ''));

describe('which kernel a processor runs', () => {
  it('packs what is read often', () => {
    expect(kinds(cpu, 1024, 1024, 1024)).toEqual(['pack', 'pack', 'wide']);
    expect(kinds(cpu, 33, 33, 33, { batchCount: 1000 })).toEqual(['pack', 'pack', 'wide']);
  });

  it('leaves B where it is for a few rows, and where it is small', () => {
    expect(kinds(cpu, 8, 4096, 2048)).toEqual(['pack', 'wide']);
    expect(kinds(cpu, 8, 4096, 2048, { dtype: 'f16' })).toEqual(['pack', 'pack', 'wide']);
    expect(kinds(cpu, 8, 4095, 2048)).toEqual(['pack', 'pack', 'wide']);
    expect(kinds(cpu, 256, 256, 256)).toEqual(['pack', 'wide']);
    expect(kinds(cpu, 256, 256, 256, { transB: true })).toEqual(['pack', 'pack', 'wide']);
  });

  it('packs nothing for a few vectors and a matrix that lies row by row', () => {
    expect(kinds(cpu, 8, 4096, 2048, { transB: true })).toEqual(['wide-rows']);
    expect(kinds(cpu, 4096, 8, 4096, { transB: true })).toEqual(['wide-rows']);
    expect(kinds(cpu, 4096, 8, 4096)).toEqual(['pack', 'wide-rows']);
    expect(kinds(cpu, 4096, 8, 4096, { transA: true }).at(-1)).toBe('wide');
    expect(kinds(cpu, 4096, 17, 64).at(-1)).toBe('wide');
  });

  it('reads a matrix once for a vector', () => {
    expect(kinds(cpu, 1, 4096, 4096)).toEqual(['wide-columns']);
    expect(kinds(cpu, 4096, 1, 4096)).toEqual(['wide-rows']);
    expect(kinds(cpu, 4096, 1, 4096, { transA: true })).toEqual(['wide-columns']);
    expect(kinds(cpu, 4096, 1, 4096, { ldb: 5 })).toEqual(['pack', 'wide-rows']);
  });

  it('decodes weights where it multiplies a few lines by them, and before it does more', () => {
    const quantB = { block: 32, blocks: 64, scales: { dtype: 'f16', strides: [0, 64, 1] }, zero: 8 } as const;
    const scales = fakeSpan(2 * 4096 * 64);
    const u4 = { transB: true, dtypeB: 'u4', quantB, 'quantB.scales': scales, b: fakeSpan(1024 * 4096) } as const;
    const [m, n, k] = [8, 4096, 2048];
    for (const traits of [cpu, gpu]) {
      expect(kinds(traits, m, n, k, u4)).toEqual(['weight-rows']);
      expect(kinds(traits, 1, n, k, { transB: true, dtypeB: 'bf16' })).toEqual(['weight-rows']);
      const excluded = new Map([['gemm/weight-rows', { reason: 'it does not compile' }]]);
      const others = [
        planned(traits, 9, n, k, u4),
        planned(traits, m, n, k, { ...u4, ldb: 2052 }),
        planned(traits, m, n, 2044, { ...u4, ldb: 2048 }),
        planned(traits, m, n, k, { ...u4, quantB: { ...quantB, block: 24, blocks: 86 } }),
        planned(traits, 1, n, k, { dtypeB: 'bf16' }),
        planned({ ...traits, preferences: { forced: [], tuned: {}, excluded } as never }, m, n, k, u4),
      ];
      for (const { kernelNames } of others) {
        expect(kernelNames[0]).toMatch(/^run/);
        expect(kernelNames.join()).not.toContain('weight-rows');
      }
    }
  });

  it('has one work-item for each entry of what is tiny', () => {
    expect(kinds(cpu, 2, 2, 2, { batchCount: 66_000 })).toEqual(['direct']);
    expect(kinds(cpu, 1, 3, 300_007)).toEqual(['direct', 'finish']);
  });
});

describe('which kernel a GPU runs', () => {
  const tileOf = ({ launches }: PlanRecorder): string | undefined => launches[0]?.kernel.name.split(' ')[3];

  it('tiles as large as leave it enough to do', () => {
    expect(tileOf(planned(noSubgroups, 4096, 4096, 4096))).toBe('128x64');
    expect(tileOf(planned(noSubgroups, 768, 768, 768))).toBe('64x64');
    expect(tileOf(planned(noSubgroups, 256, 256, 256))).toBe('32x32');
    expect(kinds(noSubgroups, 256, 256, 256)).toEqual(['local']);
  });

  it('sub-groups, unless B is transposed', () => {
    expect(planned(smallGpu, 512, 512, 512).launches[0]?.kernel.name).toBe('gemm/subgroup f32-f32 NN 8x32 of 8');
    const large = { ...smallGpu, hasLargeRegisterFile: true };
    expect(planned(large, 4096, 4096, 512).launches[0]?.kernel.name).toContain('16x32 of 16');
    expect(planned({ ...smallGpu, subgroupSizes: [16, 32] }, 512, 512, 512).launches[0]?.kernel.name).toContain(
      'of 16',
    );
    expect(kinds({ ...smallGpu, subgroupSizes: [32] }, 512, 512, 512)).toEqual(['local']);
    expect(kinds(smallGpu, 512, 512, 512, { transB: true })).toEqual(['local']);
    expect(kinds(smallGpu, 512, 512, 512, { transA: true })).toEqual(['subgroup']);
  });

  it('no sub-groups for less than a tile, and for what 32 bits do not count', () => {
    expect(kinds(smallGpu, 512, 31, 512)).toEqual(['local']);
    expect(kinds(smallGpu, 7, 512, 512, { transA: true })).toEqual(['direct']);
    expect(kinds(smallGpu, 64, 64, 64, { lda: 2 ** 25, a: fakeSpan(2 ** 33) })).toEqual(['local']);
    // Between 2 and 4 GiB, where an offset of 32 bits is negative.
    expect(kinds(smallGpu, 40, 64, 8, { lda: 2 ** 24, a: fakeSpan(2 ** 32) })).toEqual(['local']);
    expect(kinds(smallGpu, 24, 64, 8, { lda: 2 ** 24, a: fakeSpan(2 ** 32) })).toEqual(['subgroup']);
  });

  it('sub-groups for halves that begin at words, where it has arithmetic on them', () => {
    const half = { ...smallGpu, hasF16: true };
    const f16 = { dtype: 'f16' } as const;
    expect(kinds(half, 512, 512, 512, f16)).toEqual(['subgroup']);
    expect(kinds(smallGpu, 512, 512, 512, f16)).toEqual(['local']);
    expect(kinds(half, 512, 511, 512, f16)).toEqual(['local']);
    expect(kinds(half, 512, 512, 512, { ...f16, lda: 513, a: fakeSpan(2 * 513 * 512) })).toEqual(['local']);
    expect(kinds(half, 512, 512, 512, { ...f16, b: fakeSpan(2 * 512 * 512, 2) })).toEqual(['local']);
  });

  it('matrix engines for halves that are worth laying out', () => {
    const engines = { ...smallGpu, hasF16: true, matrixEngine: 8 } as const;
    const f16 = { dtype: 'f16' } as const;
    expect(kinds(engines, 512, 512, 512, f16)).toEqual(['matrix-pack', 'matrix-pack', 'matrix']);
    expect(kinds(engines, 512, 511, 513, { ...f16, transA: true, transB: true })).toContain('matrix');
    expect(kinds(engines, 512, 512, 512)).toEqual(['subgroup']);
    expect(kinds(engines, 64, 64, 512, f16)).not.toContain('matrix');
    expect(kinds(engines, 128, 128, 100_000, f16)).toEqual(['matrix-pack', 'matrix-pack', 'matrix', 'finish']);
    const { scratches } = planned(engines, 512, 512, 512, { ...f16, batchCount: 4, strideB: 0 });
    expect(scratches.map(({ byteLength }) => byteLength)).toEqual([4 * 2 * 512 * 512, 2 * 512 * 512]);
  });

  it('in parts of about a second', () => {
    const slow = { ...smallGpu, computeUnits: 1 };
    const parts = planned(slow, 8192, 8192, 8192).launches;
    expect(parts.length).toBeGreaterThan(20);
    for (const { multiplyAdds } of parts) expect(multiplyAdds).toBeLessThanOrEqual(2.1e10);
    expect(parts.reduce((sum, { args }) => sum + (args['m'] as number), 0)).toBe(8192);
    const batches = planned(slow, 1024, 1024, 1024, { batchCount: 100 }).launches;
    for (const { multiplyAdds } of batches) expect(multiplyAdds).toBeLessThanOrEqual(2e10);
    expect(batches.length).toBeGreaterThan(5);
  });

  it('no part has less than a tile', () => {
    const sizes = { transA: true, m: 2305, n: 16_384, k: 16_384 } as const;
    for (const computeUnits of [1, 3, 8, 32]) {
      const { launches } = planned({ ...smallGpu, computeUnits }, sizes.m, sizes.n, sizes.k, { transA: true });
      for (const { args } of launches) expect(args['m']).toBeGreaterThanOrEqual(8);
      expect(launches.reduce((sum, { args }) => sum + (args['m'] as number), 0)).toBe(sizes.m);
    }
    const { launches } = planned({ ...smallGpu, maxGroups: fewGroups.maxGroups }, 64, 32_001, 64);
    expect(launches.map(({ args }) => args['n'])).toEqual([32_001 - 32, 32]);
  });

  it('parts take the same scratch memory, and the same columns are laid out once', () => {
    const engines = { ...smallGpu, hasF16: true, matrixEngine: 8, maxAllocationBytes: 2 ** 34 } as const;
    const { scratches, launches } = planned(engines, 32_768, 32_768, 32_768, { dtype: 'f16' });
    expect(launches.length).toBeGreaterThan(6);
    expect(scratches.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(2 ** 32);
    const packs = launches.filter(({ kernel }) => kernel.name.startsWith('gemm/matrix-pack columns'));
    const products = launches.filter(({ kernel }) => kernel.name.startsWith('gemm/matrix f16'));
    expect(packs.length).toBeLessThan(products.length);
  });

  it('matrix engines for what can be laid out', () => {
    const engines = { ...smallGpu, hasF16: true, matrixEngine: 8, maxAllocationBytes: 2 ** 36 } as const;
    expect(kinds(engines, 256, 256, 2 ** 23 + 16, { dtype: 'f16' })).not.toContain('matrix');
  });

  it('k in ranges where C is small', () => {
    expect(kinds(noSubgroups, 64, 64, 100_000)).toEqual(['local', 'finish']);
    expect(kinds(smallGpu, 1, 100, 100_000)).toEqual(['team-columns', 'finish']);
    expect(kinds(smallGpu, 100, 1, 100_000)).toEqual(['team-rows', 'finish']);
  });

  it('no tile that the device has no room for', () => {
    expect(planned({ ...noSubgroups, maxGroupSize: 64 }, 4096, 4096, 64).launches[0]?.kernel.groupSize).toEqual([
      8, 8, 1,
    ]);
    expect(kinds({ ...noSubgroups, maxLocalBytes: 256 }, 4096, 4096, 64)).toEqual(['direct']);
  });
});

describe('limits', () => {
  it('long batches come in several launches', () => {
    const { launches } = planned(noSubgroups, 40, 40, 40, { batchCount: 200_000 });
    expect(launches.map(({ groups }) => groups[2])).toEqual([65_535, 65_535, 65_535, 200_000 - 3 * 65_535]);
    expect(launches.map(({ args }) => (args['c'] as Span).byteOffset)).toEqual(
      [0, 1, 2, 3].map((part) => part * 65_535 * 1600 * 4),
    );
    expect(planned(cpu, 40, 40, 40, { batchCount: 200_000 }).launches.length).toBeGreaterThan(9);
  });

  it('large operands are packed block by block, into the same memory', () => {
    const { scratches, launches } = planned(cpu, 40_000, 30_000, 5000);
    expect(scratches.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(2 ** 30);
    const terms = launches
      .filter(({ kernel }) => kernel.name === 'gemm/wide f32')
      .map(({ args }) => (args['m'] as number) * (args['n'] as number) * (args['k'] as number));
    expect(terms.reduce((sum, count) => sum + count)).toBe(40_000 * 30_000 * 5000);
  });

  it('of an allocation are kept, however small', () => {
    expect(planned({ ...cpu, maxAllocationBytes: 2 ** 20 }, 1000, 1000, 1000).launches.length).toBeGreaterThan(3);
  });

  it.each([fewGroups, { ...cpu, maxGroups: fewGroups.maxGroups }])('of groups are kept', (traits) => {
    const shapes: readonly (readonly [m: number, n: number, k: number])[] = [
      [70_001, 2, 3],
      [200_000, 70_000, 4],
      [20, 2_000_000, 4],
      [1, 3_000_000, 5],
      [3_000_000, 1, 5],
      [1, 1, 100_000_000],
    ];
    for (const shape of shapes) {
      for (const transB of [false, true]) {
        // The recorder throws where there are too many.
        expect(planned(traits, ...shape, { transB }).launches.length).toBeGreaterThan(0);
      }
    }
    const gaps = { ldb: 2, b: fakeSpan(8 * 100_000_000) };
    expect(kinds(traits, 1, 1, 100_000_000, gaps)).toContain('finish');
  });
});

it('kernels have their own names, and every kernel that a plan launches is listed', () => {
  const engines: DeviceTraits = { ...smallGpu, hasF16: true, hasLargeRegisterFile: true, matrixEngine: 8 };
  for (const traits of [cpu, smallGpu, noSubgroups, engines]) {
    const names = kernelsFor({ gemm: gemmFamily }, traits).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const shapes: readonly (readonly [m: number, n: number, k: number])[] = [
      [1, 600, 100_000],
      [600, 1, 100_000],
      [1, 70, 70],
      [1, 20, 70],
      [3, 3, 3],
      [3, 3, 90_000],
      [40, 40, 90_000],
      [300, 300, 300],
      [3000, 3000, 300],
    ];
    for (const shape of shapes) {
      for (const dtype of ['f32', 'f16'] as const) {
        for (const transA of [false, true]) {
          for (const transB of [false, true]) {
            for (const { kernel } of planned(traits, ...shape, { dtype, transA, transB }).launches) {
              expect(names).toContain(kernel.name);
            }
          }
        }
      }
    }
  }
});
