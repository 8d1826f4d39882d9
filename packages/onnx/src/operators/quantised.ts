import type { KernelBuilder } from '@concord/backend-core/kernel';
import { add, cast, dequantize, matmul, max, min, neg, quantize, reshape, slice, sub, type Tensor } from '@concord/ops';
import { type HostTensor, hostTensor, scalars, sizeOf } from '../graph/host-tensor.ts';
import { Call, type Results } from '../run/call.ts';
import { Value } from '../run/value.ts';
import { convolution } from './convolution.ts';
import { elements, type Formula, type Num } from './elements.ts';
import type { Operator, Operators } from './operator.ts';

/** The number of products of numbers of 9 bits that add up below 2^24, where float32 is exact. */
const EXACT = 256;

/** Elements of 4 bits, one in a byte. */
export function unpacked(host: HostTensor): HostTensor {
  return hostTensor(host.type === 'uint4' ? 'uint8' : 'int8', host.dims, scalars(host));
}

/** An input on the device, of 4 bits one in a byte. */
export function codes(call: Call, index: number): Tensor {
  return call.type(index).endsWith('int4') ? call.toDevice(unpacked(call.host(index))) : call.x(index);
}

/** Made from the inputs that are named: once, where these are constant. */
export function keptOf(call: Call, indices: readonly number[], make: () => Tensor): Tensor {
  if (!indices.every((index) => call.inputs[index]?.isConstant !== false)) return make();
  const kept = call.keep(make);
  call.uploaded.push(kept);
  return kept;
}

/** The options of a scale: those of an axis, unless it is one number, and of blocks. */
function scaling(call: Call, scale: Tensor): { scale: Tensor; axis: number; blockSize?: number } {
  const blockSize = call.int('block_size', 0);
  const dims = call.dims(0);
  const axis = call.int('axis', 1);
  if (blockSize === 0)
    return scale.size === 1 ? { scale: reshape(scale, []), axis: 0 } : { scale, axis: call.axis(axis) };
  if ((dims[call.axis(axis)] as number) % blockSize !== 0) call.refuse(`an axis of ${dims[call.axis(axis)]} in blocks`);
  return { scale, axis: call.axis(axis), blockSize };
}

function dequantizeLinear(call: Call): Results {
  const { scale, ...options } = scaling(call, call.x(1));
  const wanted = call.int('output_dtype', 0);
  if (wanted !== 0 && wanted !== { f32: 1, f16: 10, bf16: 16 }[scale.dtype as string])
    call.refuse('another output_dtype');
  if (call.type(0) !== 'int32') {
    const zeroPoint = call.has(2) ? reshape(codes(call, 2), scale.shape) : 0;
    return dequantize(codes(call, 0), scale, { ...options, zeroPoint });
  }
  if (options.blockSize !== undefined) call.refuse('int32 in blocks');
  const vector = (of: Tensor): Tensor => along(of, call.dims(0).length, options.axis);
  const centre = call.maybe(2);
  const x = centre ? sub(call.x(0), vector(centre)) : call.x(0);
  return elements('Scaled', (k, each, by) => k.mul(asFloat(k, each), by), [x, vector(scale)], scale.dtype);
}

/** An integer, whose type formulas do not name. */
const asFloat = (k: KernelBuilder, x: Num): Num => k.toF32(x as never);

/** A vector along an axis of a shape of so many. */
function along(x: Tensor, rank: number, axis: number): Tensor {
  const ones = Array.from({ length: rank }, () => 1);
  return reshape(x, x.size === 1 ? [] : [...ones.slice(0, axis), x.size, ...ones.slice(axis + 1)]);
}

const BYTES: Readonly<Record<number, 'u8' | 'i8'>> = { 2: 'u8', 3: 'i8' };

function quantizeLinear(call: Call): Results {
  const given = call.x(0);
  const { scale, ...options } = scaling(call, call.x(1));
  const wanted = call.int('output_dtype', 0);
  if (call.int('precision', 0) > 1) call.refuse('another precision than float32');
  const dtype = call.has(2) ? call.x(2).dtype : wanted === 0 ? 'u8' : BYTES[wanted];
  if (dtype !== 'u8' && dtype !== 'i8') return call.refuse(`the element type ${call.has(2) ? call.type(2) : wanted}`);
  const x = given.dtype === 'i32' ? cast(given, 'f32') : given;
  return quantize(x, scale, { ...options, dtype, ...(call.has(2) && { zeroPoint: reshape(call.x(2), scale.shape) }) });
}

/** Bytes, scale and zero point of DynamicQuantizeLinear, in the order of its results. */
function dynamic(x: Tensor): { y: Tensor; scale: Tensor; zeroPoint: Tensor } {
  const [low, high] = [min(x), max(x)];
  const range = elements('Range', (k, a, b) => k.div(k.sub(k.max(b, 0), k.min(a, 0)), 255), [low, high], 'f32');
  const scale = elements('RangeOr1', (k, r) => k.select(k.eq(r, 0), k.f32(1), r), [range], 'f32');
  const zeroPoint = quantize(neg(elements('Below0', (k, a) => k.min(a, 0), [low], 'f32')), scale);
  return { y: quantize(x, scale, { zeroPoint }), scale, zeroPoint };
}

/** Integers less their zero point, in float32. */
function centred(x: Tensor, zeroPoint: Tensor | undefined): Tensor {
  if (zeroPoint === undefined) return cast(x, 'f32');
  return elements('Centred', (k, a, b) => k.sub(asFloat(k, a), asFloat(k, b)), [x, zeroPoint], 'f32');
}

/** The exact product of matrices of integers, in i32: as many of float32 as keep sums below 2^24, and their sum. */
function integerProduct(a: Tensor, b: Tensor): Tensor {
  const depth = a.shape.at(-1) as number;
  const left = b.rank === 2 ? reshape(a, [sizeOf(a.shape.slice(0, -1)), depth]) : a;
  let total: Tensor | undefined;
  for (let at = 0; at < depth || total === undefined; at += EXACT) {
    const part = [at, Math.min(depth, at + EXACT)] as const;
    const rows = slice(left, [...left.shape.slice(1).map(() => null), part]);
    const columns = slice(b, [...b.shape.slice(2).map(() => null), part]);
    total = plus(total, matmul(rows, columns));
  }
  return b.rank === 2 ? reshape(total, [...a.shape.slice(0, -1), b.shape[1] as number]) : total;
}

function plus(total: Tensor | undefined, part: Tensor): Tensor {
  if (total === undefined) return cast(part, 'i32');
  return elements('PlusInteger', (k, x, y) => k.add(x as never, k.toI32(y)) as never, [total, part], 'i32');
}

/** The zero point of a matrix: one number, one for each row of the left one, or each column of the right one. */
function pointOf(zeroPoint: Tensor | undefined, isLeft: boolean): Tensor | undefined {
  if (zeroPoint === undefined || zeroPoint.size === 1) return zeroPoint && reshape(zeroPoint, []);
  return isLeft && zeroPoint.rank === 1 ? reshape(zeroPoint, [-1, 1]) : zeroPoint;
}

/** Product of the inputs that are named, less their zero points. */
function product(call: Call, a: Tensor, aPoint: Tensor | undefined, b: number, bPoint: number): Tensor {
  const right = keptOf(call, [b, bPoint], () => centred(call.x(b), pointOf(call.maybe(bPoint), false)));
  return integerProduct(centred(a, pointOf(aPoint, true)), right);
}

/** Convolution of the inputs that are named, less their zero points, in i32. */
function convolved(call: Call, x: number, xPoint: number, w: number, wPoint: number): Tensor {
  const filters = keptOf(call, [w, wPoint], () => {
    const point = call.maybe(wPoint);
    return centred(call.x(w), point && along(point, call.dims(w).length, 0));
  });
  const point = call.maybe(xPoint);
  const image = centred(call.x(x), point && reshape(point, []));
  const [n = 0, c = 0, ...size] = image.shape;
  const [, channels = 0, ...window] = filters.shape;
  const groups = call.int('group', 1);
  const each = Math.floor(EXACT / sizeOf(window));
  if (each === 0) call.refuse(`a window of [${window.join(', ')}]`);
  const parted = reshape(image, [n, groups, c / groups, ...size]);
  let total: Tensor | undefined;
  for (let at = 0; at < channels; at += each) {
    const part = [at, Math.min(channels, at + each)] as const;
    const own = reshape(slice(parted, [null, null, part]), [n, groups * (part[1] - at), ...size]);
    const operands = [own, slice(filters, [null, part])].map((tensor) => Value.ofTensor(tensor, 'float32'));
    total = plus(total, convolution(new Call(call.node, operands, call.context, call.body), {}));
  }
  return total ?? call.refuse('no channels');
}

/** `round(sum a b / y) + zeroPoint` in bytes, where a, b and y are scales. */
function requantized(total: Tensor, [a, b, y]: readonly Tensor[], zeroPoint: Tensor): Tensor {
  const factor = elements('Factor', (k, s, t, u) => k.div(k.mul(s, t), u), [a, b, y] as Tensor[], 'f32');
  const [low, high] = zeroPoint.dtype === 'u8' ? [0, 255] : [-128, 127];
  const formula = (k: KernelBuilder, sum: Num, by: Num, zero: Num): Num =>
    k.clamp(k.add(k.round(k.mul(asFloat(k, sum), by)), asFloat(k, zero)), low, high);
  const small = elements(`Requantize ${zeroPoint.dtype}`, formula, [total, factor, reshape(zeroPoint, [])], 'f32');
  return cast(small, zeroPoint.dtype);
}

function qLinearMatMul(call: Call): Results {
  const total = product(call, call.x(0), call.maybe(2), 3, 5);
  const scales = [pointOf(call.x(1), true), pointOf(call.x(4), false), reshape(call.x(6), [])] as Tensor[];
  return call.typed(requantized(total, scales, call.x(7)), call.type(7));
}

function qLinearConv(call: Call): Results {
  const summed = convolved(call, 0, 2, 3, 5);
  const bias = call.maybe(8);
  const total = bias ? add(summed, along(bias, summed.rank, 1)) : summed;
  const scales = [reshape(call.x(1), []), along(call.x(4), summed.rank, 1), reshape(call.x(6), [])];
  return call.typed(requantized(total, scales, call.x(7)), call.type(7));
}

/** `total a b + bias` in floats, of an exact product. */
function scaled(total: Tensor, a: Tensor, b: Tensor, bias: Tensor | undefined): Tensor {
  const result = elements('Scaled2', (k, x, s, t) => k.mul(asFloat(k, x), k.mul(s, t)), [total, a, b], 'f32');
  return bias ? add(result, bias) : result;
}

/** An operator of floats on bytes with a scale and a zero point each, as com.microsoft's QLinear ones are. */
function onFloats(operands: number, compute: Formula, name?: string, otherwise = 0): Operator {
  const run = (call: Call): Tensor => {
    const given = name === undefined ? 0 : call.float(name, otherwise);
    const point = (index: number): Tensor | 0 => (call.has(index) ? reshape(call.x(index), []) : 0);
    const floats = Array.from({ length: operands }, (_, i) =>
      dequantize(call.x(3 * i), reshape(call.x(3 * i + 1), []), { zeroPoint: point(3 * i + 2) }),
    );
    const formula: Formula = (k, ...values) => compute(k, ...values, given as never);
    const result = elements(`${call.node.op} ${given}`, formula, floats, 'f32');
    const dtype = call.x(0).dtype as 'u8';
    return quantize(result, reshape(call.x(3 * operands), []), { dtype, zeroPoint: point(3 * operands + 1) });
  };
  return { run };
}

/** Operators of quantised numbers. */
export const QUANTISED: Operators = {
  QuantizeLinear: quantizeLinear,
  'com.microsoft.QuantizeLinear': quantizeLinear,
  DequantizeLinear: dequantizeLinear,
  'com.microsoft.DequantizeLinear': dequantizeLinear,
  DynamicQuantizeLinear: (call) => Object.values(dynamic(call.x(0))),
  MatMulInteger: (call) => product(call, call.x(0), call.maybe(2), 1, 3),
  ConvInteger: (call) => convolved(call, 0, 2, 1, 3),
  QLinearMatMul: qLinearMatMul,
  QLinearConv: qLinearConv,
  'com.microsoft.MatMulIntegerToFloat': (call) => {
    const total = product(call, call.x(0), call.maybe(4), 1, 5);
    return scaled(total, pointOf(call.x(2), true) as Tensor, pointOf(call.x(3), false) as Tensor, call.maybe(6));
  },
  'com.microsoft.DynamicQuantizeMatMul': (call) => {
    const { y, scale, zeroPoint } = dynamic(call.x(0));
    return scaled(product(call, y, zeroPoint, 1, 3), scale, pointOf(call.x(2), false) as Tensor, call.maybe(4));
  },
  'com.microsoft.QLinearAdd': onFloats(2, (k, a, b) => k.add(a, b)),
  'com.microsoft.QLinearMul': onFloats(2, (k, a, b) => k.mul(a, b)),
  'com.microsoft.QLinearSigmoid': onFloats(1, (k, x) => k.sigmoid(x)),
  'com.microsoft.QLinearLeakyRelu': onFloats(
    1,
    (k, x, alpha) => k.select(k.lt(x, 0), k.mul(x, alpha), x),
    'alpha',
    0.01,
  ),
};
