import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebGpuBackend } from '../src/index.ts';
import { double, softmax } from './support/run-kernels.ts';

const backend = new WebGpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

it('lists the launches of a run, with their code', () => {
  const { passes } = backend.explain(softmax, { shape: [1000, 64], folded: 1 });
  expect(passes).toHaveLength(1);
  expect(passes[0]).toMatchObject({ variant: expect.stringMatching(/^rows\//) as string, language: 'wgsl' });
  expect(passes[0]?.summary).toMatch(/^rows softmax .*workgroups$/);
  expect(passes[0]?.code).toMatch(/@compute[^]*exp\(/);
});

it('shows the code as the device compiles it', () => {
  const { passes } = backend.explain(double, { shape: [64], outputs: { y: { dtype: 'f16' } } });
  expect(passes[0]?.code.includes('pack2x16float')).toBe(backend.native.f16.isUsed);
});

it('tells stages apart', () => {
  const { passes } = backend.explain(softmax, { shape: [1, 2 ** 20], folded: 1 });
  expect(passes.map(({ variant }) => variant)).toEqual(['stages/rows', 'stages/rows', 'stages/rows']);
  expect(new Set(passes.map(({ code }) => code)).size).toBe(3);
});

it('counts launches of one kernel, compiles nothing and has no passes where nothing is stored', async () => {
  const small = new WebGpuBackend({ maxBindingBytes: 1024 });
  await small.init();
  const { passes } = small.explain(double, { shape: [2048] });
  expect(passes).toHaveLength(1);
  expect(passes[0]?.summary).toContain('8 launches');
  expect(small.variants().runs).toEqual({});
  expect(small.explain(double, { shape: [0, 4] }).passes).toEqual([]);
  await small.dispose();
});

it('refuses what run refuses', () => {
  expect(() => backend.explain(softmax, { shape: [4] })).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
});
