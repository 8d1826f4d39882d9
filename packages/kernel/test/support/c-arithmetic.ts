import type { NumberType, ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic } from '../../src/arithmetic/arithmetic.ts';

const TYPES: Readonly<Record<ValueType, string>> = { f32: 'float', i32: 'int32_t', u32: 'uint32_t', bool: 'bool' };
const OPERATORS = { add: '+', sub: '-', mul: '*', and: '&', or: '|', xor: '^' } as const;

/** The frame of the code of {@link cArithmetic}: `zero` is a 0 of which the compiler does not know. */
export const C_PRELUDE = `
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
extern uint32_t zero;
static inline float of_bits(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline uint32_t to_bits(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
`;

/** {@link Arithmetic} that writes C: a value is the name of a variable, whose declaration goes to \`lines\`. */
export function cArithmetic(lines: string[]): Arithmetic<string> {
  const value = (type: ValueType, code: string): string => {
    const name = `t${lines.length}`;
    lines.push(`const ${TYPES[type]} ${name} = ${code};`);
    return name;
  };
  const binary =
    (op: keyof typeof OPERATORS) =>
    (type: ValueType, a: string, b: string): string =>
      value(type, `${a} ${OPERATORS[op]} ${b}`);
  const call = (name: string) => (a: string) => value('f32', `${name}(${a})`);
  const bits = (type: NumberType, a: string): string => (type === 'f32' ? `to_bits(${a})` : `(uint32_t)${a}`);
  return {
    constant(type, word) {
      if (type !== 'f32') return value(type, type === 'bool' ? String(word) : `(${TYPES[type]})${word}u`);
      // As in a shader: a value that compilers must not see is a uniform.
      const isPlain = word << 1 !== 0 && (word & 0x7f80_0000) !== 0x7f80_0000;
      return value(type, `of_bits(${word}u${isPlain ? '' : ' ^ zero'})`);
    },
    add: binary('add'),
    sub: binary('sub'),
    mul: binary('mul'),
    mulHigh: (a, b) => value('u32', `(uint32_t)(((uint64_t)${a} * ${b}) >> 32)`),
    divide: (a, b) => value('f32', `${a} / ${b}`),
    quotient: (type, a, b) => value(type, `${a} / ${b}`),
    remainder: (type, a, b) => value(type, `${a} % ${b}`),
    neg: (type, a) => value(type, `-${a}`),
    abs: (type, a) => value(type, type === 'f32' ? `fabsf(${a})` : `${a} < 0 ? -${a} : ${a}`),
    min: (type, a, b) => value(type, `${a} < ${b} ? ${a} : ${b}`),
    max: (type, a, b) => value(type, `${a} > ${b} ? ${a} : ${b}`),
    floor: call('floorf'),
    ceil: call('ceilf'),
    trunc: call('truncf'),
    roundEven: call('rintf'),
    sqrt: call('sqrtf'),
    exp: call('expf'),
    and: binary('and'),
    or: binary('or'),
    xor: binary('xor'),
    not: (type, a) => value(type, type === 'bool' ? `!${a}` : `~${a}`),
    shiftLeft: (type, a, b) => value(type, `(${TYPES[type]})((uint32_t)${a} << ${b})`),
    shiftRight: (type, a, b) => value(type, `${a} >> ${b}`),
    equal: (_, a, b) => value('bool', `${a} == ${b}`),
    less: (_, a, b) => value('bool', `${a} < ${b}`),
    lessOrEqual: (_, a, b) => value('bool', `${a} <= ${b}`),
    select: (type, condition, a, b) => value(type, `${condition} ? ${a} : ${b}`),
    rarely: (type, condition, common, special) => {
      const name = `t${lines.length}`;
      lines.push(`${TYPES[type]} ${name} = ${common};`, `if (${condition}) {`);
      lines.push(`${name} = ${special()};`, '}');
      return name;
    },
    toFloat: (_, a) => value('f32', `(float)${a}`),
    toInteger: (to, a) => value(to, `(${TYPES[to]})${a}`),
    bitcast: (from, to, a) => value(to, to === 'f32' ? `of_bits(${bits(from, a)})` : `(${TYPES[to]})${bits(from, a)}`),
    opaque: (a) => value('f32', `of_bits(to_bits(${a}) ^ zero)`),
  };
}
