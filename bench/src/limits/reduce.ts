import type { ComputeBackend } from '@concord/backend-core';
import type { Expected, LimitCase, Trial } from './limit-case.ts';
import { Workspace } from './workspace.ts';

/** A sum or maximum along `axis`. */
export function reduce(op: 'sum' | 'max', shape: readonly number[], axis: number): LimitCase {
  const product = (sizes: readonly number[]): number => sizes.reduce((all, size) => all * size, 1);
  const [length, inner] = [shape[axis] as number, product(shape.slice(axis + 1))];
  const total = product(shape);
  const place = (backend: ComputeBackend): Trial => {
    const workspace = new Workspace(backend);
    const input = workspace.input(total, 1);
    const output = workspace.output(total / length);
    const call = { op, shape, axis, input: input.ptr, output };
    const expected = (index: number): Expected => {
      const first = Math.floor(index / inner) * inner * length + (index % inner);
      let [sum, magnitude, largest] = [0, 0, -Infinity];
      for (let i = 0; i < length; i++) {
        const value = input.at(first + i * inner);
        sum += value;
        magnitude += Math.abs(value);
        largest = Math.max(largest, value);
      }
      return op === 'sum' ? { value: sum, magnitude } : { value: largest, magnitude: 0 };
    };
    return {
      run: () => backend.reduce(call),
      output,
      dtype: 'f32',
      length: total / length,
      expected,
      free: () => workspace.free(),
    };
  };
  return { op: `reduce_${op}`, name: `${shape.join('x')}@${axis}`, bytes: 4 * total, place };
}
