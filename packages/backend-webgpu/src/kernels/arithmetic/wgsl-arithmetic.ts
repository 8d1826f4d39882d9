import type { NumberType, ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic, IntegerType } from '@concord/kernel';
import { WgslBlock, type WgslValue, widened, wgslType } from './wgsl-block.ts';

const MIN_NORMAL = 0x0080_0000;
const INFINITY = 0x7f80_0000;

/** A method of {@link Arithmetic}. */
type Method<Name extends keyof Arithmetic<WgslValue>> = Arithmetic<WgslValue>[Name];

/**
 * Arithmetic as WGSL, one `let` for each value. Operands may be scalars or vectors of four; a scalar beside a vector is
 * repeated. The code expects `u.zero` (see `kernel.ts`).
 */
export class WgslArithmetic implements Arithmetic<WgslValue> {
  /** The block that code is added to. */
  block: WgslBlock;

  readonly add: Method<'add'> = this.#infix('+');
  readonly sub: Method<'sub'> = this.#infix('-');
  readonly mul: Method<'mul'> = this.#infix('*');
  readonly quotient: Method<'quotient'> = this.#infix('/');
  readonly remainder: Method<'remainder'> = this.#infix('%');
  readonly divide: Method<'divide'> = (a, b) => this.#infix('/')('f32', a, b);
  readonly min: Method<'min'> = this.#call('min');
  readonly max: Method<'max'> = this.#call('max');
  readonly floor: Method<'floor'> = this.#float('floor');
  readonly ceil: Method<'ceil'> = this.#float('ceil');
  readonly trunc: Method<'trunc'> = this.#float('trunc');
  readonly roundEven: Method<'roundEven'> = this.#float('round');
  readonly sqrt: Method<'sqrt'> = this.#float('sqrt');
  readonly exp: Method<'exp'> = this.#float('exp');
  readonly and: Method<'and'> = this.#infix('&');
  readonly or: Method<'or'> = this.#infix('|');
  readonly xor: Method<'xor'> = (type, a, b) => this.#infix(type === 'bool' ? '!=' : '^')(type, a, b);
  readonly shiftLeft: Method<'shiftLeft'> = this.#infix('<<');
  readonly shiftRight: Method<'shiftRight'> = this.#infix('>>');
  readonly equal: Method<'equal'> = (_, a, b) => this.#infix('==')('bool', a, b);
  readonly less: Method<'less'> = (_, a, b) => this.#infix('<')('bool', a, b);
  readonly lessOrEqual: Method<'lessOrEqual'> = (_, a, b) => this.#infix('<=')('bool', a, b);

  constructor(block: WgslBlock) {
    this.block = block;
  }

  constant(type: ValueType, bits: number): WgslValue {
    // Not the literal itself: of an operation on literals WGSL makes a constant, and an error where that overflows.
    return this.#define(constantText(type, bits), type, 1);
  }

  mulHigh(a: WgslValue, b: WgslValue): WgslValue {
    const half = this.constant('u32', 0xffff);
    const sixteen = this.constant('u32', 16);
    const low = (x: WgslValue): WgslValue => this.and('u32', x, half);
    const high = (x: WgslValue): WgslValue => this.shiftRight('u32', x, sixteen);
    const product = (x: WgslValue, y: WgslValue): WgslValue => this.mul('u32', x, y);
    const sum = (x: WgslValue, y: WgslValue): WgslValue => this.add('u32', x, y);
    const middle = sum(product(high(a), low(b)), high(product(low(a), low(b))));
    const other = sum(product(low(a), high(b)), low(middle));
    return sum(sum(product(high(a), high(b)), high(middle)), high(other));
  }

  neg(type: 'f32' | 'i32', a: WgslValue): WgslValue {
    return type === 'f32' ? this.#bitwise(a, '^', '0x80000000u') : this.#define(`-${a.text}`, type, a.width);
  }

  abs(type: 'f32' | 'i32', a: WgslValue): WgslValue {
    return type === 'f32' ? this.#bitwise(a, '&', '0x7fffffffu') : this.#call('abs')(type, a);
  }

  not(type: IntegerType | 'bool', a: WgslValue): WgslValue {
    return this.#define(`${type === 'bool' ? '!' : '~'}${a.text}`, type, a.width);
  }

  select(type: ValueType, condition: WgslValue, a: WgslValue, b: WgslValue): WgslValue {
    const width = widest(condition, a, b);
    return this.#define(
      `select(${widened(b, width)}, ${widened(a, width)}, ${widened(condition, width)})`,
      type,
      width,
    );
  }

  rarely(type: ValueType, condition: WgslValue, value: WgslValue, special: () => WgslValue): WgslValue {
    const outer = this.block;
    const width = widest(condition, value);
    const text = outer.fresh();
    outer.add(`var ${text} = ${widened(value, width)};`);
    const result: WgslValue = { text, type, width };
    this.block = outer.inner();
    this.block.add(`${text} = ${this.select(type, condition, special(), result).text};`);
    outer.enclose(`if (${condition.width === 1 ? condition.text : `any(${condition.text})`})`, this.block);
    this.block = outer;
    return result;
  }

  toFloat(from: IntegerType, a: WgslValue): WgslValue {
    const type = wgslType('f32', a.width);
    if (from === 'i32') return this.#define(`${type}(${a.text})`, 'f32', a.width);
    // SwiftShader rounds what has more than 24 bits to a wrong neighbour. Halves are exact, and so is the product.
    const words = wgslType('u32', a.width);
    const high = `${type}(${a.text} >> ${words}(16u)) * 65536.0`;
    return this.#define(`${high} + ${type}(${a.text} & ${words}(0xffffu))`, 'f32', a.width);
  }

  toInteger(to: IntegerType, a: WgslValue): WgslValue {
    return this.#define(`${wgslType(to, a.width)}(${a.text})`, to, a.width);
  }

  bitcast(from: NumberType, to: NumberType, a: WgslValue): WgslValue {
    return from === to ? a : this.#define(`bitcast<${wgslType(to, a.width)}>(${a.text})`, to, a.width);
  }

  opaque(a: WgslValue): WgslValue {
    return this.#bitwise(a, '^', 'u.zero');
  }

  #bitwise(a: WgslValue, operator: '^' | '&', scalar: string): WgslValue {
    const words = wgslType('u32', a.width);
    const other = a.width === 1 ? scalar : `${words}(${scalar})`;
    const bits = `bitcast<${words}>(${a.text}) ${operator} ${other}`;
    return this.#define(`bitcast<${wgslType('f32', a.width)}>(${bits})`, 'f32', a.width);
  }

  #infix(operator: string): (type: ValueType, a: WgslValue, b: WgslValue) => WgslValue {
    return (type, a, b) => {
      const width = widest(a, b);
      return this.#define(`${widened(a, width)} ${operator} ${widened(b, width)}`, type, width);
    };
  }

  #call(name: string): (type: ValueType, ...operands: readonly WgslValue[]) => WgslValue {
    return (type, ...operands) => {
      const width = widest(...operands);
      return this.#define(`${name}(${operands.map((operand) => widened(operand, width)).join(', ')})`, type, width);
    };
  }

  #float(name: string): (a: WgslValue) => WgslValue {
    return (a) => this.#call(name)('f32', a);
  }

  #define(expression: string, type: ValueType, width: 1 | 4): WgslValue {
    return { text: this.block.define(expression), type, width };
  }
}

function widest(...values: readonly WgslValue[]): 1 | 4 {
  return values.some(({ width }) => width === 4) ? 4 : 1;
}

/**
 * A WGSL expression for a constant. WGSL has no literal of NaN and the infinities, and compilers fold 0 and flush
 * subnormals: those are bits joined with the uniform that is always 0.
 */
function constantText(type: ValueType, bits: number): string {
  if (type === 'bool') return bits === 0 ? 'false' : 'true';
  if (type === 'u32') return `${bits >>> 0}u`;
  // There is no literal of -2^31: a minus is an operator.
  if (type === 'i32') return (bits | 0) === -(2 ** 31) ? 'i32(-2147483648)' : `i32(${bits | 0})`;
  const magnitude = bits & 0x7fff_ffff;
  if (magnitude < MIN_NORMAL || magnitude >= INFINITY) {
    return `bitcast<f32>(u.zero ^ 0x${(bits >>> 0).toString(16).padStart(8, '0')}u)`;
  }
  const value = new Float32Array(new Uint32Array([bits]).buffer)[0] as number;
  const text = String(value);
  return `f32(${/[.e]/.test(text) ? text : `${text}.0`})`;
}

/** WGSL: a float32 function that is written on `Arithmetic`, for shaders that are written by hand. Its argument is opaque. */
export function wgslFunction(name: string, body: <V>(a: Arithmetic<V>, x: V) => V): string {
  const block = new WgslBlock();
  const argument: WgslValue = { text: 'x', type: 'f32', width: 1 };
  const math = new WgslArithmetic(block);
  const result = body(math, math.opaque(argument));
  return `fn ${name}(x: f32) -> f32 {\n${block.text()}\n  return ${result.text};\n}`;
}
