import * as ops from '@concord/ops';
import type { Activation, Tensor } from '@concord/ops';
import { refuse } from '../errors.ts';
import { sizeOf } from '../graph/host-tensor.ts';
import type { Call, Results } from '../run/call.ts';
import { functionOf } from './chain.ts';
import { elements, hasFloats } from './elements.ts';
import type { Operators } from './operator.ts';
import { fitting, plus } from './products.ts';

/** The movement of a window along the axes after the channels. */
interface Sweep {
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  /** The padding before each axis, then after each. */
  readonly pads: readonly number[];
}

function sweepOf(call: Call, size: readonly number[], kernel: readonly number[]): Sweep {
  const ones = size.map(() => 1);
  const stride = call.list('strides') ?? ones;
  const dilation = call.list('dilations') ?? ones;
  const auto = call.choice('auto_pad', 'NOTSET', 'VALID', 'SAME_UPPER', 'SAME_LOWER');
  if (kernel.length !== size.length) throw refuse(`a window of ${kernel.length} axes over ${size.length}`);
  const given = call.list('pads') ?? [...size, ...size].map(() => 0);
  const axes = size.length;
  if (stride.length !== axes || dilation.length !== axes || given.length !== 2 * axes)
    throw refuse(`strides, dilations or pads of another number of axes than ${axes}`);
  if (call.list('kernel_shape')?.join() !== (call.attribute('kernel_shape') && kernel.join()))
    throw refuse(`kernel_shape is not [${kernel.join(', ')}]`);
  if (!auto.startsWith('SAME'))
    return { kernel, stride, dilation, pads: auto === 'VALID' ? given.map(() => 0) : given };
  const total = size.map((length, i) => {
    const [step, reach] = [stride[i] as number, ((kernel[i] as number) - 1) * (dilation[i] as number) + 1];
    return Math.max(0, (Math.ceil(length / step) - 1) * step + reach - length);
  });
  return { kernel, stride, dilation, pads: shared(total, auto === 'SAME_UPPER') };
}

/** Pads before and after each axis, an odd one after it or before it. */
function shared(total: readonly number[], isUpper: boolean): number[] {
  const before = total.map((each) => (isUpper ? Math.floor(each / 2) : Math.ceil(each / 2)));
  return [...before, ...total.map((each, i) => each - (before[i] as number))];
}

/** The function that a node's product ends in: by the name that a pass gave it, or the graph of one that it put there. */
export function activationOf(call: Call): { readonly activation?: Activation } {
  const given = call.attribute('concord.activation');
  if (given === undefined) return {};
  return {
    activation: typeof given === 'string' ? (given as Activation) : functionOf(call, call.graph('concord.activation')),
  };
}

/** A function of ops with a window, whose options depend on the number of axes. */
type Windowed<Result = Tensor> = (x: Tensor, w: unknown, options: object) => Result;

const CONVOLUTIONS = [ops.conv1d, ops.conv2d, ops.conv3d] as unknown as readonly Windowed[];
const TRANSPOSED = [ops.convTranspose1d, ops.convTranspose2d] as unknown as readonly Windowed[];

/** Options of a convolution; of one axis they are numbers. */
const optionsOf = (stride: readonly number[], dilation: readonly number[], padding: readonly number[]): object => ({
  ...(stride.length === 1 ? { stride: stride[0], dilation: dilation[0] } : { stride, dilation }),
  padding,
});

/** Convolution of one to three axes, with bias, activation and a final addition in one launch. */
export function convolution(
  call: Call,
  more: { activation?: Activation; residual?: Tensor } = activationOf(call),
): Tensor {
  call.floats(0, 1, 2);
  const [x, w, bias] = [call.x(0), call.x(1), call.maybe(2)];
  const kernel = w.shape.slice(2);
  const { stride, dilation, pads } = sweepOf(call, x.shape.slice(2), kernel);
  const convolve = CONVOLUTIONS[kernel.length - 1] ?? call.refuse(`a convolution of ${kernel.length} axes`);
  return convolve(x, w, { bias, groups: call.int('group', 1), ...optionsOf(stride, dilation, pads), ...more });
}

function transposed(call: Call): Tensor {
  call.floats(0, 1, 2);
  const [x, w, bias] = [call.x(0), call.x(1), call.maybe(2)];
  const size = x.shape.slice(2);
  const kernel = w.shape.slice(2);
  const convolve = TRANSPOSED[kernel.length - 1] ?? call.refuse(`a transposed convolution of ${kernel.length} axes`);
  const { stride, dilation, pads } = sweepOf(call, size, kernel);
  const given = call.list('output_padding') ?? size.map(() => 0);
  const auto = call.text('auto_pad', 'NOTSET');
  const sames = auto.startsWith('SAME') ? size.map((each, i) => each * (stride[i] as number)) : undefined;
  const wanted = call.list('output_shape')?.slice(-size.length) ?? sames;
  // How much longer the result is than what is wanted.
  const over = wanted?.map((to, i) => {
    const reach = ((kernel[i] as number) - 1) * (dilation[i] as number) + 1;
    return ((size[i] as number) - 1) * (stride[i] as number) + (given[i] as number) + reach - to;
  });
  const extra = given.map((each, i) => each - Math.min(0, over?.[i] ?? 0));
  const cut = over?.map((each) => Math.max(0, each));
  return convolve(x, w, {
    ...{ bias, groups: call.int('group', 1), ...activationOf(call) },
    ...optionsOf(stride, dilation, cut ? shared(cut, auto === 'SAME_UPPER') : pads),
    outputPadding: extra.length === 1 ? extra[0] : extra,
  });
}

/** A maximum, and where it is if that is asked for. */
type Pooled = Tensor | { readonly values: Tensor; readonly indices: Tensor };

/** Means, maxima and maxima with their places, of images and of what has three axes. */
const POOLS = [
  [ops.avgPool, ops.maxPool, ops.maxPoolWithIndices],
  [ops.avgPool3d, ops.maxPool3d, ops.maxPool3dWithIndices],
] as unknown as readonly (readonly Windowed<Pooled>[])[];

/** Pools, those of one axis as images of one row. */
function pooled(
  call: Call,
  kind: 'max' | 'mean',
  x: Tensor = call.x(0),
  countIncludePad = call.int('count_include_pad', 0) === 1,
): { values: Tensor; indices?: Tensor | undefined } {
  const size = x.shape.slice(2);
  const sweep = sweepOf(call, size, call.list('kernel_shape') ?? []);
  const ceilMode = call.int('ceil_mode', 0) === 1;
  if (size.length > 3) return call.refuse(`pooling of ${size.length} axes`);
  // What is counted beyond the pads, runtimes do not agree on.
  if (size.length === 3 && kind === 'mean' && ceilMode && countIncludePad)
    return call.refuse('ceil_mode with count_include_pad over 3 axes');
  const isRow = size.length === 1;
  const [kernel, stride, dilation] = [sweep.kernel, sweep.stride, sweep.dilation].map((each) =>
    isRow ? [1, ...each] : each,
  );
  const padding = isRow ? sweep.pads.flatMap((each) => [0, each]) : sweep.pads;
  const which = kind === 'mean' ? 0 : call.node.outputs[1] ? 2 : 1;
  const pool = POOLS[size.length === 3 ? 1 : 0]?.[which] as Windowed<Pooled>;
  const options = { ceilMode, stride, dilation, padding, ...(kind === 'mean' && { countIncludePad }) };
  const made = pool(isRow ? ops.unsqueeze(x, 2) : x, kernel, options);
  const asGiven = (y: Tensor): Tensor => (isRow ? ops.squeeze(y, 2) : y);
  return 'values' in made
    ? { values: asGiven(made.values), indices: asGiven(made.indices) }
    : { values: asGiven(made) };
}

function maximum(call: Call): Results {
  const given = call.x(0);
  const x = hasFloats(call) ? given : ops.cast(given, 'f32');
  const { values, indices } = pooled(call, 'max', x);
  const y = ops.cast(values, given.dtype);
  if (!call.node.outputs[1]) return y;
  if (indices === undefined || call.int('storage_order', 0) === 1) return call.refuse('indices in column order');
  // ONNX counts through the whole tensor, ops through an image.
  const [, channels = 1, ...size] = call.dims(0);
  const each = sizeOf(size);
  const places = elements(
    `Places ${channels} ${each}`,
    (k, place) =>
      k.toI32(k.add(place, k.mul(k.add(k.mul(k.index(0), channels), k.index(1)) as never, each) as never) as never),
    [indices],
    'i32',
  );
  return [y, call.typed(places, 'int64')];
}

function unpool(call: Call): Tensor {
  const [x, indices] = [call.x(0), call.x(1)];
  const size = x.shape.slice(2);
  const { kernel, stride, pads } = sweepOf(call, size, call.list('kernel_shape') ?? []);
  const to = size.map((each, i) => {
    const around = (pads[i] as number) + (pads[i + size.length] as number);
    return (each - 1) * (stride[i] as number) + (kernel[i] as number) - around;
  });
  const dims = [...x.shape.slice(0, 2), ...to];
  const flat = ops.zeros(call.backend, [sizeOf(dims)], { dtype: x.dtype });
  return ops.reshape(ops.indexPut(flat, [ops.reshape(indices, [-1])], ops.reshape(x, [-1]), { out: flat }), dims);
}

/** The p-norm of each window. */
function normPool(call: Call): Tensor {
  const p = call.int('p', 2);
  const x = call.x(0);
  const powers = elements(`Power ${p}`, (k, v) => (p === 2 ? k.mul(v, v) : k.pow(k.abs(v), p)), [x]);
  const count = sizeOf(call.list('kernel_shape') ?? []);
  // Windows that reach over the end are means of fewer.
  if (call.int('ceil_mode', 0) === 1) return call.refuse('ceil_mode');
  const { values } = pooled(call, 'mean', powers, true);
  return elements(`Root ${p} ${count}`, (k, v) => k.pow(k.mul(v, count), 1 / p), [values], x.dtype);
}

function lrn(call: Call): Tensor {
  call.floats(0);
  const x = call.x(0);
  const [n, c = 1, ...size] = x.shape as readonly [number, ...number[]];
  const width = call.int('size');
  const [alpha, beta, bias] = [call.float('alpha', 1e-4), call.float('beta', 0.75), call.float('bias', 1)];
  const squares = ops.reshape(ops.square(x), [n, 1, c, sizeOf(size)]);
  const [before, after] = [Math.floor((width - 1) / 2), Math.ceil((width - 1) / 2)];
  const means = ops.avgPool(squares, [width, 1], { stride: 1, padding: [before, 0, after, 0] });
  // The mean's divisor is the size of the window, as ONNX's.
  return elements(`LRN ${alpha} ${beta} ${bias}`, (k, v, m) => k.div(v, k.pow(k.add(k.mul(m, alpha), bias), beta)), [
    x,
    ops.reshape(means, x.shape),
  ]);
}

const spatial = (call: Call): { axis: number[]; keepDims: true } => {
  return { axis: [...call.dims(0).keys()].slice(2), keepDims: true };
};

/** A convolution of each channel along a text, over what came before it. */
function causal(call: Call): Results {
  call.floats(0);
  const [x, w] = [call.x(0), call.x(1)];
  const [batch = 0, channels = 0] = x.shape;
  const before = (w.shape[2] as number) - 1;
  const past = call.maybe(3) ?? ops.zeros(call.backend, [batch, channels, before], { dtype: x.dtype });
  const all = before === 0 ? x : ops.concat([past, x], { axis: 2 });
  const name = call.choice('activation', 'none', 'silu', 'swish');
  const activation = name === 'none' ? {} : ({ activation: 'silu' } as const);
  const y = ops.conv1d(all, w, { bias: call.maybe(2), groups: channels, ...activation });
  return [y, ops.slice(all, [null, null, [x.shape[2] as number, null]])];
}

/** Operators that move a window over images. */
export const CONVOLUTION: Operators = {
  CausalConvWithState: causal,
  Conv: (call) => {
    if (!call.has(3)) return convolution(call);
    const [n = 0, , ...size] = call.dims(0);
    const { kernel, stride, dilation, pads } = sweepOf(call, size, call.dims(1).slice(2));
    const places = size.map((length, i) => {
      const all = length + (pads[i] as number) + (pads[i + size.length] as number);
      const reach = (dilation[i] as number) * ((kernel[i] as number) - 1) + 1;
      return Math.floor((all - reach) / (stride[i] as number)) + 1;
    });
    const residual = fitting(call, [n, call.dims(1)[0] as number, ...places]);
    return residual ? convolution(call, { ...activationOf(call), residual }) : plus(convolution(call), call.x(3));
  },
  ConvTranspose: transposed,
  MaxPool: maximum,
  AveragePool: (call) => pooled(call, 'mean').values,
  LpPool: normPool,
  MaxUnpool: unpool,
  GlobalAveragePool: (call) => ops.mean(call.x(0), spatial(call)),
  GlobalMaxPool: (call) => ops.max(call.x(0), spatial(call)),
  GlobalLpPool: (call) =>
    call.int('p', 2) > 2
      ? call.refuse(`p ${call.int('p')}`)
      : ops.norm(call.x(0), { ...spatial(call), ord: call.int('p', 2) }),
  LRN: lrn,
};
