/** A convolution in a test, by what differs from the plain one. */
export interface Conv {
  readonly input: readonly [n: number, c: number, h: number, w: number];
  readonly filter: readonly [k: number, r: number, s: number];
  readonly stride?: readonly [number, number];
  /** Above and left, and below and right where that differs. */
  readonly padding?: readonly [top: number, left: number, bottom?: number, right?: number];
  readonly dilation?: readonly [number, number];
  readonly groups?: number;
}

/** All that a call says of its shape. */
export function shapeOf({ input, filter, stride = [1, 1], padding = [0, 0], dilation = [1, 1], groups = 1 }: Conv) {
  const [n, c, h, w] = input;
  const [k, r, s] = filter;
  const [top, left, bottom = top, right = left] = padding;
  const sides = [top, left, bottom, right] as const;
  const extent = (axis: 0 | 1, size: number, taps: number): number =>
    Math.floor((size + sides[axis] + (axis === 0 ? bottom : right) - dilation[axis] * (taps - 1) - 1) / stride[axis]) +
    1;
  const filterShape = [k, c / groups, r, s] as const;
  const outputShape = [n, k, extent(0, h, r), extent(1, w, s)] as const;
  return { inputShape: input, filterShape, outputShape, stride, padding: sides, dilation, groups };
}
