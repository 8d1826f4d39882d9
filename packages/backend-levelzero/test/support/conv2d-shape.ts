import type { CheckedConv2d } from '@concord/backend-core/implement';

/** A convolution as tests write it; strides and the like are 1, padding 0, unless given. */
export interface Conv2d {
  readonly input: readonly [n: number, c: number, h: number, w: number];
  readonly filter: readonly [k: number, r: number, s: number];
  readonly stride?: readonly [number, number];
  readonly padding?: readonly [number, number];
  readonly dilation?: readonly [number, number];
  readonly groups?: number;
}

/** The call that it is, and how many elements its operands have. */
export function conv2dShape(conv: Conv2d): CheckedConv2d & Readonly<Record<'inputs' | 'weights' | 'outputs', number>> {
  const { input, filter, stride = [1, 1], padding = [0, 0], dilation = [1, 1], groups = 1 } = conv;
  const [n, c, h, w] = input;
  const [k, r, s] = filter;
  const extent = (axis: 0 | 1, size: number, taps: number): number =>
    Math.floor((size + 2 * padding[axis] - dilation[axis] * (taps - 1) - 1) / stride[axis]) + 1;
  const filterShape = [k, c / groups, r, s] as const;
  const outputShape = [n, k, extent(0, h, r), extent(1, w, s)] as const;
  const [inputs, weights, outputs] = [input, filterShape, outputShape].map((shape) =>
    shape.reduce((x, y) => x * y, 1),
  ) as [number, number, number];
  const window = { stride, padding: [...padding, ...padding], dilation, groups } as const;
  const operands = { operands: [], dtype: 'f32', epilogue: undefined } as const;
  return { inputShape: input, filterShape, outputShape, ...window, ...operands, inputs, weights, outputs };
}
