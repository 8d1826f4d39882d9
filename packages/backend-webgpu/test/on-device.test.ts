import type { OpName } from '@concord/backend-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebGpuBackend } from '../src/index.ts';

// No op may compute on the host: what goes over the queue while each op runs is counted. An op's uniforms are small and
// the same in size whatever the data; its operands are megabytes here.

const N = 256;
const FLOATS = N * N;

const backend = new WebGpuBackend();
let traffic: { written: number; mapped: number };
const undo: (() => void)[] = [];

beforeAll(async () => {
  await backend.init();
  const { device, queue } = backend.native;
  const scratch = device.createBuffer({ size: 4, usage: 8 });
  const count = (owner: object, name: string, note: (args: readonly unknown[]) => void): void => {
    const methods = Object.getPrototypeOf(owner) as Record<string, (...args: unknown[]) => unknown>;
    const original = methods[name] as (...args: unknown[]) => unknown;
    methods[name] = function counted(this: unknown, ...args: unknown[]) {
      note(args);
      return original.apply(this, args);
    };
    undo.push(() => (methods[name] = original));
  };
  count(queue, 'writeBuffer', ([, , data, , size]) => {
    traffic.written += (size as number | undefined) ?? (data as ArrayBuffer).byteLength;
  });
  count(scratch, 'mapAsync', () => traffic.mapped++);
  count(scratch, 'getMappedRange', () => traffic.mapped++);
});

afterAll(async () => {
  for (const restore of undo) restore();
  await backend.dispose();
});

const product = { m: N, n: N, k: N };
const ops: readonly { op: OpName; title: string; call: object; operands: readonly string[] }[] = [
  { op: 'gemm', title: 'gemm', call: product, operands: ['a', 'b', 'c'] },
  { op: 'gemm', title: 'gemm transposed', call: { ...product, transA: 'T', transB: 'T' }, operands: ['a', 'b', 'c'] },
  { op: 'gemm', title: 'gemm alpha 0', call: { ...product, alpha: 0, beta: 2 }, operands: ['a', 'b', 'c'] },
  {
    op: 'batchedGemm',
    title: 'batchedGemm',
    call: { m: 64, n: 64, k: 64, batchCount: 16, strideA: 4096, strideB: 4096, strideC: 4096 },
    operands: ['a', 'b', 'c'],
  },
  { op: 'gemmF16', title: 'gemmF16', call: product, operands: ['a', 'b', 'c'] },
  {
    op: 'conv2dForward',
    title: 'conv2dForward',
    call: {
      inputShape: [1, 16, 64, 64],
      filterShape: [16, 16, 3, 3],
      outputShape: [1, 16, 64, 64],
      stride: [1, 1],
      padding: [1, 1],
    },
    operands: ['input', 'filter', 'output'],
  },
  {
    op: 'attention',
    title: 'attention',
    call: { batch: 1, heads: 4, seqQ: 256, seqKv: 256, headDim: 64, scale: 0.125, causal: true },
    operands: ['q', 'k', 'v', 'o'],
  },
  ...(['sum', 'max', 'min', 'mean'] as const).map((op) => ({
    op: 'reduce' as const,
    title: `reduce ${op}`,
    call: { op, shape: [N, N], axis: 0 },
    operands: ['input', 'output'],
  })),
  ...(['relu', 'sigmoid', 'tanh', 'exp', 'log', 'sqrt', 'abs', 'neg', 'gelu', 'silu'] as const).map((op) => ({
    op: 'unary' as const,
    title: `unary ${op}`,
    call: { op, n: FLOATS },
    operands: ['input', 'output'],
  })),
  ...(['add', 'sub', 'mul', 'div', 'max', 'min', 'pow'] as const).map((op) => ({
    op: 'binary' as const,
    title: `binary ${op}`,
    call: { op, n: FLOATS },
    operands: ['a', 'b', 'output'],
  })),
];

it.each(ops)('$title runs on the device', async ({ op, call, operands }) => {
  const pointers = operands.map(() => backend.alloc(4 * FLOATS));
  for (const ptr of pointers) backend.fill(ptr, 0, 4 * FLOATS);
  await backend.synchronize();
  traffic = { written: 0, mapped: 0 };

  const run = backend[op] as (call: object) => void;
  run.call(backend, { ...call, ...Object.fromEntries(operands.map((name, i) => [name, pointers[i]])) });
  await backend.synchronize();

  expect(traffic.mapped).toBe(0);
  // One dispatch needs 256 bytes of uniforms; no op needs many.
  expect(traffic.written).toBeGreaterThan(0);
  expect(traffic.written).toBeLessThanOrEqual(16 * 256);
  for (const ptr of pointers) backend.free(ptr);
});
