import { CpuBackend } from '@concord/backend-cpu';
import type { ComputeBackend } from '@concord/backend-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CASES } from './cases.ts';
import type { GradCase } from './grad-case.ts';
import { byTape, dataOf } from './differences.ts';

/** Compares gradients on a backend with those of the cpu backend. */
export function testOn(backend: ComputeBackend, cases: readonly GradCase[] = CASES): void {
  const cpu = new CpuBackend();
  beforeAll(() => Promise.all([cpu.init(), backend.init()]));
  afterAll(() => Promise.all([cpu.dispose(), backend.dispose()]));

  test.each(cases)('$name is as on the cpu backend', async (own) => {
    const data = dataOf(own);
    const expected = await byTape(cpu, own, data);
    const { gradients } = await byTape(backend, own, data);
    for (const [index, each] of expected.gradients.entries()) {
      const largest = Math.max(1, ...each.map(Math.abs));
      const wrong = each.findIndex(
        (wanted, at) => !(Math.abs((gradients[index]?.[at] as number) - wanted) <= 2e-5 * largest),
      );
      expect(wrong, `tensor ${index}: ${[...(gradients[index] ?? [])].join()} for ${[...each].join()}`).toBe(-1);
    }
  });

  test('nothing remains allocated', () => {
    expect([cpu.memory().liveAllocations, backend.memory().liveAllocations]).toEqual([0, 0]);
  });
}

/** Some of each kind, where each compiles kernels for seconds. */
export const FEW: readonly GradCase[] = [
  'mul broadcast',
  'gelu',
  'softmax',
  'sum of an axis',
  'max of an axis',
  'prod',
  'cumsum',
  'cumprod',
  'cummax exclusive',
  'gather',
  'scatter',
  'scatterAdd',
  'topK',
  'crossEntropy mean',
  'layerNorm',
  'matmul',
  'linear gelu',
  'linear quantized i8',
  'conv2d stride, padding',
  'conv2d groups',
  'convTranspose2d',
  'maxPool overlapping',
  'avgPool',
  'resize bilinear',
  'attention causal',
  'attention of many queries',
  'rope',
  'concat',
  'run',
  'run combining',
  'run with out',
].map((name) => CASES.find((each) => each.name === name) as GradCase);
