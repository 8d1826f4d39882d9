import type { NumberType, ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic, IntegerType } from '@concord/kernel';
import { WgslBlock, type WgslValue, widened, wgslType } from './wgsl-block.ts';

const MIN_NORMAL = 0x0080_0000;
const INFINITY = 0x7f80_0000;

/**
 * Arithmetic as WGSL, one `let` for each value. Operands may be scalars or vectors of four; a scalar beside a vector is
 * repeated. The code expects `u.zero` (see `kernel.ts`).
 */
export class WgslArithmetic implements Arithmetic<WgslValue> {
  /** Where the code goes. */
  block: WgslBlock;

  constructor(block: WgslBlock) {
    this.block = block;
  }

  constant(type: ValueType, bits: number): WgslValue {
    // Not the literal itself: of an operation on literals WGSL makes a constant, and an error where that overflows.
    return this.#define(constantText(type, bits), type, 1);
  }

  add(type: NumberType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('+', type, a, b);
  }

  sub(type: NumberType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('-', type, a, b);
  }

  mul(type: NumberType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('*', type, a, b);
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

  divide(a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('/', 'f32', a, b);
  }

  quotient(type: IntegerType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('/', type, a, b);
  }

  remainder(type: IntegerType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('%', type, a, b);
  }

  neg(type: 'f32' | 'i32', a: WgslValue): WgslValue {
    return type === 'f32' ? this.#bitwise(a, '^', '0x80000000u') : this.#define(`-${a.text}`, type, a.width);
  }

  abs(type: 'f32' | 'i32', a: WgslValue): WgslValue {
    return type === 'f32' ? this.#bitwise(a, '&', '0x7fffffffu') : this.#call('abs', type, a);
  }

  min(type: NumberType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#call('min', type, a, b);
  }

  max(type: NumberType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#call('max', type, a, b);
  }

  floor(a: WgslValue): WgslValue {
    return this.#call('floor', 'f32', a);
  }

  ceil(a: WgslValue): WgslValue {
    return this.#call('ceil', 'f32', a);
  }

  trunc(a: WgslValue): WgslValue {
    return this.#call('trunc', 'f32', a);
  }

  roundEven(a: WgslValue): WgslValue {
    return this.#call('round', 'f32', a);
  }

  sqrt(a: WgslValue): WgslValue {
    return this.#call('sqrt', 'f32', a);
  }

  exp(a: WgslValue): WgslValue {
    return this.#call('exp', 'f32', a);
  }

  and(type: IntegerType | 'bool', a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('&', type, a, b);
  }

  or(type: IntegerType | 'bool', a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('|', type, a, b);
  }

  xor(type: IntegerType | 'bool', a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix(type === 'bool' ? '!=' : '^', type, a, b);
  }

  not(type: IntegerType | 'bool', a: WgslValue): WgslValue {
    return this.#define(`${type === 'bool' ? '!' : '~'}${a.text}`, type, a.width);
  }

  shiftLeft(type: IntegerType, a: WgslValue, bits: WgslValue): WgslValue {
    return this.#infix('<<', type, a, bits);
  }

  shiftRight(type: IntegerType, a: WgslValue, bits: WgslValue): WgslValue {
    return this.#infix('>>', type, a, bits);
  }

  equal(_type: NumberType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('==', 'bool', a, b);
  }

  less(_type: NumberType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('<', 'bool', a, b);
  }

  lessOrEqual(_type: NumberType, a: WgslValue, b: WgslValue): WgslValue {
    return this.#infix('<=', 'bool', a, b);
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

  #infix(operator: string, type: ValueType, a: WgslValue, b: WgslValue): WgslValue {
    const width = widest(a, b);
    return this.#define(`${widened(a, width)} ${operator} ${widened(b, width)}`, type, width);
  }

  #call(name: string, type: ValueType, ...operands: readonly WgslValue[]): WgslValue {
    const width = widest(...operands);
    return this.#define(`${name}(${operands.map((operand) => widened(operand, width)).join(', ')})`, type, width);
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
