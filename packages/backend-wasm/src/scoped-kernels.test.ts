import type { BackendKernels } from '@concord/backend-core/implement';
import { expect, it, vi } from 'vitest';
import { scopedKernels } from './kernels/all-kernels.ts';
import type { WasmBuffer } from './kernels/kernel.ts';

it('an op has its end, also where it fails, and all else of its kernel is as it was', () => {
  const [end, run] = [vi.fn(), vi.fn()];
  const kernels: BackendKernels<WasmBuffer> = {
    gemm: { dtypes: ['f32'], features: ['epilogues'], run },
    topK: {
      dtypes: ['f32'],
      run: () => {
        throw new Error('no memory');
      },
    },
  };
  const scoped = scopedKernels(kernels, end);
  expect(Object.keys(scoped)).toEqual(['gemm', 'topK']);
  expect(scoped.gemm).toMatchObject({ dtypes: ['f32'], features: ['epilogues'] });
  const call = {};
  scoped.gemm?.run(call as never);
  expect(run).toHaveBeenCalledWith(call);
  expect(end).toHaveBeenCalledTimes(1);
  expect(() => scoped.topK?.run(call as never)).toThrow('no memory');
  expect(end).toHaveBeenCalledTimes(2);
});
