import type { NumberType, ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic, IntegerType } from '@concord/kernel';
import type { FunctionBuilder, Type, Value, VectorCount } from '@concord/spirv-builder';

/** Components of a value: a scalar, or a vector. */
export type Width = 1 | VectorCount;

/** The SPIR-V type of a number of values; integers have no sign. */
export function spirvType(k: FunctionBuilder, type: ValueType, width: Width): Type {
  const scalar = type === 'f32' ? k.types.float(32) : type === 'bool' ? k.types.bool() : k.types.int(32);
  return width === 1 ? scalar : k.types.vector(scalar, width);
}

/**
 * The arithmetic of kernels in SPIR-V, on scalars or on vectors of one width. Compilers of OpenCL keep NaN and infinity and
 * regroup nothing, so `opaque` has nothing to hide.
 */
export class SpirvArithmetic implements Arithmetic<Value> {
  readonly #k: FunctionBuilder;
  readonly width: Width;

  constructor(k: FunctionBuilder, width: Width) {
    this.#k = k;
    this.width = width;
  }

  constant(type: ValueType, bits: number): Value {
    const k = this.#k;
    const wanted = this.#type(type);
    if (type === 'bool') return k.constant(wanted, bits !== 0);
    if (type !== 'f32') return k.constant(wanted, bits >>> 0);
    const value = floatOf(bits);
    // A literal NaN loses its bits on the way through a JavaScript number.
    return Number.isNaN(value)
      ? k.bitcast(k.constant(this.#type('u32'), bits >>> 0), wanted)
      : k.constant(wanted, value);
  }

  add(_: NumberType, a: Value, b: Value): Value {
    return this.#k.add(a, b);
  }
  sub(_: NumberType, a: Value, b: Value): Value {
    return this.#k.sub(a, b);
  }
  mul(_: NumberType, a: Value, b: Value): Value {
    return this.#k.mul(a, b);
  }
  mulHigh(a: Value, b: Value): Value {
    return this.#k.math('u_mul_hi', a, b);
  }
  divide(a: Value, b: Value): Value {
    return this.#k.div(a, b);
  }
  quotient(type: IntegerType, a: Value, b: Value): Value {
    return type === 'i32' ? this.#k.sdiv(a, b) : this.#k.udiv(a, b);
  }
  remainder(type: IntegerType, a: Value, b: Value): Value {
    return type === 'i32' ? this.#k.srem(a, b) : this.#k.umod(a, b);
  }
  neg(_: 'f32' | 'i32', a: Value): Value {
    return this.#k.neg(a);
  }
  abs(type: 'f32' | 'i32', a: Value): Value {
    const k = this.#k;
    // OpenCL's abs gives an unsigned number: -2^31 stays what it is.
    return type === 'f32' ? k.math('fabs', a) : k.math('s_abs', a);
  }
  min(type: NumberType, a: Value, b: Value): Value {
    return this.#k.select(this.less(type, b, a), b, a);
  }
  max(type: NumberType, a: Value, b: Value): Value {
    return this.#k.select(this.less(type, a, b), b, a);
  }
  floor(a: Value): Value {
    return this.#k.math('floor', a);
  }
  ceil(a: Value): Value {
    return this.#k.math('ceil', a);
  }
  trunc(a: Value): Value {
    return this.#k.math('trunc', a);
  }
  roundEven(a: Value): Value {
    return this.#k.math('rint', a);
  }
  sqrt(a: Value): Value {
    return this.#k.math('sqrt', a);
  }
  exp(a: Value): Value {
    return this.#k.math('exp', a);
  }

  and(_: IntegerType | 'bool', a: Value, b: Value): Value {
    return this.#k.and(a, b);
  }
  or(_: IntegerType | 'bool', a: Value, b: Value): Value {
    return this.#k.or(a, b);
  }
  xor(_: IntegerType | 'bool', a: Value, b: Value): Value {
    return this.#k.xor(a, b);
  }
  not(_: IntegerType | 'bool', a: Value): Value {
    return this.#k.not(a);
  }
  shiftLeft(_: IntegerType, a: Value, bits: Value): Value {
    return this.#k.shl(a, bits);
  }
  shiftRight(type: IntegerType, a: Value, bits: Value): Value {
    return type === 'i32' ? this.#k.ashr(a, bits) : this.#k.lshr(a, bits);
  }

  equal(_: NumberType, a: Value, b: Value): Value {
    return this.#k.eq(a, b);
  }
  less(type: NumberType, a: Value, b: Value): Value {
    const k = this.#k;
    if (type === 'f32') return k.lt(a, b);
    return type === 'i32' ? k.slt(a, b) : k.ult(a, b);
  }
  lessOrEqual(type: NumberType, a: Value, b: Value): Value {
    const k = this.#k;
    if (type === 'f32') return k.le(a, b);
    return type === 'i32' ? k.sle(a, b) : k.ule(a, b);
  }
  select(_: ValueType, condition: Value, a: Value, b: Value): Value {
    return this.#k.select(condition, a, b);
  }

  /** Without a branch: vectors of the processor's driver would be taken apart for it. */
  rarely(_: ValueType, condition: Value, value: Value, special: () => Value): Value {
    return this.#k.select(condition, special(), value);
  }

  toFloat(from: IntegerType, a: Value): Value {
    const type = this.#type('f32');
    return from === 'i32' ? this.#k.stof(a, type) : this.#k.utof(a, type);
  }
  toInteger(to: IntegerType, a: Value): Value {
    const type = this.#type(to);
    return to === 'i32' ? this.#k.ftos(a, type) : this.#k.ftou(a, type);
  }
  bitcast(_: NumberType, to: NumberType, a: Value): Value {
    return this.#k.bitcast(a, this.#type(to));
  }
  opaque(a: Value): Value {
    return a;
  }

  #type(type: ValueType): Type {
    return spirvType(this.#k, type, this.width);
  }
}

const scratch = new DataView(new ArrayBuffer(4));

function floatOf(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}
