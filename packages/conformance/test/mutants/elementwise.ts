import type { BinaryOp, UnaryOp } from '@concord/backend-core';
import { unaryFunction } from '@concord/backend-cpu/reference';
import { inBinary, inUnary } from './derived.ts';
import { mutantsOf, type Wrap, bytesBehind, floats, type Mutant } from './mutant.ts';

/** Another function instead of one unary op. */
const unaryIs = (op: UnaryOp, f: (x: number) => number): Wrap =>
  inUnary((call, run) => {
    if (call.op !== op) return run();
    floats(call.output).set(floats(call.input).map(f));
  });

/** Another function instead of one binary op. */
const binaryIs = (op: BinaryOp, f: (x: number, y: number) => number): Wrap =>
  inBinary((call, run) => {
    if (call.op !== op) return run();
    const b = floats(call.b);
    floats(call.output).set(floats(call.a).map((x, i) => f(x, b[i] as number)));
  });

const ROUND = Math.fround;
const isSubnormal = (x: number): boolean => Math.abs(x) < 2 ** -126;
const GRID = 65_535 * 256;
/** erf by a float32 polynomial: 1 + erf cancels in the left tail (Abramowitz and Stegun 7.1.26, good to 1.5e-7). */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * ROUND(1 - series * Math.exp(-x * x));
}

const UNARY: Readonly<Record<string, Wrap>> = {
  'gelu by tanh': unaryIs('gelu', (x) => 0.5 * x * (1 + Math.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))),
  'gelu by 1 + erf': unaryIs('gelu', (x) => 0.5 * x * ROUND(1 + erf(x / Math.SQRT2))),
  'gelu of -Infinity is NaN': unaryIs('gelu', (x) => (x === -Infinity ? Number.NaN : unaryFunction('gelu')(x))),
  'silu as relu': unaryIs('silu', (x) => Math.max(x, 0)),
  'silu with a hard sigmoid': unaryIs('silu', (x) => x * Math.min(Math.max(x / 6 + 0.5, 0), 1)),
  'silu of -Infinity is NaN': unaryIs('silu', (x) => x * (1 / (1 + Math.exp(-x)))),
  'sigmoid by exp(x) / (1 + exp(x))': unaryIs('sigmoid', (x) => ROUND(Math.exp(x)) / (1 + ROUND(Math.exp(x)))),
  'sigmoid by 1 - 1 / (1 + exp(x))': unaryIs('sigmoid', (x) => 1 - ROUND(1 / (1 + Math.exp(x)))),
  'exp clamped at 80': unaryIs('exp', (x) => Math.exp(Math.min(x, 80))),
  'exp below 2^-126 flushed': unaryIs('exp', (x) => (isSubnormal(Math.exp(x)) ? 0 : Math.exp(x))),
  'exp of NaN is Infinity': unaryIs('exp', (x) => (x < 88 ? Math.exp(x) : Infinity)),
  'exp by a rounded multiple of log2 e': unaryIs('exp', (x) => 2 ** (x * 1.4427)),
  'log of 0 finite': unaryIs('log', (x) => (x === 0 ? -104 : Math.log(x))),
  'log of |x|': unaryIs('log', (x) => Math.log(Math.abs(x))),
  'log of x + 1e-12': unaryIs('log', (x) => Math.log(x + 1e-12)),
  'log10 for log': unaryIs('log', Math.log10),
  'log near 1 by a float32 log2': unaryIs('log', (x) => Math.log(ROUND(ROUND(x * 3) / 3 + 1e-7))),
  'tanh saturating from 7 on': unaryIs('tanh', (x) => (Math.abs(x) > 7 ? Math.sign(x) : Math.tanh(x))),
  'tanh by exp(2x), NaN for large x': unaryIs('tanh', (x) => {
    const e = ROUND(Math.exp(2 * x));
    return (e - 1) / (e + 1);
  }),
  'tanh by 1 - 2 / (exp(2x) + 1), which cancels': unaryIs('tanh', (x) => 1 - ROUND(2 / (ROUND(Math.exp(2 * x)) + 1))),
  'sqrt of a negative number is 0': unaryIs('sqrt', (x) => (x < 0 ? 0 : Math.sqrt(x))),
  'sqrt by x rsqrt(x), NaN at 0': unaryIs('sqrt', (x) => x * (1 / Math.sqrt(x))),
  'relu of NaN is 0': unaryIs('relu', (x) => (x > 0 ? x : 0)),
  'relu clamped at 6': unaryIs('relu', (x) => Math.min(Math.max(x, 0), 6)),
  'leaky relu': unaryIs('relu', (x) => (x < 0 ? 0.01 * x : x)),
  'abs as relu': unaryIs('abs', (x) => Math.max(x, 0)),
  'neg of positive numbers only': unaryIs('neg', (x) => (x > 0 ? -x : x)),
  'subnormal inputs flushed though declared kept': unaryIs('abs', (x) => (isSubnormal(x) ? 0 : Math.abs(x))),
  'in place leaves the input': inUnary((call, run) => {
    if (call.input.byteOffset !== call.output.byteOffset || call.input.buffer !== call.output.buffer) run();
  }),
  'in place applies it twice': inUnary((call, run) => {
    run();
    if (call.input.byteOffset === call.output.byteOffset && call.input.buffer === call.output.buffer) run();
  }),
  'not in place writes the input too': inUnary((call, run) => {
    run();
    floats(call.input)[0] = floats(call.output)[0] as number;
  }),
  'elements of the 65,536th workgroup dropped': inUnary((call, run) => {
    run();
    if (call.n > GRID) floats(call.output).fill(Number.NaN, GRID, GRID + 256);
  }),
  'n rounded down to a multiple of 4': inUnary((call, run) => {
    const before = floats(call.output).slice();
    run();
    const whole = call.n - (call.n % 4);
    floats(call.output).set(before.subarray(whole), whole);
  }),
  'n rounded up to a multiple of 4': inUnary((call, run) => {
    run();
    bytesBehind(call.output).fill(0, 0, 4 * (-call.n & 3));
  }),
};

const BINARY: Readonly<Record<string, Wrap>> = {
  'max swallows NaN on the left': binaryIs('max', (x, y) => (x > y ? x : y)),
  'max swallows NaN on the right': binaryIs('max', (x, y) => (y > x ? y : x)),
  'min swallows NaN on the left': binaryIs('min', (x, y) => (x < y ? x : y)),
  'min swallows NaN on the right': binaryIs('min', (x, y) => (y < x ? y : x)),
  'sub turned around': binaryIs('sub', (x, y) => y - x),
  'div turned around': binaryIs('div', (x, y) => y / x),
  'div by a float32 reciprocal': binaryIs('div', (x, y) => x * ROUND(1 / y)),
  'div by 0 is 0': binaryIs('div', (x, y) => (y === 0 ? 0 : x / y)),
  'mul below 2^-126 flushed': binaryIs('mul', (x, y) => (isSubnormal(x * y) ? 0 : x * y)),
  'add overflow saturates': binaryIs('add', (x, y) => Math.min(Math.max(x + y, -3.4e38), 3.4e38)),
  'pow of a negative base is NaN': binaryIs('pow', (x, y) => (x < 0 ? Number.NaN : x === 1 ? 1 : x ** y)),
  'pow of a negative base loses its sign': binaryIs('pow', (x, y) => (x === 1 ? 1 : Math.abs(x) ** y)),
  'pow(1, NaN) is NaN': binaryIs('pow', (x, y) => x ** y),
  'pow(-1, Infinity) is NaN': binaryIs('pow', (x, y) => (x === 1 ? 1 : x ** y)),
  'pow(NaN, 0) is NaN': binaryIs('pow', (x, y) => (Number.isNaN(x) ? x : x === 1 ? 1 : x ** y)),
  'pow(0, 0) is NaN': binaryIs('pow', (x, y) => (x === 0 && y === 0 ? Number.NaN : x === 1 ? 1 : x ** y)),
  'pow by a float32 logarithm': binaryIs('pow', (x, y) => {
    const power = 2 ** ROUND(y * ROUND(Math.log2(Math.abs(x))));
    return x < 0 && Math.abs(y % 2) === 1 ? -power : power;
  }),
  'pow of an integer exponent only': binaryIs('pow', (x, y) => (x === 1 ? 1 : x ** Math.trunc(y))),
  'in place over b reads what it has written': inBinary((call, run) => {
    const isOverB = call.output.buffer === call.b.buffer && call.output.byteOffset === call.b.byteOffset;
    if (isOverB) floats(call.output).set(floats(call.a));
    run();
  }),
  'in place over a reads what it has written': inBinary((call, run) => {
    const isOverA = call.output.buffer === call.a.buffer && call.output.byteOffset === call.a.byteOffset;
    run();
    if (isOverA) run();
  }),
  'b taken for a scalar': inBinary((call, run) => {
    const b = floats(call.b);
    const saved = b.slice();
    b.fill(saved[0] as number);
    run();
    if (call.output.byteOffset !== call.b.byteOffset || call.output.buffer !== call.b.buffer) b.set(saved);
  }),
  'the last element lost when it is the first of a workgroup': inBinary((call, run) => {
    const last = call.n - 1;
    const before = floats(call.output)[last] as number;
    run();
    if (last > 0 && last % 64 === 0) floats(call.output)[last] = before;
  }),
  'elements from the 65,536th workgroup on dropped': inBinary((call, run) => {
    run();
    if (call.n > GRID) floats(call.output).fill(Number.NaN, GRID);
  }),
  'n rounded up to a multiple of 4': inBinary((call, run) => {
    run();
    bytesBehind(call.output).fill(0, 0, 4 * (-call.n & 3));
  }),
};

/** Bugs of unary and binary. */
export const elementwiseMutants: readonly Mutant[] = [
  ...mutantsOf('unary:', ['unary'], UNARY),
  ...mutantsOf('binary:', ['binary'], BINARY),
];
