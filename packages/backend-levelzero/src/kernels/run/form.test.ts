import { expect, it } from 'vitest';
import { defineKernel } from '../kernel.ts';
import type { RunForm } from './form.ts';
import { kernelsByKey } from './form.ts';

interface Params {
  readonly form: RunForm;
  readonly width: number;
}

it('equal parameters give the same kernel, however many others came between', () => {
  const kernelOf = kernelsByKey<Params>(({ width }) =>
    defineKernel({ name: `test ${width}`, parameters: {}, groupSize: [1, 1, 1], write: () => undefined }),
  );
  const paramsOf = (width: number): Params => ({ form: { kernel: { key: 'graph' } } as RunForm, width });
  const first = kernelOf(paramsOf(0));
  const others = new Set(Array.from({ length: 2000 }, (_, index) => kernelOf(paramsOf(index + 1))));
  expect(others.size).toBe(2000);
  expect(kernelOf(paramsOf(0))).toBe(first);
});
