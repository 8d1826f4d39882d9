import type { OpPlan } from '@concord/backend-core';
import { type DefinedOp, OPS } from '@concord/backend-core/implement';
import { defineKernel } from '@concord/backend-core/kernel';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { WebGpuBackend } from '../src/index.ts';
import { softmax } from './support/run-kernels.ts';

const backend = new WebGpuBackend();

beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const halved = defineKernel('halved', { inputs: { acc: 'f32' } }, ({ acc }, k) => ({ y: k.mul(acc, 0.5) }));

const PLANS: readonly OpPlan[] = [
  { op: 'gemm', call: { m: 100, n: 120, k: 140, transA: 'T' } },
  { op: 'batchedGemm', call: { m: 9, n: 9, k: 9, batchCount: 3, strideA: 81, strideB: 0, strideC: 81 } },
  { op: 'gemmF16', call: { m: 33, n: 35, k: 37 } },
  { op: 'gemm', call: { m: 8, n: 8, k: 0, beta: 2 } },
  {
    op: 'conv2dForward',
    call: {
      inputShape: [1, 4, 9, 9],
      filterShape: [4, 4, 3, 3],
      outputShape: [1, 4, 7, 7],
      stride: [1, 1],
      padding: [0, 0],
    },
  },
  { op: 'gemm', call: { m: 40, n: 44, k: 48, epilogue: { kernel: halved } } },
  { op: 'gemmF16', call: { m: 40, n: 1, k: 48, beta: 1, epilogue: { kernel: halved } } },
  {
    op: 'conv2dForward',
    call: {
      inputShape: [1, 4, 9, 9],
      filterShape: [4, 4, 3, 3],
      outputShape: [1, 4, 8, 7],
      padding: [0, 0, 1, 0],
      dtype: 'f16',
      epilogue: { kernel: halved },
    },
  },
  { op: 'attention', call: { batch: 1, heads: 2, seqQ: 16, seqKv: 16, headDim: 32, scale: 1 } },
  { op: 'topK', call: { rows: 3, columns: 5000, k: 20 } },
  { op: 'reduce', call: { op: 'mean', shape: [3, 1000], axis: 1 } },
  { op: 'unary', call: { op: 'gelu', n: 1000 } },
  { op: 'binary', call: { op: 'pow', n: 1000 } },
  { op: 'run', call: { kernel: softmax, shape: [8, 100], folded: 1 } },
];

it.each(PLANS)('after prepare, $op compiles nothing more', async ({ op, call }) => {
  const done = vi.fn();
  await backend.prepare([{ op, call } as OpPlan], { onProgress: done });
  expect(done).toHaveBeenLastCalledWith(1, 1);

  const createPipeline = vi.spyOn(backend.native.device, 'createComputePipeline');
  const names = op === 'run' ? ['x', 'y'] : OPS[op as DefinedOp].operands;
  const pointers = Object.fromEntries(names.map((name) => [name, backend.alloc(2 ** 17)]));
  if (op === 'run') {
    const { kernel, ...rest } = call;
    backend.run(kernel, { ...rest, inputs: { x: pointers['x'] }, outputs: { y: pointers['y'] } } as never);
    // In place too.
    backend.run(kernel, { ...rest, inputs: { x: pointers['x'] }, outputs: { y: pointers['x'] } } as never);
  } else {
    (backend[op] as (call: object) => void).call(backend, { ...call, ...pointers });
  }
  await backend.synchronize();
  expect(createPipeline).not.toHaveBeenCalled();
  createPipeline.mockRestore();
  for (const ptr of Object.values(pointers)) backend.free(ptr);
});
