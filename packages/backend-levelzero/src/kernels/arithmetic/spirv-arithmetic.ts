import type { ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic, IntegerType } from '@concord/kernel';
import type { FunctionBuilder, Type, Value, VectorCount } from '@concord/spirv-builder';

/** Components of a value: a scalar, or a vector. */
export type Width = 1 | VectorCount;

/** The components that a value has. */
export const widthOf = ({ type }: Value): Width => (type.kind === 'vector' ? type.count : 1);

/** The SPIR-V type of a number of values; integers have no sign. */
export function spirvType(k: FunctionBuilder, type: ValueType, width: Width): Type {
  const scalar = type === 'f32' ? k.types.float(32) : type === 'bool' ? k.types.bool() : k.types.int(32);
  return width === 1 ? scalar : k.types.vector(scalar, width);
}

const LESS = { f32: 'lt', i32: 'slt', u32: 'ult' } as const;
const LESS_OR_EQUAL = { f32: 'le', i32: 'sle', u32: 'ule' } as const;

/** A method of {@link Arithmetic}. */
type Method<Name extends keyof Arithmetic<Value>> = Arithmetic<Value>[Name];

/**
 * The arithmetic of kernels in SPIR-V, on scalars or on vectors of one width. Compilers of OpenCL keep NaN and infinity and
 * regroup nothing, so `opaque` has nothing to hide.
 */
export class SpirvArithmetic implements Arithmetic<Value> {
  readonly #k: FunctionBuilder;
  readonly width: Width;

  readonly add: Method<'add'> = (_, a, b) => this.#k.add(a, b);
  readonly sub: Method<'sub'> = (_, a, b) => this.#k.sub(a, b);
  readonly mul: Method<'mul'> = (_, a, b) => this.#k.mul(a, b);
  readonly mulHigh: Method<'mulHigh'> = (a, b) => this.#k.math('u_mul_hi', a, b);
  readonly divide: Method<'divide'> = (a, b) => this.#k.div(a, b);
  readonly quotient: Method<'quotient'> = (type, a, b) => (type === 'i32' ? this.#k.sdiv(a, b) : this.#k.udiv(a, b));
  readonly remainder: Method<'remainder'> = (type, a, b) => (type === 'i32' ? this.#k.srem(a, b) : this.#k.umod(a, b));
  readonly neg: Method<'neg'> = (_, a) => this.#k.neg(a);
  // OpenCL's abs gives an unsigned number: -2^31 stays what it is.
  readonly abs: Method<'abs'> = (type, a) => this.#k.math(type === 'f32' ? 'fabs' : 's_abs', a);
  readonly min: Method<'min'> = (type, a, b) => this.#k.select(this.less(type, b, a), b, a);
  readonly max: Method<'max'> = (type, a, b) => this.#k.select(this.less(type, a, b), b, a);
  readonly floor: Method<'floor'> = (a) => this.#k.math('floor', a);
  readonly ceil: Method<'ceil'> = (a) => this.#k.math('ceil', a);
  readonly trunc: Method<'trunc'> = (a) => this.#k.math('trunc', a);
  readonly roundEven: Method<'roundEven'> = (a) => this.#k.math('rint', a);
  readonly sqrt: Method<'sqrt'> = (a) => this.#k.math('sqrt', a);
  readonly exp: Method<'exp'> = (a) => this.#k.math('exp', a);
  readonly and: Method<'and'> = (_, a, b) => this.#k.and(a, b);
  readonly or: Method<'or'> = (_, a, b) => this.#k.or(a, b);
  readonly xor: Method<'xor'> = (_, a, b) => this.#k.xor(a, b);
  readonly not: Method<'not'> = (_, a) => this.#k.not(a);
  readonly shiftLeft: Method<'shiftLeft'> = (_, a, bits) => this.#k.shl(a, bits);
  readonly shiftRight: Method<'shiftRight'> = (type, a, bits) => this.#k[type === 'i32' ? 'ashr' : 'lshr'](a, bits);
  readonly equal: Method<'equal'> = (_, a, b) => this.#k.eq(a, b);
  readonly less: Method<'less'> = (type, a, b) => this.#k[LESS[type]](a, b);
  readonly lessOrEqual: Method<'lessOrEqual'> = (type, a, b) => this.#k[LESS_OR_EQUAL[type]](a, b);
  readonly select: Method<'select'> = (_, condition, a, b) => this.#k.select(condition, a, b);
  /** Selects without a branch: vectors of the processor's driver would be taken apart for it. */
  readonly rarely: Method<'rarely'> = (_, condition, value, special) => this.#k.select(condition, special(), value);
  readonly bitcast: Method<'bitcast'> = (_, to, a) => this.#k.bitcast(a, this.#type(to));
  readonly opaque: Method<'opaque'> = (a) => a;

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

  toFloat(from: IntegerType, a: Value): Value {
    const type = this.#type('f32');
    return from === 'i32' ? this.#k.stof(a, type) : this.#k.utof(a, type);
  }
  toInteger(to: IntegerType, a: Value): Value {
    const type = this.#type(to);
    return to === 'i32' ? this.#k.ftos(a, type) : this.#k.ftou(a, type);
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
