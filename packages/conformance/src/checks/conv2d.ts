import type { Conv2dShape, DevicePtr, FloatDType, HeightWidth, Padding, StoredFloatDType } from '@concord/backend-core';
import { conv2dReference, type Reference } from '@concord/backend-cpu/reference';
import { drawEpilogue, PlannedEpilogue, shrinkEpilogue } from './epilogue.ts';
import type { Check, Needs } from '../harness/case.ts';
import { checkPlanned, checkRepeat, type PlanCall, SOME_POINTER } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { plainer, replaced } from '../harness/shrink.ts';
import { nameSlots } from '../harness/workspace.ts';
import { denseStrides, roundingTo, sizeOf } from '../run/placement.ts';
import { compareAll, productBound, ulpF16 } from './compare.ts';

/** Parameters of conv2dForward, with the value that each has where an id leaves it out; the output shape follows. */
export const CONV2D_DEFAULTS = {
  /** `[N, C, H, W]` */
  input: [1, 1, 1, 1] as readonly number[],
  /** `[K, R, S]` */
  filter: [1, 1, 1] as readonly number[],
  stride: [1, 1] as HeightWidth,
  /** `[h, w]` or `[top, left, bottom, right]` */
  pad: [0, 0] as readonly number[],
  dilation: [1, 1] as HeightWidth,
  groups: 1,
  transposed: false,
  outputPadding: [0, 0] as HeightWidth,
  dtype: 'f32' as FloatDType,
  /** The dtype of the filter; `own`: `dtype`, always if that is f16. */
  dtypeFilter: 'own' as 'own' | 'f16' | 'bf16',
  /** Name of the epilogue's kernel; where empty there is none. */
  epilogue: '',
  view: 'dense',
  stored: 'own',
  offset: 0,
  together: false,
  seed: 0,
};

/** Parameters of conv2dForward. */
export type Conv2dParams = Readonly<typeof CONV2D_DEFAULTS>;

const NOT_TRANSPOSED: Pick<Conv2dParams, 'transposed' | 'outputPadding'> = { transposed: false, outputPadding: [0, 0] };

type Quad = [number, number, number, number];

/** The call of a case, without its pointers. */
export function conv2dShape(params: Conv2dParams): Conv2dShape {
  const [n, c, h, w] = params.input as Quad;
  const [k, r, s] = params.filter as [number, number, number];
  const { groups, transposed, outputPadding } = params;
  const length = (axis: 0 | 1, size: number, filter: number): number => {
    const reach = params.dilation[axis] * (filter - 1) + 1;
    if (transposed) return (size - 1) * params.stride[axis] + reach + outputPadding[axis] - padded(params, axis);
    return Math.floor((size + padded(params, axis) - reach) / params.stride[axis]) + 1;
  };
  return {
    inputShape: [n, c, h, w],
    filterShape: transposed ? [c, k / groups, r, s] : [k, c / groups, r, s],
    outputShape: [n, k, length(0, h, r), length(1, w, s)],
    stride: params.stride,
    padding: params.pad as unknown as Padding,
    dilation: params.dilation,
    groups,
    dtype: params.dtype,
    ...(filterDType(params) === params.dtype ? {} : { dtypeFilter: filterDType(params) }),
    ...(transposed ? { transposed, outputPadding } : {}),
  };
}

/** Element type of the filter. */
const filterDType = ({ dtype, dtypeFilter }: Conv2dParams): StoredFloatDType =>
  dtypeFilter === 'own' || dtype === 'f16' ? dtype : dtypeFilter;

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
  let params: Conv2dParams = {
    input: [random.integer(1, 3), groups * random.integer(1, 6), side(0), side(1)],
    filter,
    stride: [random.integer(1, 3), random.integer(1, 3)],
    pad,
    dilation,
    groups,
    dtype,
    dtypeFilter: random.pick(['own', 'own', 'f16', 'bf16'] as const),
    ...drawEpilogue(random, 4),
    offset: random.pick(dtype === 'f16' ? [0, 2, 6] : [0, 4, 20]),
    together: random.chance(0.2),
    seed: random.uint32(),
    ...NOT_TRANSPOSED,
  };
  const transposed = { ...params, ...drawTransposed(random, params) };
  if (hasOutput(transposed)) params = transposed;
  if (params.epilogue !== '') return [random.pick(['epilogue', 'epilogue', 'epilogue-bounded']), params];
  return [random.pick(['exact', 'bounded', 'exact-wide', 'specials', 'repeat']), params];
}

/** Every third a transposed convolution. */
function drawTransposed(random: Random, { stride, dilation }: Conv2dParams): Partial<Conv2dParams> {
  const extra = (axis: 0 | 1): number => random.integer(0, Math.max(stride[axis], dilation[axis]) - 1);
  return random.chance(1 / 3) ? { transposed: true, outputPadding: [extra(0), extra(1)] } : {};
}

/** Returns whether there are outputs. */
function hasOutput(params: Conv2dParams): boolean {
  return conv2dShape(params).outputShape.every((size) => size > 0);
}

/** Smaller parameters, largest steps first. */
export function shrinkConv2d(params: Conv2dParams): Partial<Conv2dParams>[] {
  const { groups, transposed, outputPadding } = params;
  const lower = (name: 'input' | 'filter' | 'stride' | 'pad' | 'dilation', min: number): object[] =>
    params[name].flatMap((size, at) => {
      const isOfGroups = (name === 'input' && at === 1) || (name === 'filter' && at === 0);
      return size > min && !(groups > 1 && isOfGroups) ? [{ [name]: replaced(params[name], at, size - 1) }] : [];
    });
  const smaller: Partial<Conv2dParams>[] = [
    ...(transposed ? [NOT_TRANSPOSED] : []),
    ...(transposed && outputPadding.some((size) => size > 0) ? [{ outputPadding: [0, 0] as const }] : []),
    ...plainer(params, CONV2D_DEFAULTS, ['groups']),
    ...lower('input', 1),
    ...lower('filter', 1),
    ...lower('stride', 1),
    ...lower('pad', 0),
    ...lower('dilation', 1),
    ...shrinkEpilogue(params),
    ...plainer(params, CONV2D_DEFAULTS, ['offset', 'dtypeFilter', 'together']),
  ];
  return smaller.filter((change) => {
    const whole = { ...params, ...change };
    const isValid = ([0, 1] as const).every(
      (axis) => whole.outputPadding[axis] < Math.max(whole.stride[axis], whole.dilation[axis]),
    );
    return isValid && hasOutput(whole);
  });
}

type Draw = (random: Random) => () => number;

interface Data {
  readonly draw: Draw;
  /** True if every order of summation gives the same bits. */
  readonly isExact: boolean;
  /** Changes what was drawn. */
  readonly change?: (random: Random, input: Float32Array, filter: Float32Array, shape: Conv2dShape) => void;
}

/** A convolution of drawn values, with its epilogue. */
const planDrawn =
  ({ draw, isExact, change }: Data): PlanCall<Conv2dParams> =>
  (slots, context, params) => {
    const { backend, random } = context;
    const { dtype } = params;
    const shape = conv2dShape(params);
    const [value, stored] = [draw(random), roundingTo(dtype)];
    const drawn = (sizes: readonly number[], round: (x: number) => number): Float32Array =>
      Float32Array.from({ length: sizeOf(sizes) }, () => round(value()));
    const ofFilter = filterDType(params);
    const values = drawn(shape.inputShape, stored);
    const weights = drawn(shape.filterShape, roundingTo(ofFilter));
    change?.(random, values, weights, shape);
    const [input, filter] = [slots.input(values, dtype), slots.input(weights, ofFilter)];
    const planned = params.epilogue === '' ? undefined : conv2dEpilogue(params);
    const inputs = planned?.inputs(slots, random, isExact) ?? {};
    const output = slots.output(sizeOf(shape.outputShape), dtype);
    nameSlots({ input, filter, output });
    return {
      op: 'conv2dForward',
      shape: { ...shape, ...(planned === undefined ? {} : { epilogue: planned.shape }) },
      call: () =>
        backend.conv2dForward({
          ...shape,
          ...{ input: input.ptr, filter: filter.ptr, output: output.ptr },
          ...(planned === undefined ? {} : { epilogue: planned.call((name) => inputs[name]?.ptr as DevicePtr) }),
        }),
      judge: () => {
        const reference = conv2dReference(shape, values, weights);
        const { value: want } = reference;
        const bound = (i: number): number => (isExact ? 0 : conv2dBound(shape, reference, i));
        if (planned !== undefined) return planned.check(context, output, inputs, want, bound);
        const ofHalf = (i: number): number => bound(i) + ulpF16(Math.abs(want[i] as number) + bound(i));
        compareAll('output', output.values(), isExact ? want.map(stored) : want, {
          ...{ format: dtype, bound: isExact || dtype === 'f32' ? bound : ofHalf },
        });
      },
    };
  };

/** The bound of element i: of a transposed convolution, of as many terms as it has. */
export function conv2dBound({ filterShape }: Conv2dShape, { magnitude, terms }: Reference, i: number): number {
  const count = terms === undefined ? sizeOf(filterShape.slice(1)) : (terms[i] as number);
  return productBound(count, 1, 0, magnitude[i] as number, 0);
}

/** A convolution of small integers, with its epilogue. */
export const planConv2d: PlanCall<Conv2dParams> = planDrawn({
  draw: (random) => () => random.integer(-8, 8),
  isExact: true,
});

const drawUniform: Draw = (random) => () => random.unit() * 2 - 1;
const drawWide: Draw = (random) => () => random.wideFloat();

/** The epilogue of a convolution with these parameters. */
export function conv2dEpilogue(params: Conv2dParams): PlannedEpilogue {
  const { outputShape } = conv2dShape(params);
  return new PlannedEpilogue({ shape: outputShape, strides: denseStrides(outputShape), dtype: params.dtype }, params);
}

/** The requirements of a case on a backend. */
export function conv2dNeeds(params: Conv2dParams): Omit<Needs, 'op'> {
  const { dtype, epilogue, transposed, dtypeFilter } = params;
  if (epilogue === '' && !transposed && dtypeFilter === 'own') return { dtype };
  const shape = conv2dShape(params);
  if (epilogue === '') return { dtype, shape: { ...shape } };
  const planned = conv2dEpilogue(params);
  const pointers = { input: SOME_POINTER, filter: SOME_POINTER, output: SOME_POINTER };
  return {
    dtype,
    shape: { ...shape, epilogue: planned.shape },
    call: (backend) => backend.conv2dForward({ ...shape, ...pointers, epilogue: planned.call(() => SOME_POINTER) }),
  };
}

/** The checks of conv2dForward. */
export const CONV2D_CHECKS: Readonly<Record<string, Check<Conv2dParams>>> = {
  exact: checkPlanned(planConv2d),
  /** Each filter is one power of two, so that the convolution moves full mantissas about. */
  'exact-wide': checkPlanned(
    planDrawn({
      draw: drawWide,
      isExact: true,
      change: (random, _, filter, { inputShape, filterShape, outputShape, groups = 1, transposed = false }) => {
        const [perGroup, filters] = [inputShape[1] / groups, outputShape[1] / groups];
        const plane = filterShape[2] * filterShape[3];
        filter.fill(0);
        for (let k = 0; k < outputShape[1]; k++) {
          const tap = random.integer(0, perGroup * plane - 1);
          const channel = Math.floor(k / filters) * perGroup + Math.floor(tap / plane);
          const own = transposed
            ? (channel * filters + (k % filters)) * plane + (tap % plane)
            : k * perGroup * plane + tap;
          filter[own] = random.pick([0.5, 1, -2]);
        }
      },
    }),
  ),
  bounded: checkPlanned(planDrawn({ draw: drawUniform, isExact: false })),
  /**
   * NaN and infinities of the input reach the outputs whose window holds them, and no other. The filter stays finite: whether a
   * weight that is not, over padding, gives NaN or nothing is not specified.
   */
  specials: checkPlanned(
    planDrawn({
      draw: (random) => () => random.integer(-3, 3),
      isExact: true,
      change: (random, input) => {
        for (let i = 0; i < 3; i++) {
          input[random.integer(0, input.length - 1)] = random.pick([Number.NaN, Infinity, -Infinity]);
        }
      },
    }),
  ),
  repeat: checkRepeat(planDrawn({ draw: drawWide, isExact: false })),
  epilogue: checkPlanned(planDrawn({ draw: (random) => () => random.integer(-60, 60), isExact: true })),
  'epilogue-bounded': checkPlanned(planDrawn({ draw: drawUniform, isExact: false })),
};
