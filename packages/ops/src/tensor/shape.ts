/** Axes that a kernel can have. */
export const MAX_RANK = 8;

/** Elements of a tensor of that shape; 1 for a scalar. */
export function sizeOf(shape: readonly number[]): number {
  let size = 1;
  for (const length of shape) size *= length;
  return size;
}

/** Strides of dense, row-major elements, in elements. */
export function denseStrides(shape: readonly number[]): number[] {
  const strides = [...shape];
  let elements = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = elements;
    elements *= Math.max(1, shape[axis] as number);
  }
  return strides;
}

/** Returns whether the elements lie row-major without gaps. Strides of axes of size 1 do not matter, nor do any without elements. */
export function isDense(shape: readonly number[], strides: readonly number[]): boolean {
  if (shape.includes(0)) return true;
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const length = shape[axis] as number;
    if (length === 1) continue;
    if (strides[axis] !== expected) return false;
    expected *= length;
  }
  return true;
}

/** The shape that two shapes broadcast to by NumPy's rule; undefined where they do not. */
export function broadcastShapes(a: readonly number[], b: readonly number[]): readonly number[] | undefined {
  if (sameShape(a, b)) return a;
  const rank = Math.max(a.length, b.length);
  const shape: number[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const inA = a[axis - rank + a.length] ?? 1;
    const inB = b[axis - rank + b.length] ?? 1;
    if (inA !== inB && inA !== 1 && inB !== 1) return undefined;
    shape.push(inA === 1 ? inB : inA);
  }
  return shape;
}

/** Returns whether two shapes are the same. */
export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let axis = 0; axis < a.length; axis++) if (a[axis] !== b[axis]) return false;
  return true;
}

/** Strides that repeat a tensor over a shape which it broadcasts to: 0 along the axes that it lacks or has once. */
export function broadcastStrides(
  shape: readonly number[],
  strides: readonly number[],
  over: readonly number[],
): readonly number[] {
  // The most frequent case: nothing is repeated.
  if (shape === over) return strides;
  const missing = over.length - shape.length;
  return over.map((_, axis) => {
    const own = axis - missing;
    return own < 0 || shape[own] === 1 ? 0 : (strides[own] as number);
  });
}

/**
 * Strides of the same elements in another shape, where no copy is needed for that.
 *
 * Axes of the old shape are taken together as far as they lie without a gap between them; each such run must be what
 * some axes of the new shape multiply to.
 */
export function reshapedStrides(
  shape: readonly number[],
  strides: readonly number[],
  to: readonly number[],
): number[] | undefined {
  if (shape.includes(0)) return denseStrides(to);
  const runs: { length: number; stride: number }[] = [];
  for (const [axis, length] of shape.entries()) {
    if (length === 1) continue;
    const stride = strides[axis] as number;
    const last = runs.at(-1);
    if (last !== undefined && last.stride === stride * length)
      runs[runs.length - 1] = { length: last.length * length, stride };
    else runs.push({ length, stride });
  }
  const result = Array.from(to, () => 1);
  let run = runs.pop();
  let left = run?.length ?? 1;
  let stride = run?.stride ?? 1;
  for (let axis = to.length - 1; axis >= 0; axis--) {
    const length = to[axis] as number;
    if (length === 1) continue;
    if (left === 1) {
      run = runs.pop();
      left = run?.length ?? 1;
      stride = run?.stride ?? 1;
    }
    if (left % length !== 0) return undefined;
    result[axis] = stride;
    stride *= length;
    left /= length;
  }
  return result;
}
