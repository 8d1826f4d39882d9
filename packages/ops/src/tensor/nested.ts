import { sizeOf } from './shape.ts';

/** Lists of lists of values, or a value. */
export type NestedOf<T> = T | readonly NestedOf<T>[];

/** Returns row-major elements as lists of lists, from one of them on; one element without axes. */
export function nestedOf<T>(elements: ArrayLike<T>, shape: readonly number[], from = 0): NestedOf<T> {
  const [length, ...inner] = shape;
  if (length === undefined) return elements[from] as T;
  const step = sizeOf(inner);
  return Array.from({ length }, (_, index) => nestedOf(elements, inner, from + index * step));
}
