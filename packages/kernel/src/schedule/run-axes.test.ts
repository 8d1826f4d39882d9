import { checkedRun, defineKernel, type Kernel, type RunShape } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { type RunAxes, runAxes } from './run-axes.ts';

const add = defineKernel('add', { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({ y: k.add(a, b) }));
const sum = defineKernel('sum', { inputs: { a: 'f32' } }, ({ a }, k) => ({ y: k.fold('sum', a) }));
const numbered = defineKernel('numbered', { inputs: { a: 'f32' } }, ({ a }, k) => ({
  y: k.mul(a, k.toF32(k.index(1))),
}));

function axesOf(kernel: Kernel, asked: object): RunAxes {
  return runAxes(
    checkedRun(kernel, { inputs: {}, outputs: {}, ...asked } as unknown as Parameters<typeof checkedRun>[1] & RunShape),
  );
}

describe('axes of a map', () => {
  it('are one where all operands are dense', () => {
    expect(axesOf(add, { shape: [2, 3, 4] }).rows).toEqual({ sizes: [24], strides: [[1], [1], [1]] });
  });

  it('of size 1 are dropped, whatever their strides', () => {
    const inputs = { a: { strides: [7, 1, 9] } };
    expect(axesOf(add, { shape: [1, 5, 1], inputs }).rows).toEqual({ sizes: [5], strides: [[1], [1], [1]] });
  });

  it('stay apart where one operand is repeated', () => {
    const { rows } = axesOf(add, { shape: [2, 3, 4], inputs: { b: { strides: [0, 4, 1] } } });
    expect(rows).toEqual({
      sizes: [2, 12],
      strides: [
        [12, 1],
        [0, 1],
        [12, 1],
      ],
    });
  });

  it('are in the order of the output', () => {
    const { rows } = axesOf(add, { shape: [3, 4], outputs: { y: { strides: [1, 3] } } });
    expect(rows).toEqual({
      sizes: [4, 3],
      strides: [
        [1, 4],
        [1, 4],
        [3, 1],
      ],
    });
  });

  it('that an index is asked of stay apart, and are found', () => {
    const { rows, places } = axesOf(numbered, { shape: [2, 3, 4] });
    expect(rows.sizes).toEqual([2, 3, 4]);
    expect(places.get(1)).toBe(1);
    expect(axesOf(numbered, { shape: [6, 1, 4] }).places.size).toBe(0);
  });
});

it('folded axes are never joined with others, nor reordered', () => {
  const { rows, folded } = axesOf(sum, { shape: [2, 3, 4, 5], folded: 2, inputs: { a: { strides: [60, 20, 1, 4] } } });
  expect(rows).toEqual({ sizes: [6], strides: [[20], [1]] });
  expect(folded).toEqual({
    sizes: [4, 5],
    strides: [
      [1, 4],
      [0, 0],
    ],
  });
});
