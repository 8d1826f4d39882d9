import { OpenCl } from '../generated/open-cl.ts';
import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/spirv.ts';
import { componentOf, nameOf } from '../type.ts';
import type { Operand, Value } from '../value.ts';

/** Functions of the set "OpenCL.std" whose operands and result have one type. */
export type MathFunction = Exclude<
  keyof typeof OpenCl,
  | `v${'load' | 'store'}${string}`
  | ('ilogb' | 'ldexp' | 'pown' | 'rootn' | 'nan')
  | ('fract' | 'frexp' | 'lgamma_r' | 'modf' | 'remquo' | 'sincos')
  | ('cross' | 'distance' | 'length' | 'fast_distance' | 'fast_length')
  | ('u_upsample' | 's_upsample' | 'shuffle' | 'shuffle2' | 'bitselect' | 'select' | 'printf' | 'prefetch')
>;

interface Signature {
  readonly kind: 'float' | 'int';
  /** Operands. */
  readonly count: 1 | 2 | 3;
  /** Bits of a component, where not all will do. */
  readonly width?: 32;
}

/** The operands of each function. */
export const MATH: ReadonlyMap<string, Signature> = new Map([
  ...take(
    { kind: 'float', count: 1 },
    'acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp10 exp2 expm1',
    'fabs floor lgamma log log10 log1p log2 logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc',
    'degrees radians sign normalize fast_normalize',
  ),
  ...take(
    { kind: 'float', count: 2 },
    'atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder',
    'fmax_common fmin_common step',
  ),
  ...take({ kind: 'float', count: 3 }, 'fma mad fclamp mix smoothstep'),
  ...take(
    { kind: 'float', count: 1, width: 32 },
    'half_cos half_exp half_exp10 half_exp2 half_log half_log10 half_log2 half_recip half_rsqrt half_sin half_sqrt',
    'half_tan native_cos native_exp native_exp10 native_exp2 native_log native_log10 native_log2 native_recip',
    'native_rsqrt native_sin native_sqrt native_tan',
  ),
  ...take({ kind: 'float', count: 2, width: 32 }, 'half_divide half_powr native_divide native_powr'),
  ...take({ kind: 'int', count: 1 }, 'clz ctz popcount s_abs u_abs'),
  ...take(
    { kind: 'int', count: 2 },
    'rotate s_abs_diff u_abs_diff s_add_sat u_add_sat s_sub_sat u_sub_sat s_hadd u_hadd s_rhadd u_rhadd',
    's_max u_max s_min u_min s_mul_hi u_mul_hi',
  ),
  ...take({ kind: 'int', count: 3 }, 's_clamp u_clamp s_mad_hi u_mad_hi s_mad_sat u_mad_sat'),
  ...take({ kind: 'int', count: 2, width: 32 }, 's_mul24 u_mul24'),
  ...take({ kind: 'int', count: 3, width: 32 }, 's_mad24 u_mad24'),
]);

function take(signature: Signature, ...lists: readonly string[]): [string, Signature][] {
  return lists.flatMap((names) => names.split(' ')).map((name) => [name, signature]);
}

/** Functions of the OpenCL extended instruction set. */
export interface MathOps {
  /**
   * A function of the OpenCL extended instruction set, such as `math('exp', x)` or `math('u_mul_hi', a, b)`: all operands and
   * the result have one type.
   */
  math(name: MathFunction, ...operands: readonly [Value, ...Operand[]]): Value;
  /** a * b + c with one rounding. */
  fma(a: Value, b: Operand, c: Operand): Value;
}

/** Mathematical functions in a function. */
export function mathOps(body: FunctionBody): MathOps {
  const math: MathOps['math'] = (name, ...operands) => {
    const known = MATH.get(name);
    if (known === undefined) throw body.error('math', `there is no ${name} of numbers of one type`);
    const { kind, count, width } = known;
    if (operands.length !== count) throw body.error(name, `takes ${count} operands, got ${operands.length}`);
    const { type } = body.use(operands[0], name, 'operand 1');
    const component = componentOf(type);
    if (component.kind !== kind || (width !== undefined && component.width !== width)) {
      throw body.error(name, `takes ${width === undefined ? kind : `${width}-bit ${kind}`}, got ${nameOf(type)}`);
    }
    const ids = operands.map((each, index) => body.operand(each, type, name, `operand ${index + 1}`).id);
    return body.emit(Op.ExtInst, type, body.context.openCl(), OpenCl[name], ...ids);
  };
  return { math, fma: (a, b, c) => math('fma', a, b, c) };
}
