import { type Tensor, tensor } from '@concord/ops';

/** The range of a case's numbers where it gives none. */
export const RANGE: readonly [low: number, high: number] = [-1.5, 1.5];

/** A differentiable function of tensors: the shapes of those that are differentiated, and the range of their numbers. */
export interface GradCase {
  /** The function of ops that it is of, and which of its options. */
  readonly name: string;
  readonly shapes: readonly (readonly number[])[];
  readonly f: (...xs: Tensor[]) => Tensor;
  /** Default: -1.5 to 1.5. */
  readonly range?: readonly [low: number, high: number];
  /** Numbers that are apart, so that no step of a difference changes their order. */
  readonly isApart?: boolean;
  readonly dtype?: 'f16' | 'bf16';
  /** Of the comparison with differences, where half precision rounds. Default 4e-4. */
  readonly tolerance?: number;
}

/** Integers on the backend of a tensor. */
export const ints = ({ backend }: Tensor, numbers: number[], shape: number[]): Tensor =>
  tensor(backend, numbers, shape, { dtype: 'i32' });

/** A case of tensors of these shapes. */
export function caseOf(name: string, f: GradCase['f'], ...shapes: (readonly number[])[]): GradCase {
  return { name, f, shapes };
}

export function unary(
  name: string,
  f: (x: Tensor) => Tensor,
  range: readonly [number, number] = RANGE,
  isApart = false,
): GradCase {
  return { ...caseOf(name, f, [2, 5]), range, isApart };
}

export function binary(
  name: string,
  f: (a: Tensor, b: Tensor) => Tensor,
  range: readonly [number, number] = RANGE,
  isApart = false,
): GradCase[] {
  return [
    { ...caseOf(name, f, [2, 3], [2, 3]), range, isApart },
    { ...caseOf(`${name} broadcast`, f, [2, 1, 3], [4, 1]), range, isApart },
  ];
}

export function unary4(name: string, f: (x: Tensor) => Tensor, isApart = false): GradCase {
  return { ...caseOf(name, f, [1, 2, 4, 5]), isApart };
}
