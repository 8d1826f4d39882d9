import { describe, expect, it } from 'vitest';
import { OP_NAMES } from '../contract/capabilities.ts';
import { builtInOf, type CheckedRun } from '../kernel/index.ts';
import { type AnyKernel } from './backend-kernels.ts';
import { capabilitiesOf } from './capabilities-of.ts';

const LIMITS = { maxAllocationBytes: 1024, maxHeadDim: 256, maxTopK: 256 };
const NUMERICS = { f32Subnormals: 'kept' } as const;
const of = (kernels: Record<string, Partial<AnyKernel>>) => capabilitiesOf(kernels, LIMITS, NUMERICS);
const F32 = { dtypes: ['f32'] as const };

describe('capabilitiesOf', () => {
  it('a record without kernels is a backend without ops', () => {
    expect(of({})).toEqual({ ops: [], dtypes: {}, features: {}, limits: LIMITS, numerics: NUMERICS });
  });

  it('a kernel brings all that it runs, in the dtypes that both have', () => {
    expect(of({ gemm: F32 })).toMatchObject({ ops: ['gemm', 'batchedGemm'], dtypes: { gemm: ['f32'] } });
    const { ops, dtypes } = of({ gemm: { dtypes: ['f32', 'f16'] }, run: { dtypes: ['f32', 'f16', 'u8'] } });
    expect(ops).toEqual(['gemm', 'batchedGemm', 'gemmF16', 'run', 'reduce', 'unary', 'binary']);
    expect(dtypes).toMatchObject({ gemmF16: ['f16'], run: ['f32', 'f16', 'u8'], unary: ['f32'] });
    const all = of({ gemm: { dtypes: ['f32', 'f16'] }, conv2dForward: F32, attention: F32, topK: F32, run: F32 });
    expect(all.ops).toEqual(OP_NAMES);
  });

  it('run covers all kernels unless it says that it covers some', () => {
    expect(of({ run: F32 }).run).toBe('all');
    expect(of({ run: { ...F32, covers: 'some' } }).run).toBe('some');
    expect('run' in of({ gemm: F32 })).toBe(false);
  });

  it('an op has the features of its kernel, but for ops that are a run of their own', () => {
    const { features } = of({ gemm: { ...F32, features: ['epilogues'] }, conv2dForward: F32, run: F32 });
    expect(features).toEqual({ gemm: ['epilogues'], batchedGemm: ['epilogues'] });
  });

  it('of some kernels, an op is there if one of its functions is', () => {
    const some = (names: string[]) =>
      of({
        run: {
          ...F32,
          covers: 'some',
          refuse: ({ kernel }: CheckedRun) => (names.includes(builtInOf(kernel)?.function ?? '') ? undefined : 'no'),
        } as never,
      }).ops;
    expect(some([])).toEqual(['run']);
    expect(some(['pow'])).toEqual(['run', 'binary']);
    expect(some(['mean', 'gelu'])).toEqual(['run', 'reduce', 'unary']);
  });
});
