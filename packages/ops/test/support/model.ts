/** The value of a tensor: its elements row-major, without strides or storage. */
export interface Model {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** Every index of a shape, row-major. */
export function indicesOf(shape: readonly number[]): number[][] {
  let indices: number[][] = [[]];
  for (const length of shape) {
    indices = indices.flatMap((index) => Array.from({ length }, (_, place) => [...index, place]));
  }
  return indices;
}

/** The element at an index. */
export function at({ shape, values }: Model, index: readonly number[]): number {
  let place = 0;
  for (const [axis, length] of shape.entries()) place = place * length + (index[axis] as number);
  return values[place] as number;
}

/** A model of elements that are those of another one at other places. */
export function rebuilt(
  from: Model,
  shape: readonly number[],
  indexIn: (index: readonly number[]) => readonly number[],
): Model {
  return { shape, values: indicesOf(shape).map((index) => at(from, indexIn(index))) };
}

/** NumPy's rule, from its definition: undefined where shapes do not broadcast. */
export function broadcast(shapes: readonly (readonly number[])[]): number[] | undefined {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  const result: number[] = [];
  for (let fromEnd = 1; fromEnd <= rank; fromEnd++) {
    const sizes = new Set(shapes.map((shape) => shape.at(-fromEnd) ?? 1).filter((length) => length !== 1));
    if (sizes.size > 1) return undefined;
    result.unshift([...sizes][0] ?? 1);
  }
  return result;
}

/** The element that a point of the shape broadcast to sees. */
export function seenFrom(model: Model, index: readonly number[]): number {
  const own = index.slice(index.length - model.shape.length);
  return at(
    model,
    own.map((place, axis) => (model.shape[axis] === 1 ? 0 : place)),
  );
}
