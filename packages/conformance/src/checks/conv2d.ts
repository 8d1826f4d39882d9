import type { Conv2dShape, DevicePtr } from '@concord/backend-core';
import { conv2dReference, type Reference } from '@concord/backend-cpu/reference';
import { PlannedEpilogue } from '../epilogue/planned-epilogue.ts';
import type { Needs } from '../harness/case.ts';
import { checkPlanned, checkRepeat, type PlanCall } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { SOME_POINTER } from '../harness/sample-calls.ts';
import { nameSlots } from '../harness/slot.ts';
import type { Check } from '../harness/suite.ts';
import { roundingTo } from '../run/storage.ts';
import { denseStrides, sizeOf } from '../run/view.ts';
import { productBound, ulpF16 } from './bounds.ts';
import { compareAll } from './compare.ts';
import { type Conv2dParams, conv2dShape, filterDType } from './conv2d-data.ts';

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
