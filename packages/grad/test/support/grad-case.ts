import type { ComputeBackend } from '@concord/backend-core';
import { type Tensor, tensor } from '@concord/ops';

/** A differentiable function of tensors: the shapes of those that are differentiated, and the range of their numbers. */
export interface GradCase {
  /** The function of ops that it is of, and which of its options. */
  readonly name: string;
  readonly shapes: readonly (readonly number[])[];
  readonly f: (xs: readonly Tensor[], backend: ComputeBackend) => Tensor;
  /** Default: -1.5 to 1.5. */
  readonly range?: readonly [low: number, high: number];
  /** Numbers that are apart, so that no step of a difference changes their order. */
  readonly isApart?: boolean;
  readonly dtype?: 'f16' | 'bf16';
  /** Of the comparison with differences, where half precision rounds. Default 4e-4. */
  readonly tolerance?: number;
}

type X = readonly Tensor[];
export const ints = (backend: ComputeBackend, numbers: number[], shape: number[]): Tensor =>
  tensor(backend, numbers, shape, { dtype: 'i32' });
export const at = (xs: X, index: number): Tensor => xs[index] as Tensor;

export const unary = (
  name: string,
  f: (x: Tensor) => Tensor,
  range?: readonly [number, number],
  isApart?: boolean,
): GradCase => ({
  ...{ name, shapes: [[2, 5]], f: (xs) => f(at(xs, 0)) },
  ...(range === undefined ? {} : { range }),
  ...(isApart === undefined ? {} : { isApart }),
});
export const binary = (
  name: string,
  f: (a: Tensor, b: Tensor) => Tensor,
  range?: readonly [number, number],
  isApart?: boolean,
): GradCase[] => [
  {
    ...unary(name, (x) => x, range, isApart),
    shapes: [
      [2, 3],
      [2, 3],
    ],
    f: (xs) => f(at(xs, 0), at(xs, 1)),
  },
  {
    ...unary(`${name} broadcast`, (x) => x, range, isApart),
    shapes: [
      [2, 1, 3],
      [4, 1],
    ],
    f: (xs) => f(at(xs, 0), at(xs, 1)),
  },
];

export function unary4(name: string, f: (x: Tensor) => Tensor, isApart = false): GradCase {
  return { name, shapes: [[1, 2, 4, 5]], isApart, f: (xs) => f(at(xs, 0)) };
}
