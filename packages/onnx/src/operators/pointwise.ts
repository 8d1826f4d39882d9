import { BYTES_OF } from '@concord/backend-core';
import type { KernelBuilder, Value } from '@concord/backend-core/kernel';
import { cast, type Tensor, where } from '@concord/ops';
import { refuse } from '../errors.ts';
import { elementType, type ElementType, isFloat } from '../graph/host-tensor.ts';
import type { Call } from '../run/call.ts';
import { deviceType } from '../run/value.ts';
import { ACTIVATIONS, hardSigmoid, softplus, swish } from './activations.ts';
import { binary, checkOneType, elements, float, type Formula, hasFloats, type Num, ofFloats } from './elements.ts';
import type { Operator, Operators } from './operator.ts';

const SELU = { alpha: 1.6732632423543772, gamma: 1.0507009873554805 };
const SOFT_LIMIT = 0.5;

const unary = (compute: Formula, type?: 'bool'): Operator => ({
  ...(type ? { type } : { element: (call) => ({ name: call.node.op, formula: compute }) }),
  run: (call) => elements(call.node.op, compute, [call.x(0)], type === 'bool' ? 'u8' : call.x(0).dtype),
});

const integers = (value: Num): Value<'i32'> => value as unknown as Value<'i32'>;

/** The sign of 0 and what hides in it do not matter. */
const square = (k: KernelBuilder, x: Num): Num => k.mul(x, x);

/** log(x + sqrt(x^2 + 1)), by log1p so that small numbers keep their digits. */
const asinh = (k: KernelBuilder, x: Num): Num => {
  const a = k.abs(x);
  const small = k.log1p(k.add(a, k.div(square(k, a), k.add(k.sqrt(k.add(square(k, a), 1)), 1))));
  const result = k.select(k.gt(a, 1e9), k.add(k.log(a), Math.LN2), small);
  return k.select(k.lt(x, 0), k.neg(result), result);
};

const sinh = (k: KernelBuilder, x: Num): Num => {
  const e = k.expm1(k.abs(x));
  const half = k.exp(k.mul(k.abs(x), 0.5));
  const result = k.select(
    k.gt(k.abs(x), 80),
    k.mul(k.mul(half, 0.5), half),
    k.mul(k.add(e, k.div(e, k.add(e, 1))), 0.5),
  );
  return k.select(k.lt(x, 0), k.neg(result), result);
};

const cosh = (k: KernelBuilder, x: Num): Num => {
  const half = k.exp(k.mul(k.abs(x), 0.5));
  return k.add(k.mul(k.mul(half, 0.5), half), k.mul(k.exp(k.neg(k.abs(x))), 0.5));
};

/** Of f32: the remainder with the sign of the dividend, which is what a divisor without end leaves. */
const truncatedRemainder = (k: KernelBuilder, a: Num, b: Num): Num => {
  const isWhole = k.and(k.eq(k.abs(b), Infinity), k.lt(k.abs(a), Infinity));
  return k.select(isWhole, a, k.sub(a, k.mul(k.trunc(k.div(a, b)), b)));
};

const integerRemainder = (k: KernelBuilder, a: Num, b: Num): Num => k.rem(integers(a), integers(b)) as unknown as Num;

/** The remainder with the sign of the divisor, as Python's, of that with the sign of the dividend. */
const floored =
  (remainder: typeof integerRemainder) =>
  (k: KernelBuilder, a: Num, b: Num): Num => {
    const rest = remainder(k, a, b);
    const wrong = k.and(k.ne(rest, 0), k.ne(k.lt(rest, 0), k.lt(b, 0)));
    return k.select(wrong, k.add(rest, b), rest);
  };

function modulo(call: Call): Tensor {
  checkOneType(call);
  const [a, b] = [call.x(0), call.x(1)];
  const fmod = call.int('fmod', 0) === 1;
  if (hasFloats(call) && !fmod && call.version < 28) throw refuse('Mod of floats needs fmod = 1');
  const remainder = hasFloats(call) ? truncatedRemainder : integerRemainder;
  return elements(`Mod ${fmod}`, fmod || a.dtype === 'u32' ? remainder : floored(remainder), [a, b]);
}

function power(call: Call): Tensor {
  const [x, y] = [call.x(0), call.x(1)];
  const exponent = call.inputs[1]?.isConstant === true && call.value(1).host && call.numbers(1);
  if (exponent && exponent.length === 1 && y.rank <= x.rank) {
    if (exponent[0] === 2) return elements('square', square, [x, y].slice(0, 1), x.dtype);
    if (exponent[0] === 0.5 && hasFloats(call)) return elements('root', (k, v) => k.sqrt(v), [x]);
  }
  if (hasFloats(call)) {
    return elements('Pow', (k, a, b) => k.pow(a, b), [x, hasFloats(call, 1) ? y : cast(y, 'f32')]);
  }
  // Whole numbers up to 2^24 are exact in float32, and beyond are not.
  return call.refuse(`powers of ${call.type(0)} by other numbers than 2`);
}

/** Bounds of what is clipped: attributes, or inputs that may be left out. */
const clipElement: NonNullable<Operator['element']> = (call) => {
  if (call.version >= 11) {
    return {
      name: 'Clip',
      formula: (k, x, low, high?: Num) => (high === undefined ? k.max(x, low) : k.min(k.max(x, low), high)),
    };
  }
  const [low, high] = [call.float('min', -3.4028234663852886e38), call.float('max', 3.4028234663852886e38)];
  return { name: `Clip ${low} ${high}`, formula: (k, x) => k.min(k.max(x, low), high) };
};

function clip(call: Call): Tensor {
  if (call.version < 11 || (call.has(1) && call.has(2))) {
    const { name, formula } = clipElement(call);
    return elements(name, formula, call.all());
  }
  const [x, low, high] = [call.x(0), call.maybe(1), call.maybe(2)];
  const lower = low ? elements('Clip low', (k, v, l) => k.max(v, l), [x, low]) : x;
  return high ? elements('Clip high', (k, v, h) => k.min(v, h), [lower, high]) : lower;
}

/** @throws {BackendError} UNSUPPORTED for a cast whose result would not be ONNX's */
function castTo(call: Call, to: ElementType): ReturnType<Call['typed']> {
  const [x, from] = [call.x(0), call.type(0)];
  const dtype = deviceType(to, call.context.float64);
  if (to === 'bool')
    return call.typed(
      elements('Truth', (k, v) => k.ne(v, 0), [x], 'u8'),
      to,
    );
  // Small integers wrap, where ops saturate; floats outside of an integer's range are undefined in ONNX.
  const wraps = !isFloat(from) && BYTES_OF[dtype] === 1 && BYTES_OF[x.dtype] >= BYTES_OF[dtype] && from !== 'bool';
  const signed: Formula = (k, v) => (x.dtype === 'u32' ? k.toI32(v) : integers(v));
  return call.typed(wraps && dtype !== x.dtype ? elements('Wrap', signed, [x], dtype) : cast(x, dtype), to);
}

const shift = (call: Call): Tensor => {
  const direction = call.text('direction');
  const left = direction === 'LEFT';
  if (!left && direction !== 'RIGHT') return call.refuse(`direction ${direction}`);
  const [a, b] = [call.x(0), call.x(1)];
  const bits = 8 * BYTES_OF[a.dtype];
  return elements(
    `BitShift ${left} ${bits}`,
    (k, x, y) => {
      const shifted = left ? k.shl(integers(x), integers(y)) : k.shr(integers(x), integers(y));
      // Nothing is left but signs.
      const isBeyond = k.or(k.ge(y, bits), k.lt(y, 0));
      return k.select(
        isBeyond,
        left ? k.sub(shifted, shifted) : k.select(k.lt(x, 0), k.not(k.sub(shifted, shifted)), k.sub(shifted, shifted)),
        shifted,
      );
    },
    [a, b],
  );
};

const logical = (name: 'and' | 'or' | 'xor'): Operator => binary((k, a, b) => k[name](k.ne(a, 0), k.ne(b, 0)), 'bool');

const bitwise = (name: 'and' | 'or' | 'xor'): Operator => binary((k, a, b) => k[name](integers(a), integers(b)));

const infinite = (k: KernelBuilder, x: Num, negative: number, positive: number): Value =>
  k.or(k.and(k.eq(x, Infinity), positive !== 0), k.and(k.eq(x, -Infinity), negative !== 0));

const SUM = binary((k, a, b) => k.add(a, b));

/** Operators that work element by element. */
export const POINTWISE: Operators = {
  ...Object.fromEntries(
    Object.entries(ACTIVATIONS).map(([name, [compute, parameters]]) => [name, float(compute, parameters)]),
  ),
  Abs: unary((k, x) => k.abs(x)),
  Neg: unary((k, x) => k.neg(x)),
  Sign: (call) => elements('Sign', (k, x) => (hasFloats(call) ? k.sign(x) : k.clamp(x, -1, 1)), [call.x(0)]),
  Acos: float((k, x) => k.atan2(k.sqrt(k.mul(k.sub(1, x), k.add(x, 1))), x)),
  Acosh: float((k, x) => k.log(k.add(x, k.mul(k.sqrt(k.sub(x, 1)), k.sqrt(k.add(x, 1)))))),
  Asin: float((k, x) => k.atan2(x, k.sqrt(k.mul(k.sub(1, x), k.add(x, 1))))),
  Asinh: float(asinh),
  Atan: float((k, x) => k.atan2(x, k.f32(1))),
  Atanh: float((k, x) => k.mul(k.sub(k.log1p(x), k.log1p(k.neg(x))), 0.5)),
  Cos: float((k, x) => k.cos(x)),
  Cosh: float(cosh),
  Sin: float((k, x) => k.sin(x)),
  Sinh: float(sinh),
  Tan: float((k, x) => k.div(k.sin(x), k.cos(x))),
  Ceil: float((k, x) => k.ceil(x)),
  Floor: float((k, x) => k.floor(x)),
  Round: float((k, x) => k.round(x)),
  Erf: float((k, x) => k.erf(x)),
  Exp: float((k, x) => k.exp(x)),
  Log: float((k, x) => k.log(x)),
  Sqrt: float((k, x) => k.sqrt(x)),
  Reciprocal: float((k, x) => k.div(1, x)),
  Relu: unary((k, x) => k.max(x, 0)),
  Mish: float((k, x) => k.mul(x, k.tanh(softplus(k, x)))),
  HardSwish: float((k, x) => k.mul(x, hardSigmoid(k, x, 1 / 6, 0.5))),
  Celu: float((k, x, alpha) => k.add(k.max(x, 0), k.min(k.mul(k.expm1(k.div(x, alpha)), alpha), 0)), { alpha: 1 }),
  Selu: float((k, x, alpha, gamma) => k.mul(k.select(k.gt(x, 0), x, k.mul(k.expm1(x), alpha)), gamma), SELU),
  Shrink: float(
    (k, x, lambd, bias) => {
      const shrunk = k.select(k.lt(x, -lambd), k.add(x, bias), k.f32(0));
      return k.select(k.gt(x, lambd), k.sub(x, bias), shrunk);
    },
    { lambd: SOFT_LIMIT, bias: 0 },
  ),
  SwiGLU: (call) => {
    const alpha = call.float('alpha', 1);
    return elements(`SwiGLU ${alpha}`, (k, a, b) => k.mul(swish(k, a, alpha), b), [call.x(0), call.x(1)]);
  },
  Swish: float(swish, { alpha: 1 }),
  Gelu: ofFloats((call) => {
    const tanh = call.choice('approximate', 'none', 'tanh') === 'tanh';
    return { name: `Gelu ${tanh}`, formula: (k, x) => (tanh ? k.geluTanh(x) : k.gelu(x)) };
  }),
  IsNaN: unary((k, x) => k.isNan(x), 'bool'),
  IsInf: {
    type: 'bool',
    run: (call) => {
      const given = [call.int('detect_negative', 1), call.int('detect_positive', 1)] as const;
      return elements(`IsInf ${given.join()}`, (k, x) => infinite(k, x, ...given), [call.x(0)], 'u8');
    },
  },
  Not: unary((k, x) => k.eq(x, 0), 'bool'),
  BitwiseNot: (call) =>
    // Its upper half is all ones, which the device does not have.
    call.type(0) === 'uint64'
      ? call.refuse('input 0 of uint64')
      : elements('BitwiseNot', (k, x) => k.not(integers(x)), [call.x(0)]),
  Add: SUM,
  Sub: binary((k, a, b) => k.sub(a, b)),
  Mul: binary((k, a, b) => k.mul(a, b)),
  Div: binary((k, a, b) => k.div(a, b)),
  Max: binary((k, a, b) => k.max(a, b)),
  Min: binary((k, a, b) => k.min(a, b)),
  Sum: SUM,
  Mean: (call) => {
    const count = call.inputs.length;
    return elements(`Mean ${count}`, (k, x) => k.div(x, count), [SUM.run?.(call) as Tensor]);
  },
  And: logical('and'),
  Or: logical('or'),
  Xor: logical('xor'),
  BitwiseAnd: bitwise('and'),
  BitwiseOr: bitwise('or'),
  BitwiseXor: bitwise('xor'),
  BitShift: shift,
  Equal: binary((k, a, b) => k.eq(a, b), 'bool'),
  Greater: binary((k, a, b) => k.gt(a, b), 'bool'),
  GreaterOrEqual: binary((k, a, b) => k.ge(a, b), 'bool'),
  Less: binary((k, a, b) => k.lt(a, b), 'bool'),
  LessOrEqual: binary((k, a, b) => k.le(a, b), 'bool'),
  Mod: modulo,
  Pow: power,
  PRelu: binary((k, x, slope) => k.select(k.lt(x, 0), k.mul(x, slope), x)),
  Clip: { element: clipElement, run: clip },
  Cast: (call) => castTo(call, elementType('attribute to', call.int('to'))),
  CastLike: (call) => castTo(call, call.type(1)),
  Where: (call) => {
    checkOneType(call, 1);
    return call.typed(where(call.x(0), call.x(1), call.x(2)), call.type(1));
  },
};
