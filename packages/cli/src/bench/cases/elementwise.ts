import type { BinaryOp, ReduceOp, ReduceShape, UnaryOp } from '@concord/backend-core';
import { binaryFunction, reduceReference, unaryFunction } from '@concord/backend-cpu/reference';
import type { BenchCase } from '../bench-case.ts';
import { elements, operand } from '../operand.ts';

/** A function of `n` numbers. */
export function unaryCase(origin: string, text: string, op: UnaryOp, n: number): BenchCase {
  return {
    ...{ id: `unary/${origin}/${op}-${n}`, op: 'unary', title: text, unit: 'GB/s', flops: n, bytes: 8 * n },
    prepare() {
      const input = operand(n, 1);
      return {
        ...{ inputs: [input], outputLength: n, outputDtype: 'f32', plan: { op: 'unary', call: { op, n } } },
        call: (backend, at, output) => backend.unary({ op, n, input: at(0), output }),
        expected(index) {
          const want = unaryFunction(op)(input.at(index));
          return { want, tolerance: 1e-4 * Math.abs(want) + 1e-5 };
        },
      };
    },
  };
}

/** A function of `n` pairs of numbers. */
export function binaryCase(origin: string, text: string, op: BinaryOp, n: number): BenchCase {
  return {
    ...{ id: `binary/${origin}/${op}-${n}`, op: 'binary', title: text, unit: 'GB/s', flops: n, bytes: 12 * n },
    prepare() {
      const [x, y] = [operand(n, 1), operand(n, 2)];
      return {
        ...{ inputs: [x, y], outputLength: n, outputDtype: 'f32', plan: { op: 'binary', call: { op, n } } },
        call: (backend, at, output) => backend.binary({ op, n, a: at(0), b: at(1), output }),
        expected(index) {
          const want = binaryFunction(op)(x.at(index), y.at(index));
          return { want, tolerance: 1e-4 * Math.abs(want) + 1e-5 };
        },
      };
    },
  };
}

/** A reduction of a tensor along one axis. */
export function reduceCase(
  origin: string,
  text: string,
  op: ReduceOp,
  shape: readonly number[],
  axis: number,
): BenchCase {
  const product = (sizes: readonly number[]): number => sizes.reduce((x, y) => x * y, 1);
  const call: ReduceShape = { op, shape, axis };
  const [length, line, inner] = [product(shape), shape[axis] as number, product(shape.slice(axis + 1))];
  const outputLength = length / line;
  const id = `reduce/${origin}/${op}-${shape.join('x')}-axis${axis}`;
  return {
    ...{ id, op: 'reduce', title: text, unit: 'GB/s', flops: length, bytes: 4 * (length + outputLength) },
    prepare() {
      const input = operand(length, 1, { isPositive: true });
      return {
        ...{ inputs: [input], outputLength, outputDtype: 'f32', plan: { op: 'reduce', call } },
        call: (backend, at, output) => backend.reduce({ ...call, input: at(0), output }),
        expected(index) {
          const start = Math.floor(index / inner) * line * inner + (index % inner);
          const values = elements(input, start, line, inner);
          const { value, magnitude } = reduceReference({ op, shape: [line], axis: 0 }, values);
          return { want: value[0] as number, tolerance: 1e-4 * (magnitude[0] as number) };
        },
      };
    },
  };
}
