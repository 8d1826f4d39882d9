import type { NumberType, ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic, IntegerType } from '@concord/kernel';
import { f32x4, type FunctionBody, i32, i32x4, i64x2, i8x16, type Value, v128 } from '../../encoder/index.ts';
import { exp } from './exp.ts';

/** A value of four points, in a local variable. A bool is all ones or all zeros. */
export interface Vector extends Value<'v128'> {
  /** The bits of a constant, the same at each point. */
  readonly bits?: number;
  /** The factors of a float32 product: a sum may take them in its place. */
  readonly factors?: readonly [Vector, Vector];
}

/** The source of constants: outside of all loops, as some engines would build them again in each turn. */
export interface Constants {
  /** The bits in each component of a vector. */
  constant(bits: number): Value<'v128'>;
}

/** A method of {@link Arithmetic}. */
type Method<Name extends keyof Arithmetic<Vector>> = Arithmetic<Vector>[Name];
type Instruction = (a: Vector, b: Vector) => Value<'v128'>;

const LANES = [0, 1, 2, 3] as const;

/** {@link Arithmetic} on WebAssembly's vectors of four: arithmetic is IEEE 754's, and no compiler regroups anything. */
export class WasmArithmetic implements Arithmetic<Vector> {
  readonly #body: FunctionBody;
  readonly #constants: Constants;
  /** True if a product and a sum may be one relaxed multiply-add. */
  readonly contracts: boolean;

  readonly divide: Method<'divide'> = this.#own(f32x4.div);
  readonly quotient: Method<'quotient'> = (type, a, b) => this.#byLane(type === 'i32' ? i32.divS : i32.divU, a, b);
  readonly remainder: Method<'remainder'> = (type, a, b) => this.#byLane(type === 'i32' ? i32.remS : i32.remU, a, b);
  readonly min: Method<'min'> = this.#typed({ f32: f32x4.pmin, i32: i32x4.minS, u32: i32x4.minU });
  readonly max: Method<'max'> = this.#typed({ f32: f32x4.pmax, i32: i32x4.maxS, u32: i32x4.maxU });
  readonly floor: Method<'floor'> = this.#own(f32x4.floor);
  readonly ceil: Method<'ceil'> = this.#own(f32x4.ceil);
  readonly trunc: Method<'trunc'> = this.#own(f32x4.trunc);
  readonly roundEven: Method<'roundEven'> = this.#own(f32x4.nearest);
  readonly sqrt: Method<'sqrt'> = this.#own(f32x4.sqrt);
  readonly exp: Method<'exp'> = (a) => exp(this, a);
  readonly and: Method<'and'> = (_, a, b) => this.keep(v128.and(a, b));
  readonly or: Method<'or'> = (_, a, b) => this.keep(v128.or(a, b));
  readonly xor: Method<'xor'> = (_, a, b) => this.keep(v128.xor(a, b));
  readonly not: Method<'not'> = (_, a) => this.keep(v128.not(a));
  readonly equal: Method<'equal'> = this.#typed({ f32: f32x4.eq, i32: i32x4.eq, u32: i32x4.eq });
  readonly less: Method<'less'> = this.#typed({ f32: f32x4.lt, i32: i32x4.ltS, u32: i32x4.ltU });
  readonly lessOrEqual: Method<'lessOrEqual'> = this.#typed({ f32: f32x4.le, i32: i32x4.leS, u32: i32x4.leU });
  readonly select: Method<'select'> = (_, condition, a, b) => this.keep(v128.bitselect(a, b, condition));
  readonly bitcast: Method<'bitcast'> = (_from, _to, a) => this.opaque(a);

  constructor(body: FunctionBody, constants: Constants, contracts: boolean) {
    this.#body = body;
    this.#constants = constants;
    this.contracts = contracts;
  }

  /** Computes a value here. */
  keep(value: Value<'v128'>): Vector {
    return this.#body.let(value);
  }

  constant(type: ValueType, bits: number): Vector {
    const own = type === 'bool' && bits !== 0 ? 0xffff_ffff : bits >>> 0;
    return { ...this.#constants.constant(own), bits: own };
  }

  add(type: NumberType, a: Vector, b: Vector): Vector {
    if (type !== 'f32') return this.keep(i32x4.add(a, b));
    if (this.contracts && a.factors !== undefined) return this.keep(f32x4.relaxedMadd(...a.factors, b));
    if (this.contracts && b.factors !== undefined) return this.keep(f32x4.relaxedMadd(...b.factors, a));
    return this.keep(f32x4.add(a, b));
  }
  sub(type: NumberType, a: Vector, b: Vector): Vector {
    if (type !== 'f32') return this.keep(i32x4.sub(a, b));
    if (this.contracts && b.factors !== undefined) return this.keep(f32x4.relaxedNmadd(...b.factors, a));
    return this.keep(f32x4.sub(a, b));
  }
  mul(type: NumberType, a: Vector, b: Vector): Vector {
    if (type !== 'f32') return this.keep(i32x4.mul(a, b));
    return { ...this.keep(f32x4.mul(a, b)), factors: [a, b] };
  }
  mulHigh(a: Vector, b: Vector): Vector {
    const low = i64x2.extmulLowI32x4U(a, b);
    const high = i64x2.extmulHighI32x4U(a, b);
    return this.keep(i8x16.shuffle(low, high, [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31]));
  }
  neg(type: 'f32' | 'i32', a: Vector): Vector {
    return this.keep(type === 'f32' ? f32x4.neg(a) : i32x4.neg(a));
  }
  abs(type: 'f32' | 'i32', a: Vector): Vector {
    // Engines build the mask of a float's in three instructions.
    return this.keep(type === 'f32' ? v128.and(a, this.constant('u32', 0x7fff_ffff)) : i32x4.abs(a));
  }
  shiftLeft(_: IntegerType, a: Vector, bits: Vector): Vector {
    if (bits.bits !== undefined) return this.keep(i32x4.shl(a, bits.bits));
    return this.#byLane(i32.shl, a, bits);
  }
  shiftRight(type: IntegerType, a: Vector, bits: Vector): Vector {
    const isSigned = type === 'i32';
    if (bits.bits !== undefined) return this.keep((isSigned ? i32x4.shrS : i32x4.shrU)(a, bits.bits));
    return this.#byLane(isSigned ? i32.shrS : i32.shrU, a, bits);
  }

  rarely(_: ValueType, condition: Vector, value: Vector, special: () => Vector): Vector {
    const result = this.#body.let(value);
    this.#body.if(v128.anyTrue(condition), () => {
      this.#body.set(result, v128.bitselect(special(), value, condition));
    });
    return result;
  }

  toFloat(from: IntegerType, a: Vector): Vector {
    return this.keep(from === 'i32' ? f32x4.convertI32x4S(a) : f32x4.convertI32x4U(a));
  }
  toInteger(to: IntegerType, a: Vector): Vector {
    return this.keep(to === 'i32' ? i32x4.truncSatF32x4S(a) : i32x4.truncSatF32x4U(a));
  }
  /** No compiler regroups operations here; but a sum must not take the factors of a hidden product. */
  opaque(a: Vector): Vector {
    return a.factors === undefined ? a : { type: a.type, code: a.code };
  }

  #own(instruction: (...operands: Vector[]) => Value<'v128'>): (...operands: Vector[]) => Vector {
    return (...operands) => this.keep(instruction(...operands));
  }

  /** The instruction of each type. */
  #typed(instructions: Record<NumberType, Instruction>): (type: NumberType, a: Vector, b: Vector) => Vector {
    return (type, a, b) => this.keep(instructions[type](a, b));
  }

  /** An operation without a vector instruction, lane by lane. */
  #byLane(operation: (a: Value<'i32'>, b: Value<'i32'>) => Value<'i32'>, a: Vector, b: Vector): Vector {
    const lane = (at: number): Value<'i32'> => operation(i32x4.extractLane(a, at), i32x4.extractLane(b, at));
    return this.keep(
      LANES.slice(1).reduce<Value<'v128'>>(
        (vector, at) => i32x4.replaceLane(vector, at, lane(at)),
        i32x4.splat(lane(0)),
      ),
    );
  }
}
