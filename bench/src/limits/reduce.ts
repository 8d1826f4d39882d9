import type { ReduceWork } from '../work.ts';
import { defineCase, type LimitCase } from './limit-case.ts';

/** A sum or maximum along one axis. */
export function reduce(work: ReduceWork): LimitCase {
  const { shape, axis } = work;
  const op = work.op === 'reduce_sum' ? 'sum' : 'max';
  const product = (sizes: readonly number[]): number => sizes.reduce((all, size) => all * size, 1);
  const [length, inner] = [shape[axis] as number, product(shape.slice(axis + 1))];
  const total = product(shape);
  return defineCase({
    work,
    name: `${shape.join('x')}@${axis}`,
    bytes: 4 * total,
    inputs: [total],
    length: total / length,
    expected: ([input], index) => {
      const first = Math.floor(index / inner) * inner * length + (index % inner);
      let [sum, magnitude, largest] = [0, 0, -Infinity];
      for (let i = 0; i < length; i++) {
        const value = input.at(first + i * inner);
        sum += value;
        magnitude += Math.abs(value);
        largest = Math.max(largest, value);
      }
      return op === 'sum' ? { value: sum, magnitude } : { value: largest, magnitude: 0 };
    },
    call: (backend, [input], output) => backend.reduce({ op, shape, axis, input, output }),
  });
}
