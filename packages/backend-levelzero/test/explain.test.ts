import { defineKernel } from '@concord/backend-core/kernel';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LevelZeroBackend } from '../src/index.ts';

const backend = new LevelZeroBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.exp(k.sub(x, k.fold('max', x)));
  return { y: k.div(e, k.fold('sum', e)) };
});

it('lists the launches of a run, with their modules', () => {
  const { passes } = backend.explain(softmax, { shape: [1000, 64], folded: 1 });
  expect(passes).toHaveLength(1);
  expect(passes[0]).toMatchObject({ variant: 'run/rows-runs', language: 'spirv' });
  expect(passes[0]?.summary).toContain('softmax f32 f32');
  expect(passes[0]?.code).toMatch(/EntryPoint .*"main"[^]*FDiv f32x16[^]*FunctionEnd\n$/);
});

it('tells stages apart, and has none where nothing is stored', () => {
  const { passes } = backend.explain(softmax, { shape: [1, 2 ** 20], folded: 1 });
  expect(passes.length).toBeGreaterThanOrEqual(3);
  expect(new Set(passes.map(({ summary }) => summary)).size).toBe(passes.length);
  expect(backend.explain(softmax, { shape: [0, 4], folded: 1 }).passes).toEqual([]);
});
