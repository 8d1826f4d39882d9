import { checkedRun, defineKernel, type OutputSpec, type ScatterMode } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { compareStored } from './compare-stored.ts';
import type { OutputIntervals } from './run-data.ts';
import { runReference } from './run-reference.ts';

const { NaN: nan } = Number;

/** What a scatter of values at indices leaves in an output. */
function scatter(mode: ScatterMode, values: readonly number[], places: readonly number[], held: readonly number[]) {
  const y: OutputSpec = { type: 'f32', access: 'scatter', rank: 1, mode };
  const kernel = defineKernel('k', { inputs: { x: 'f32', i: 'i32' }, outputs: { y } }, ({ x, i }, k) => ({
    y: k.scatter(x, [i]),
  }));
  const geometry = checkedRun(kernel, { shape: [values.length], inputs: {}, outputs: { y: { shape: [held.length] } } });
  const inputs = { x: Float32Array.from(values), i: Int32Array.from(places) };
  return runReference(geometry, { inputs, outputs: { y: Float32Array.from(held) } })[0] as OutputIntervals;
}

const accepts = (output: OutputIntervals, stored: readonly number[]): boolean =>
  compareStored(output, Float32Array.from(stored)) === undefined;

it('set: one of the values of an element, whole; nothing outside; the others keep their bits', () => {
  const output = scatter('set', [1, 2, 3, 4], [0, 0, -1, 5], [7, -0, nan]);
  expect(accepts(output, [1, -0, nan])).toBe(true);
  expect(accepts(output, [2, -0, nan])).toBe(true);
  for (const wrong of [1.5, 7, 3, 4]) expect(accepts(output, [wrong, -0, nan])).toBe(false);
  expect(accepts(output, [1, 0, nan])).toBe(false);
  expect(compareStored(output, Float32Array.from([3, -0, nan]))?.want).toBe(
    'the bits 0x3f800000 of 1 or the bits 0x40000000 of 2',
  );
});

it('add: exact where sums are, else within gamma of n + 1', () => {
  expect(accepts(scatter('add', [1, 2, 3], [0, 0, 9], [4]), [7])).toBe(true);
  expect(accepts(scatter('add', [1, 2, 3], [0, 0, 9], [4]), [7.000001])).toBe(false);
  const output = scatter('add', [0.1, 0.7], [0, 0], [0.3]);
  expect(accepts(output, [1.1])).toBe(true);
  expect(accepts(output, [1.1 + 3.5 * 2 ** -23])).toBe(true);
  expect(accepts(output, [1.1 + 4.5 * 2 ** -23])).toBe(false);
});

it('max and min: with what is there, NaN where any is', () => {
  expect(accepts(scatter('max', [1, 9, nan], [0, 1, 2], [5, 5, 5]), [5, 9, nan])).toBe(true);
  expect(accepts(scatter('min', [1, 9, 3], [0, 1, 2], [5, 5, nan]), [1, 5, nan])).toBe(true);
  expect(accepts(scatter('min', [1, 9, 3], [0, 1, 2], [5, 5, nan]), [1, 5, 3])).toBe(false);
});
