import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, expect, it } from 'vitest';
import { checkGroups } from '../check-groups.ts';
import type { DeviceMemory, DeviceTraits, Launch, Recorder, Span } from '../recorder.ts';
import { allKernels, planGemm, planScale } from './plan.ts';

type Call = ResolvedGemm<DeviceMemory>;

const PROCESSOR: DeviceTraits = {
  isCpuLike: true,
  maxGroupSize: 1024,
  maxLocalBytes: 65_536,
  subgroupSizes: [8],
  hasF64: true,
  hasF16: false,
  computeUnits: 2,
  maxAllocationBytes: 2 ** 32,
  maxGroups: [2 ** 32 - 1, 2 ** 32 - 1, 65_535],
};
const GPU: DeviceTraits = { ...PROCESSOR, isCpuLike: false, subgroupSizes: [8, 16, 32], hasF64: false, computeUnits: 32 };
const PLAIN_GPU: DeviceTraits = { ...GPU, subgroupSizes: [], hasF16: true };

/** Notes launches, and refuses what a device would. */
class Notes implements Recorder {
  readonly traits: DeviceTraits;
  readonly launches: Launch[] = [];
  scratchBytes = 0;

  constructor(traits: DeviceTraits) {
    this.traits = traits;
  }

  launch(launch: Launch): void {
    const { kernel, args, groups } = launch;
    checkGroups(kernel, groups, this.traits);
    const wanted = kernel.parameters.map(({ name }) => name).toSorted();
    expect(Object.keys(args).toSorted(), kernel.name).toEqual(wanted);
    for (const { name, type } of kernel.parameters) {
      const value = args[name];
      if (type === 'pointer') expect(value, name).toMatchObject({ byteOffset: expect.any(Number) });
      else if (type === 'f32') expect(value, name).toBeTypeOf('number');
      else expect(Number.isSafeInteger(value) && (value as number) >= 0, `${name} ${String(value)}`).toBe(true);
    }
    expect(groups.every((count) => Number.isSafeInteger(count) && count > 0)).toBe(true);
    this.launches.push(launch);
  }

  scratch(bytes: number): Span {
    expect(bytes).toBeLessThanOrEqual(this.traits.maxAllocationBytes);
    this.scratchBytes += bytes;
    return memory(bytes);
  }

  copy(): void {
    throw new Error('no product copies its operands');
  }

  /** Kernels without the module's parameters, such as `wide`. */
  get kinds(): string[] {
    return this.launches.map(({ kernel }) => kernel.name.replace('gemm/', '').split(' ')[0] as string);
  }
}

let count = 0;
const memory = (byteLength: number): Span => ({
  buffer: { id: ++count, address: BigInt(count) << 40n, size: byteLength },
  byteOffset: 0,
  byteLength,
});

/** A packed product, each operand in an allocation of its own. */
function callOf(m: number, n: number, k: number, given: Partial<Call> = {}): Call {
  const { dtype = 'f32', batchCount = 1, transA = false, transB = false } = given;
  const bytes = dtype === 'f16' ? 2 : 4;
  const ld = { lda: transA ? m : k, ldb: transB ? k : n, ldc: n };
  const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
  const [a, b, c] = [m * k, k * n, m * n].map((elements) => memory(batchCount * elements * bytes)) as [Span, Span, Span];
  const rest = { opName: 'gemm', operands: [], alpha: 1, beta: 0 } as const;
  return { m, n, k, transA, transB, dtype, batchCount, ...rest, ...ld, ...strides, a, b, c, ...given };
}

function planned(traits: DeviceTraits, ...args: Parameters<typeof callOf>): Notes {
  const notes = new Notes(traits);
  planGemm(callOf(...args), notes);
  return notes;
}

describe('which kernel a processor runs', () => {
  it('packs what is read often', () => {
    expect(planned(PROCESSOR, 512, 512, 512).kinds).toEqual(['pack', 'pack', 'wide']);
    expect(planned(PROCESSOR, 32, 32, 32, { batchCount: 1000 }).kinds).toEqual(['pack', 'pack', 'wide']);
  });

  it('leaves B where it is for a few rows', () => {
    expect(planned(PROCESSOR, 8, 4096, 4096).kinds).toEqual(['pack', 'wide']);
    expect(planned(PROCESSOR, 8, 4096, 4096, { transB: true }).kinds).toEqual(['pack', 'pack', 'wide']);
    expect(planned(PROCESSOR, 8, 4096, 4096, { dtype: 'f16' }).kinds).toEqual(['pack', 'pack', 'wide']);
  });

  it('reads a matrix once for a vector', () => {
    expect(planned(PROCESSOR, 1, 4096, 4096).kinds).toEqual(['wide-columns']);
    expect(planned(PROCESSOR, 4096, 1, 4096).kinds).toEqual(['wide-rows']);
    expect(planned(PROCESSOR, 4096, 1, 4096, { transA: true }).kinds).toEqual(['wide-columns']);
    expect(planned(PROCESSOR, 4096, 1, 4096, { ldb: 5 }).kinds).toEqual(['pack', 'wide-rows']);
  });

  it('has one work-item for each entry of what is tiny', () => {
    expect(planned(PROCESSOR, 2, 2, 2, { batchCount: 66_000 }).kinds).toEqual(['direct']);
    expect(planned(PROCESSOR, 1, 3, 300_007).kinds).toEqual(['direct', 'finish']);
  });
});

describe('which kernel a GPU runs', () => {
  const tileOf = ({ launches }: Notes): string | undefined => launches[0]?.kernel.name.split(' ')[3];

  it('tiles as large as leave it enough to do', () => {
    expect(tileOf(planned(PLAIN_GPU, 4096, 4096, 4096))).toBe('128x64');
    expect(tileOf(planned(PLAIN_GPU, 768, 768, 768))).toBe('64x64');
    expect(tileOf(planned(PLAIN_GPU, 256, 256, 256))).toBe('32x32');
    expect(planned(PLAIN_GPU, 256, 256, 256).kinds).toEqual(['local']);
  });

  it('sub-groups for what does not fill it with the largest, where neither operand is transposed', () => {
    expect(planned(GPU, 512, 512, 512).launches[0]?.kernel.name).toBe('gemm/subgroup f32-f32 16');
    expect(planned({ ...GPU, subgroupSizes: [8] }, 512, 512, 512).launches[0]?.kernel.name).toContain(' 8');
    expect(planned({ ...GPU, subgroupSizes: [32] }, 512, 512, 512).kinds).toEqual(['local']);
    expect(planned(GPU, 512, 512, 512, { transB: true }).kinds).toEqual(['local']);
    expect(planned(GPU, 4096, 4096, 4096).kinds).toEqual(['local']);
  });

  it('k in ranges where C is small', () => {
    expect(planned(PLAIN_GPU, 64, 64, 100_000).kinds).toEqual(['local', 'finish']);
    expect(planned(GPU, 1, 100, 100_000).kinds).toEqual(['team-columns', 'finish']);
    expect(planned(GPU, 100, 1, 100_000).kinds).toEqual(['team-rows', 'finish']);
  });

  it('no tile that the device has no room for', () => {
    expect(planned({ ...PLAIN_GPU, maxGroupSize: 64 }, 4096, 4096, 64).launches[0]?.kernel.groupSize).toEqual([8, 8, 1]);
    expect(planned({ ...PLAIN_GPU, maxLocalBytes: 256 }, 4096, 4096, 64).kinds).toEqual(['direct']);
  });
});

describe('limits', () => {
  it('long batches come in several launches', () => {
    const { launches } = planned(PLAIN_GPU, 40, 40, 40, { batchCount: 200_000 });
    expect(launches.map(({ groups }) => groups[2])).toEqual([65_535, 65_535, 65_535, 200_000 - 3 * 65_535]);
    expect(launches.map(({ args }) => (args['c'] as Span).byteOffset)).toEqual(
      [0, 1, 2, 3].map((part) => part * 65_535 * 1600 * 4),
    );
    expect(planned(PROCESSOR, 40, 40, 40, { batchCount: 200_000 }).launches.length).toBeGreaterThan(9);
  });

  it('large operands are packed block by block, into the same memory', () => {
    const { scratchBytes, launches } = planned(PROCESSOR, 40_000, 30_000, 5000);
    expect(scratchBytes).toBeLessThan(1.2 * 2 ** 30);
    const products = launches.filter(({ kernel }) => kernel.name === 'gemm/wide f32');
    const entries = products.reduce((sum, { args }) => sum + (args['m'] as number) * (args['n'] as number), 0);
    expect(entries).toBe(40_000 * 30_000 * Math.ceil(5000 / 2048));
    const terms = products.reduce((sum, { args }) => sum + (args['m'] as number) * (args['n'] as number) * (args['k'] as number), 0);
    expect(terms).toBe(40_000 * 30_000 * 5000);
  });

  it('of an allocation are kept, however small', () => {
    const small = { ...PROCESSOR, maxAllocationBytes: 2 ** 22 };
    expect(planned(small, 1000, 1000, 1000).launches.length).toBeGreaterThan(3);
  });
});

describe('scale', () => {
  it.each([PROCESSOR, GPU])('takes C without gaps for one row', (traits) => {
    const notes = new Notes(traits);
    const c = memory(4 * 3 * 50 * 70);
    const call = { opName: 'gemm', m: 50, n: 70, ldc: 70, strideC: 3500, batchCount: 3, dtype: 'f32', c, beta: 2 } as const;
    planScale(call, notes);
    planScale({ ...call, ldc: 71, strideC: 4000 }, notes);
    expect(notes.launches.map(({ args }) => [args['m'], args['n']])).toEqual([
      [1, 3 * 3500],
      [50, 70],
    ]);
  });
});

it('kernels have names of their own, and every kernel that a plan launches is listed', () => {
  for (const traits of [PROCESSOR, GPU, PLAIN_GPU]) {
    const names = allKernels(traits).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const shapes = [
      [1, 600, 100_000],
      [600, 1, 100_000],
      [1, 70, 70],
      [1, 20, 70],
      [3, 3, 3],
      [3, 3, 90_000],
      [40, 40, 90_000],
      [300, 300, 300],
      [3000, 3000, 300],
    ] as const;
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
