import { Terms } from '@concord/kernel';
import { f32x4, v128 } from '../../encoder/index.ts';
import type { Vector, WasmArithmetic } from './wasm-arithmetic.ts';

export type { Vector } from './wasm-arithmetic.ts';

/** The short forms of the kernel package, and those that vectors have besides. */
export class VectorTerms extends Terms<Vector> {
  declare readonly a: WasmArithmetic;

  /** The lesser, or the greater one, of x and a limit; NaN stays. */
  override readonly atMost = (x: Vector, limit: number): Vector => this.a.keep(f32x4.pmin(x, this.f(limit)));
  override readonly atLeast = (x: Vector, limit: number): Vector => this.a.keep(f32x4.pmax(x, this.f(limit)));
  /** True where |x| is below a limit; false for NaN. */
  readonly isSmall = (x: Vector, limit: number): Vector => this.a.keep(f32x4.lt(f32x4.abs(x), this.f(limit)));
  readonly isNegative = (x: Vector): Vector => this.a.keep(f32x4.lt(x, this.f(0)));
  /** -|x|. */
  readonly negated = (x: Vector): Vector => this.a.keep(v128.or(x, this.u(0x8000_0000)));

  constructor(a: WasmArithmetic) {
    super(a);
  }

  /**
   * A polynomial by Estrin's scheme, the constant coefficient first: a few products more than Horner's, but short chains of
   * dependent operations, and these are what a processor waits for.
   */
  powers(x: Vector, coefficients: readonly number[], square: Vector = this.mul(x, x)): Vector {
    let terms = coefficients.map((coefficient) => this.f(coefficient));
    let power = x;
    while (terms.length > 1) {
      const pairs: Vector[] = [];
      for (let at = 0; at < terms.length; at += 2) {
        const [low, high] = [terms[at] as Vector, terms[at + 1]];
        pairs.push(high === undefined ? low : this.add(this.mul(high, power), low));
      }
      if (pairs.length > 1) power = power === x ? square : this.mul(power, power);
      terms = pairs;
    }
    return terms[0] as Vector;
  }

  /** `x` with the sign of another number besides. */
  withSign(x: Vector, of: Vector): Vector {
    return this.a.keep(v128.or(x, v128.and(of, this.u(0x8000_0000))));
  }
}
