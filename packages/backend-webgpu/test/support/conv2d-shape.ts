/** A convolution in a test, by what differs from the plain one. */
export interface Conv {
  readonly input: readonly [n: number, c: number, h: number, w: number];
  readonly filter: readonly [k: number, r: number, s: number];
  readonly stride?: readonly [number, number];
  readonly padding?: readonly [number, number];
  readonly dilation?: readonly [number, number];
  readonly groups?: number;
}

/** All that a call says of its shape. */
export function shapeOf({ input, filter, stride = [1, 1], padding = [0, 0], dilation = [1, 1], groups = 1 }: Conv) {
  const [n, c, h, w] = input;
  const [k, r, s] = filter;
  const extent = (axis: 0 | 1, size: number, taps: number): number =>
    Math.floor((size + 2 * padding[axis] - dilation[axis] * (taps - 1) - 1) / stride[axis]) + 1;
  const filterShape = [k, c / groups, r, s] as const;
  const outputShape = [n, k, extent(0, h, r), extent(1, w, s)] as const;
  const [vertical, horizontal] = padding;
  const sides = [vertical, horizontal, vertical, horizontal] as const;
  return { inputShape: input, filterShape, outputShape, stride, padding: sides, dilation, groups };
}
