import { sizeOf } from './shape.ts';

/** Lists of lists, or what they hold. */
export type NestedOf<T> = T | readonly NestedOf<T>[];

/** Row-major elements as lists of lists, from one of them on; one element where there is no axis. */
export function nestedOf<T>(elements: ArrayLike<T>, shape: readonly number[], from = 0): NestedOf<T> {
  const [length, ...inner] = shape;
  if (length === undefined) return elements[from] as T;
  const step = sizeOf(inner);
  return Array.from({ length }, (_, index) => nestedOf(elements, inner, from + index * step));
}
