import type { CheckedEpilogue } from '@concord/backend-core/implement';
import { checkedRun, defineKernel, type Kernel, type RunShape } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { names } from '../run/form.ts';
import { epilogueForm } from './epilogue-form.ts';

const bias = defineKernel('bias', { inputs: { acc: 'f32', bias: 'f32' } }, ({ acc, bias: own }, k) => ({
  y: k.add(acc, own),
}));
const indexed = (axis: number): Kernel =>
  defineKernel('indexed', { inputs: { acc: 'f32' } }, ({ acc }, k) => ({ y: k.add(acc, k.toF32(k.index(axis))) }));
const column = indexed(-1);

function formOf(kernel: Kernel, shape: readonly number[], inputs: RunShape['inputs'] = {}) {
  const geometry = checkedRun(kernel, { shape, inputs, outputs: {} });
  return epilogueForm({ kernel, geometry, params: [] } satisfies CheckedEpilogue);
}

it('takes lines and columns of an image for one axis', () => {
  const { form, values } = formOf(bias, [2, 8, 5, 7], { bias: { strides: [0, 35, 7, 1] } });
  expect(form.rowRank).toBe(3);
  expect([1, 2].map((axis) => values.get(names.stride(1, axis)))).toEqual([140, 4]);
  expect(values.get(names.size(2))).toBe(35);
});

it('does not where an input does not go on from line to line, or a line or column is asked for', () => {
  expect(formOf(bias, [2, 8, 5, 7], { bias: { strides: [0, 0, 0, 1] } }).form.rowRank).toBe(4);
  const ranks = [0, 1, 2, 3, -1, -2, -3].map((axis) => formOf(indexed(axis), [2, 8, 5, 7]).form.rowRank);
  expect(ranks).toEqual([3, 3, 4, 4, 4, 4, 3]);
});

it('takes images of one line for lines', () => {
  const { form } = formOf(column, [2, 8, 1, 7]);
  expect(form.rowRank).toBe(3);
  expect(form.places).toContainEqual([3, 2]);
});

it('is worked out once for a geometry', () => {
  expect(formOf(bias, [2, 3, 4])).toBe(formOf(bias, [2, 3, 4]));
});
