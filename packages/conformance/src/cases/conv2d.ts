import type { Conv2dShape, HeightWidth } from '@concord/backend-core';
import { conv2dReference } from '@concord/backend-cpu/reference';
import { productBound } from '../checks/bounds.ts';
import { compareAll, compareBytes } from '../checks/compare.ts';
import type { CaseContext } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';
import { defineSuite, type Suite } from '../harness/suite.ts';
import { Workspace } from '../harness/workspace.ts';
import { CONV2D_TEXTS } from '../texts/conv2d.ts';

/** Parameters of conv2dForward; the output shape follows. */
export type Conv2dParams = {
  /** `[N, C, H, W]` */
  readonly input: readonly number[];
  /** `[K, R, S]` */
  readonly filter: readonly number[];
  readonly stride: HeightWidth;
  readonly pad: HeightWidth;
  readonly dilation: HeightWidth;
  readonly groups: number;
  readonly offset: number;
  readonly together: boolean;
  readonly seed: number;
};

type Quad = [number, number, number, number];

function shapeOf(params: Conv2dParams): Conv2dShape {
  const [n, c, h, w] = params.input as Quad;
  const [k, r, s] = params.filter as [number, number, number];
  const length = (axis: 0 | 1, size: number, filter: number): number => {
    const reach = params.dilation[axis] * (filter - 1) + 1;
    return Math.floor((size + 2 * params.pad[axis] - reach) / params.stride[axis]) + 1;
  };
  return {
    inputShape: [n, c, h, w],
    filterShape: [k, c / params.groups, r, s],
    outputShape: [n, k, length(0, h, r), length(1, w, s)],
    stride: params.stride,
    padding: params.pad,
    dilation: params.dilation,
    groups: params.groups,
  };
}

const volume = (shape: readonly number[]): number => shape.reduce((x, y) => x * y, 1);

async function convolve(
  { backend }: CaseContext,
  params: Conv2dParams,
  input: Float32Array,
  filter: Float32Array,
): Promise<Float32Array> {
  const shape = shapeOf(params);
  const workspace = new Workspace(backend, { offsetBytes: params.offset, together: params.together });
  const slots = { input: workspace.input(input), filter: workspace.input(filter) };
  const output = workspace.output(volume(shape.outputShape));
  await workspace.run(() =>
    backend.conv2dForward({ ...shape, input: slots.input.ptr, filter: slots.filter.ptr, output: output.ptr }),
  );
  return output.values();
}

function drawOperands(params: Conv2dParams, draw: () => number): [Float32Array, Float32Array] {
  const { inputShape, filterShape } = shapeOf(params);
  return [
    Float32Array.from({ length: volume(inputShape) }, draw),
    Float32Array.from({ length: volume(filterShape) }, draw),
  ];
}

async function checkExact(context: CaseContext, params: Conv2dParams): Promise<void> {
  const [input, filter] = drawOperands(params, () => context.random.integer(-8, 8));
  const got = await convolve(context, params, input, filter);
  compareAll('output', got, conv2dReference(shapeOf(params), input, filter).value, { bound: () => 0 });
}

/** Each filter is one power of two, so that the convolution moves full mantissas about. */
async function checkExactWide(context: CaseContext, params: Conv2dParams): Promise<void> {
  const { random } = context;
  const [input, filter] = drawOperands(params, () => random.wideFloat());
  const taps = filter.length / (params.filter[0] as number);
  filter.fill(0);
  for (let k = 0; k < filter.length; k += taps) filter[k + random.integer(0, taps - 1)] = random.pick([0.5, 1, -2]);
  const got = await convolve(context, params, input, filter);
  compareAll('output', got, conv2dReference(shapeOf(params), input, filter).value, { bound: () => 0 });
}

async function checkBounded(context: CaseContext, params: Conv2dParams): Promise<void> {
  const [input, filter] = drawOperands(params, () => context.random.unit() * 2 - 1);
  const got = await convolve(context, params, input, filter);
  const shape = shapeOf(params);
  const { value, magnitude } = conv2dReference(shape, input, filter);
  const terms = volume(shape.filterShape.slice(1));
  compareAll('output', got, value, { bound: (i) => productBound(terms, 1, 0, magnitude[i] as number, 0) });
}

/**
 * NaN and infinities of the input reach the outputs whose window holds them, and no other. The filter stays finite: whether
 * a weight that is not, over padding, gives NaN or nothing is not specified.
 */
async function checkSpecials(context: CaseContext, params: Conv2dParams): Promise<void> {
  const { random } = context;
  const [input, filter] = drawOperands(params, () => random.integer(-3, 3));
  for (let i = 0; i < 3; i++) {
    input[random.integer(0, input.length - 1)] = random.pick([Number.NaN, Infinity, -Infinity]);
  }
  const got = await convolve(context, params, input, filter);
  compareAll('output', got, conv2dReference(shapeOf(params), input, filter).value, { bound: () => 0 });
}

async function checkRepeat(context: CaseContext, params: Conv2dParams): Promise<void> {
  const [input, filter] = drawOperands(params, () => context.random.wideFloat());
  const first = await convolve(context, params, input, filter);
  const second = await convolve(context, params, input, filter);
  compareBytes('second of two equal calls', new Uint8Array(second.buffer), new Uint8Array(first.buffer));
}

type Entry = readonly [string, Partial<Conv2dParams>];

const SHAPES: readonly Partial<Conv2dParams>[] = [
  { input: [1, 1, 1, 1], filter: [1, 1, 1] },
  { input: [1, 1, 5, 5], filter: [1, 3, 3] },
  { input: [2, 3, 7, 9], filter: [4, 3, 3], pad: [1, 1] },
  { input: [2, 3, 9, 7], filter: [5, 3, 2], pad: [1, 0] },
  { input: [1, 2, 8, 8], filter: [3, 2, 3], pad: [0, 2] },
  { input: [1, 3, 11, 13], filter: [2, 5, 5], pad: [2, 2], stride: [2, 2] },
  { input: [1, 2, 12, 9], filter: [3, 3, 3], stride: [3, 1] },
  { input: [1, 2, 9, 12], filter: [3, 3, 3], stride: [1, 3], pad: [1, 2] },
  { input: [1, 2, 13, 11], filter: [3, 3, 3], dilation: [2, 3] },
  { input: [2, 2, 13, 14], filter: [4, 3, 2], dilation: [3, 2], pad: [3, 1], stride: [2, 3] },
  { input: [2, 4, 6, 7], filter: [6, 3, 3], groups: 2, pad: [1, 1] },
  { input: [1, 6, 7, 6], filter: [6, 3, 3], groups: 6, pad: [1, 1] },
  { input: [1, 4, 7, 6], filter: [12, 3, 2], groups: 4, stride: [2, 1] },
  { input: [1, 9, 5, 4], filter: [3, 2, 2], groups: 3, dilation: [2, 1], pad: [1, 1] },
  { input: [2, 17, 5, 5], filter: [33, 1, 1] },
  { input: [1, 8, 9, 9], filter: [16, 1, 1], stride: [2, 2] },
  { input: [1, 3, 1, 40], filter: [2, 1, 7], pad: [0, 3] },
  { input: [1, 3, 40, 1], filter: [2, 7, 1], pad: [3, 0], stride: [2, 1] },
  { input: [1, 2, 4, 6], filter: [2, 4, 6] },
  { input: [3, 1, 2, 2], filter: [2, 3, 3], pad: [3, 3] },
];

const list: Entry[] = [
  ...SHAPES.map((params): Entry => ['exact', params]),
  ...SHAPES.slice(2, 14).map((params): Entry => ['bounded', params]),
  ...SHAPES.slice(2, 8).map((params): Entry => ['exact-wide', params]),
  ['exact', { input: [1, 64, 8, 8], filter: [65, 3, 3], pad: [1, 1] }],
  ['exact', { input: [1, 3, 33, 35], filter: [8, 7, 7], stride: [2, 2], pad: [3, 3] }],
  ['exact', { input: [66_000, 1, 1, 2], filter: [1, 1, 2] }],
  ['exact', { input: [1, 3, 2, 2], filter: [1030, 1, 1] }],
  ['exact', { input: [1, 1, 150, 151], filter: [2, 3, 3], pad: [1, 1] }],
  ['exact', { input: [1, 9000, 3, 3], filter: [2, 3, 3], pad: [1, 1] }],
  ['exact', { ...SHAPES[2], offset: 4 }],
  ['exact', { ...SHAPES[10], offset: 12, together: true }],
  ['exact-wide', { ...SHAPES[11] }],
  ['exact-wide', { ...SHAPES[14] }],
  ['bounded', { input: [1, 128, 6, 6], filter: [32, 3, 3], pad: [1, 1] }],
  ['specials', SHAPES[2] as Partial<Conv2dParams>],
  ['specials', SHAPES[9] as Partial<Conv2dParams>],
  ['specials', SHAPES[14] as Partial<Conv2dParams>],
  ['repeat', { input: [1, 32, 12, 12], filter: [16, 3, 3], pad: [1, 1] }],
];

function draw(random: Random): [string, Conv2dParams] {
  const groups = random.pick([1, 1, 2, 3]);
  const filter = [groups * random.integer(1, 6), random.integer(1, 4), random.integer(1, 4)];
  const dilation: HeightWidth = [random.integer(1, 3), random.integer(1, 3)];
  const pad: HeightWidth = [random.integer(0, 3), random.integer(0, 3)];
  const reach = (axis: 0 | 1): number => dilation[axis] * ((filter[axis + 1] as number) - 1) + 1;
  const side = (axis: 0 | 1): number => Math.max(1, reach(axis) - 2 * pad[axis]) + random.integer(0, 9);
  const params: Conv2dParams = {
    input: [random.integer(1, 3), groups * random.integer(1, 6), side(0), side(1)],
    filter,
    stride: [random.integer(1, 3), random.integer(1, 3)],
    pad,
    dilation,
    groups,
    offset: random.pick([0, 4, 20]),
    together: random.chance(0.2),
    seed: random.uint32(),
  };
  return [random.pick(['exact', 'bounded', 'exact-wide', 'specials', 'repeat']), params];
}

function shrink(params: Conv2dParams): Partial<Conv2dParams>[] {
  const smaller: Partial<Conv2dParams>[] = [];
  const lower = (name: 'input' | 'filter' | 'stride' | 'pad' | 'dilation', least: number): void => {
    for (const [index, size] of params[name].entries()) {
      if (
        size > least &&
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
  if (params.offset > 0) smaller.push({ offset: 0 });
  if (params.together) smaller.push({ together: false });
  return smaller.filter((change) => shapeOf({ ...params, ...change }).outputShape.every((size) => size > 0));
}

/** `conv2dForward`. */
export const conv2dSuite: Suite = defineSuite<Conv2dParams>({
  op: 'conv2dForward',
  defaults: {
    input: [1, 1, 1, 1],
    filter: [1, 1, 1],
    stride: [1, 1],
    pad: [0, 0],
    dilation: [1, 1],
    groups: 1,
    offset: 0,
    together: false,
    seed: 0,
  },
  checks: {
    exact: checkExact,
    'exact-wide': checkExactWide,
    bounded: checkBounded,
    specials: checkSpecials,
    repeat: checkRepeat,
  },
  texts: CONV2D_TEXTS,
  list,
  needs: () => ({ dtype: 'f32' }),
  draw,
  shrink,
});
