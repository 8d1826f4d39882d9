import type { Conv2dShape, FloatDType, HeightWidth, Padding } from '@concord/backend-core';
import { drawEpilogue, NO_EPILOGUE, shrinkEpilogue } from '../epilogue/draw-epilogue.ts';
import type { Random } from '../harness/random.ts';

/** Parameters of conv2dForward; the output shape follows. */
export type Conv2dParams = {
  /** `[N, C, H, W]` */
  readonly input: readonly number[];
  /** `[K, R, S]` */
  readonly filter: readonly number[];
  readonly stride: HeightWidth;
  /** `[h, w]` or `[top, left, bottom, right]` */
  readonly pad: readonly number[];
  readonly dilation: HeightWidth;
  readonly groups: number;
  readonly dtype: FloatDType;
  /** Name of the epilogue's kernel; where empty there is none. */
  readonly epilogue: string;
  readonly view: string;
  readonly stored: string;
  readonly offset: number;
  readonly together: boolean;
  readonly seed: number;
};

/** Value of each parameter that an id leaves out. */
export const CONV2D_DEFAULTS: Conv2dParams = {
  input: [1, 1, 1, 1],
  filter: [1, 1, 1],
  stride: [1, 1],
  pad: [0, 0],
  dilation: [1, 1],
  groups: 1,
  dtype: 'f32',
  ...NO_EPILOGUE,
  offset: 0,
  together: false,
  seed: 0,
};

type Quad = [number, number, number, number];

/** The call of a case, without its pointers. */
export function conv2dShape(params: Conv2dParams): Conv2dShape {
  const [n, c, h, w] = params.input as Quad;
  const [k, r, s] = params.filter as [number, number, number];
  const length = (axis: 0 | 1, size: number, filter: number): number => {
    const reach = params.dilation[axis] * (filter - 1) + 1;
    return Math.floor((size + padded(params, axis) - reach) / params.stride[axis]) + 1;
  };
  return {
    inputShape: [n, c, h, w],
    filterShape: [k, c / params.groups, r, s],
    outputShape: [n, k, length(0, h, r), length(1, w, s)],
    stride: params.stride,
    padding: params.pad as unknown as Padding,
    dilation: params.dilation,
    groups: params.groups,
    dtype: params.dtype,
  };
}

/** Zeros on both sides of an axis. */
function padded({ pad }: Pick<Conv2dParams, 'pad'>, axis: 0 | 1): number {
  return (pad[axis] as number) + (pad[pad.length - 2 + axis] as number);
}

/** Random parameters for fuzzing. */
export function drawConv2d(random: Random): [string, Conv2dParams] {
  const dtype = random.pick<FloatDType>(['f32', 'f32', 'f16']);
  const groups = random.pick([1, 1, 2, 3]);
  const filter = [groups * random.integer(1, 6), random.integer(1, 4), random.integer(1, 4)];
  const dilation: HeightWidth = [random.integer(1, 3), random.integer(1, 3)];
  const pad = Array.from({ length: random.pick([2, 4]) }, () => random.integer(0, 3));
  const reach = (axis: 0 | 1): number => dilation[axis] * ((filter[axis + 1] as number) - 1) + 1;
  const side = (axis: 0 | 1): number => Math.max(1, reach(axis) - padded({ pad }, axis)) + random.integer(0, 9);
  const params: Conv2dParams = {
    input: [random.integer(1, 3), groups * random.integer(1, 6), side(0), side(1)],
    filter,
    stride: [random.integer(1, 3), random.integer(1, 3)],
    pad,
    dilation,
    groups,
    dtype,
    ...drawEpilogue(random, 4),
    offset: random.pick(dtype === 'f16' ? [0, 2, 6] : [0, 4, 20]),
    together: random.chance(0.2),
    seed: random.uint32(),
  };
  if (params.epilogue !== '') return [random.pick(['epilogue', 'epilogue', 'epilogue-bounded']), params];
  return [random.pick(['exact', 'bounded', 'exact-wide', 'specials', 'repeat']), params];
}

/** Smaller parameters, largest steps first. */
export function shrinkConv2d(params: Conv2dParams): Partial<Conv2dParams>[] {
  const smaller: Partial<Conv2dParams>[] = [];
  const lower = (name: 'input' | 'filter' | 'stride' | 'pad' | 'dilation', min: number): void => {
    for (const [index, size] of params[name].entries()) {
      if (
        size > min &&
        !(params.groups > 1 && ((name === 'input' && index === 1) || (name === 'filter' && index === 0)))
      )
        smaller.push({ [name]: params[name].map((x, i) => (i === index ? x - 1 : x)) });
    }
  };
  if (params.groups > 1) smaller.push({ groups: 1 });
  lower('input', 1);
  lower('filter', 1);
  lower('stride', 1);
  lower('pad', 0);
  lower('dilation', 1);
  smaller.push(...shrinkEpilogue(params));
  if (params.offset > 0) smaller.push({ offset: 0 });
  if (params.together) smaller.push({ together: false });
  return smaller.filter((change) => conv2dShape({ ...params, ...change }).outputShape.every((size) => size > 0));
}
