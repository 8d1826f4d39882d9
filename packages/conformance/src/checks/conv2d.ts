import { type DevicePtr, type FloatDType, f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { conv2dReference } from '@concord/backend-cpu/reference';
import { PlannedEpilogue } from '../epilogue/planned-epilogue.ts';
import type { CaseContext, Needs } from '../harness/case.ts';
import { checkPlanned, type PlanCall } from '../harness/planned-call.ts';
import { SOME_POINTER } from '../harness/sample-calls.ts';
import { nameSlots } from '../harness/slot.ts';
import type { Check } from '../harness/suite.ts';
import { Workspace } from '../harness/workspace.ts';
import { denseStrides, sizeOf } from '../run/view.ts';
import { productBound, ulpF16 } from './bounds.ts';
import { compareAll, compareBytes } from './compare.ts';
import { type Conv2dParams, conv2dShape } from './conv2d-data.ts';

async function convolve(
  { backend }: CaseContext,
  params: Conv2dParams,
  input: Float32Array,
  filter: Float32Array,
): Promise<Float32Array> {
  const shape = conv2dShape(params);
  const workspace = new Workspace(backend, { offsetBytes: params.offset, together: params.together });
  const { dtype } = params;
  const slots = { input: workspace.input(input, dtype), filter: workspace.input(filter, dtype) };
  const output = workspace.output(sizeOf(shape.outputShape), dtype);
  await workspace.run(() =>
    backend.conv2dForward({ ...shape, input: slots.input.ptr, filter: slots.filter.ptr, output: output.ptr }),
  );
  return output.values();
}

function drawOperands(params: Conv2dParams, draw: () => number): [Float32Array, Float32Array] {
  const { inputShape, filterShape } = conv2dShape(params);
  const stored = roundingTo(params.dtype);
  return [
    Float32Array.from({ length: sizeOf(inputShape) }, () => stored(draw())),
    Float32Array.from({ length: sizeOf(filterShape) }, () => stored(draw())),
  ];
}

function compareExactly(params: Conv2dParams, got: Float32Array, input: Float32Array, filter: Float32Array): void {
  const { value } = conv2dReference(conv2dShape(params), input, filter);
  compareAll('output', got, value.map(roundingTo(params.dtype)), { bound: () => 0, format: params.dtype });
}

function roundingTo(dtype: FloatDType): (x: number) => number {
  return dtype === 'f16' ? (x) => f16BitsToF32(f32ToF16Bits(x)) : Math.fround;
}

/** A convolution of small integers, with its epilogue: every order of summation gives the same bits. */
export const planConv2d: PlanCall<Conv2dParams> = (slots, context, params) => {
  const { backend, random } = context;
  const [values, weights] = drawOperands(params, () => random.integer(-8, 8));
  const shape = conv2dShape(params);
  const { dtype } = params;
  const [input, filter] = [slots.input(values, dtype), slots.input(weights, dtype)];
  const output = slots.output(sizeOf(shape.outputShape), dtype);
  nameSlots({ input, filter, output });
  if (params.epilogue === '') {
    return {
      op: 'conv2dForward',
      shape: { ...shape },
      call: () => backend.conv2dForward({ ...shape, input: input.ptr, filter: filter.ptr, output: output.ptr }),
      judge: () => compareExactly(params, output.values(), values, weights),
    };
  }
  const planned = conv2dEpilogue(params);
  const inputs = planned.inputs(slots, random, true);
  return {
    op: 'conv2dForward',
    shape: { ...shape, epilogue: planned.shape },
    call: () =>
      backend.conv2dForward({
        ...shape,
        ...{ input: input.ptr, filter: filter.ptr, output: output.ptr },
        epilogue: planned.call((name) => inputs[name]?.ptr as DevicePtr),
      }),
    judge: () => planned.check(context, output, inputs, conv2dReference(shape, values, weights).value, () => 0),
  };
};

/** Each filter is one power of two, so that the convolution moves full mantissas about. */
async function checkExactWide(context: CaseContext, params: Conv2dParams): Promise<void> {
  const { random } = context;
  const [input, filter] = drawOperands(params, () => random.wideFloat());
  const taps = filter.length / (params.filter[0] as number);
  filter.fill(0);
  for (let k = 0; k < filter.length; k += taps) filter[k + random.integer(0, taps - 1)] = random.pick([0.5, 1, -2]);
  const got = await convolve(context, params, input, filter);
  compareExactly(params, got, input, filter);
}

async function checkBounded(context: CaseContext, params: Conv2dParams): Promise<void> {
  const [input, filter] = drawOperands(params, () => context.random.unit() * 2 - 1);
  const got = await convolve(context, params, input, filter);
  const shape = conv2dShape(params);
  const { value, magnitude } = conv2dReference(shape, input, filter);
  const terms = sizeOf(shape.filterShape.slice(1));
  compareAll('output', got, value, {
    format: params.dtype,
    bound: (i) => {
      const bound = productBound(terms, 1, 0, magnitude[i] as number, 0);
      return params.dtype === 'f16' ? bound + ulpF16(Math.abs(value[i] as number) + bound) : bound;
    },
  });
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
  compareExactly(params, got, input, filter);
}

async function checkRepeat(context: CaseContext, params: Conv2dParams): Promise<void> {
  const [input, filter] = drawOperands(params, () => context.random.wideFloat());
  const first = await convolve(context, params, input, filter);
  const second = await convolve(context, params, input, filter);
  compareBytes('second of two equal calls', new Uint8Array(second.buffer), new Uint8Array(first.buffer));
}

async function checkEpilogue(context: CaseContext, params: Conv2dParams, isExact: boolean): Promise<void> {
  const { backend, random } = context;
  const shape = conv2dShape(params);
  const { dtype } = params;
  const draw = isExact ? () => random.integer(-60, 60) : () => random.unit() * 2 - 1;
  const [input, filter] = drawOperands(params, draw);
  const planned = conv2dEpilogue(params);
  const workspace = new Workspace(backend, { offsetBytes: params.offset, together: params.together });
  const slots = { input: workspace.input(input, dtype), filter: workspace.input(filter, dtype) };
  const inputs = planned.inputs(workspace, random, isExact);
  const output = workspace.output(sizeOf(shape.outputShape), dtype);
  await workspace.run(() =>
    backend.conv2dForward({
      ...shape,
      ...{ input: slots.input.ptr, filter: slots.filter.ptr, output: output.ptr },
      epilogue: planned.call((name) => inputs[name]?.ptr as DevicePtr),
    }),
  );
  const { value, magnitude } = conv2dReference(shape, input, filter);
  const terms = sizeOf(shape.filterShape.slice(1));
  const bound = (i: number): number => (isExact ? 0 : productBound(terms, 1, 0, magnitude[i] as number, 0));
  planned.check(context, output, inputs, value, bound);
}

/** The epilogue of a convolution with these parameters. */
export function conv2dEpilogue(params: Conv2dParams): PlannedEpilogue {
  const { outputShape } = conv2dShape(params);
  return new PlannedEpilogue({ shape: outputShape, strides: denseStrides(outputShape), dtype: params.dtype }, params);
}

/** The requirements of a case on a backend. */
export function conv2dNeeds(params: Conv2dParams): Omit<Needs, 'op'> {
  const { dtype, epilogue } = params;
  if (epilogue === '') return { dtype };
  const shape = conv2dShape(params);
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
  'exact-wide': checkExactWide,
  bounded: checkBounded,
  specials: checkSpecials,
  repeat: checkRepeat,
  epilogue: (context, params) => checkEpilogue(context, params, true),
  'epilogue-bounded': (context, params) => checkEpilogue(context, params, false),
};
