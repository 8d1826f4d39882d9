import type { NumberType, ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic, IntegerType } from '@concord/kernel';
import { f32x4, type FunctionBody, i32, i32x4, i64x2, i8x16, type Value, v128 } from '../../encoder/index.ts';
import { exp } from './exp.ts';

/** A value of four points, in a local variable. A bool is all ones or all zeros. */
export interface Vector extends Value<'v128'> {
  /** Of a constant the bits that each point has. */
  readonly bits?: number;
  /** Of a float32 product its factors: a sum may take them in their place. */
  readonly factors?: readonly [Vector, Vector];
}

/** The source of constants: outside of all loops, as some engines would build them again in each turn. */
export interface Constants {
  /** The bits in each component of a vector. */
  constant(bits: number): Value<'v128'>;
}

const LANES = [0, 1, 2, 3] as const;

/** {@link Arithmetic} on WebAssembly's vectors of four: arithmetic is IEEE 754's, and no compiler regroups anything. */
export class WasmArithmetic implements Arithmetic<Vector> {
  readonly #body: FunctionBody;
  readonly #constants: Constants;
  /** True if a product and a sum may be one relaxed multiply-add. */
  readonly contracts: boolean;

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
  divide(a: Vector, b: Vector): Vector {
    return this.keep(f32x4.div(a, b));
  }
  quotient(type: IntegerType, a: Vector, b: Vector): Vector {
    return this.#byLane(type === 'i32' ? i32.divS : i32.divU, a, b);
  }
  remainder(type: IntegerType, a: Vector, b: Vector): Vector {
    return this.#byLane(type === 'i32' ? i32.remS : i32.remU, a, b);
  }
  neg(type: 'f32' | 'i32', a: Vector): Vector {
    return this.keep(type === 'f32' ? f32x4.neg(a) : i32x4.neg(a));
  }
  abs(type: 'f32' | 'i32', a: Vector): Vector {
    // Engines build the mask of a float's in three instructions.
    return this.keep(type === 'f32' ? v128.and(a, this.constant('u32', 0x7fff_ffff)) : i32x4.abs(a));
  }
  min(type: NumberType, a: Vector, b: Vector): Vector {
    if (type === 'f32') return this.keep(f32x4.pmin(a, b));
    return this.keep(type === 'i32' ? i32x4.minS(a, b) : i32x4.minU(a, b));
  }
  max(type: NumberType, a: Vector, b: Vector): Vector {
    if (type === 'f32') return this.keep(f32x4.pmax(a, b));
    return this.keep(type === 'i32' ? i32x4.maxS(a, b) : i32x4.maxU(a, b));
  }
  floor(a: Vector): Vector {
    return this.keep(f32x4.floor(a));
  }
  ceil(a: Vector): Vector {
    return this.keep(f32x4.ceil(a));
  }
  trunc(a: Vector): Vector {
    return this.keep(f32x4.trunc(a));
  }
  roundEven(a: Vector): Vector {
    return this.keep(f32x4.nearest(a));
  }
  sqrt(a: Vector): Vector {
    return this.keep(f32x4.sqrt(a));
  }
  exp(a: Vector): Vector {
    return exp(this, a);
  }

  and(_: IntegerType | 'bool', a: Vector, b: Vector): Vector {
    return this.keep(v128.and(a, b));
  }
  or(_: IntegerType | 'bool', a: Vector, b: Vector): Vector {
    return this.keep(v128.or(a, b));
  }
  xor(_: IntegerType | 'bool', a: Vector, b: Vector): Vector {
    return this.keep(v128.xor(a, b));
  }
  not(_: IntegerType | 'bool', a: Vector): Vector {
    return this.keep(v128.not(a));
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

  equal(type: NumberType, a: Vector, b: Vector): Vector {
    return this.keep(type === 'f32' ? f32x4.eq(a, b) : i32x4.eq(a, b));
  }
  less(type: NumberType, a: Vector, b: Vector): Vector {
    if (type === 'f32') return this.keep(f32x4.lt(a, b));
    return this.keep(type === 'i32' ? i32x4.ltS(a, b) : i32x4.ltU(a, b));
  }
  lessOrEqual(type: NumberType, a: Vector, b: Vector): Vector {
    if (type === 'f32') return this.keep(f32x4.le(a, b));
    return this.keep(type === 'i32' ? i32x4.leS(a, b) : i32x4.leU(a, b));
  }
  select(_: ValueType, condition: Vector, a: Vector, b: Vector): Vector {
    return this.keep(v128.bitselect(a, b, condition));
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
  bitcast(_from: NumberType, _to: NumberType, a: Vector): Vector {
    return this.opaque(a);
  }
  /** No compiler regroups operations here; but a sum must not take the factors of a hidden product. */
  opaque(a: Vector): Vector {
    return a.factors === undefined ? a : { type: a.type, code: a.code };
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
