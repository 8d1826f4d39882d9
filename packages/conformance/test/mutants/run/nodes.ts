import type { NodeOp } from '@concord/backend-core/kernel';
import { RIGHT } from '../../naive/naive-run.ts';
import type { Mutant } from '../mutant.ts';
import { type Bug, partMutants } from './naive-mutant.ts';

type Apply = (x: number, y: number, z: number) => number;

/** Another function for one operation on operands of one type. */
interface NodeBug {
  readonly op: NodeOp;
  readonly bug: Bug;
}

const op = (name: NodeOp, operandType: string, bug: Apply): NodeBug => ({
  op: name,
  bug: () => ({
    apply: (own, type, ownOperandType, operands) => {
      if (own !== name || ownOperandType !== operandType) return RIGHT.apply(own, type, ownOperandType, operands);
      const [x = 0, y = 0, z = 0] = operands;
      const value = bug(x, y, z);
      return type === 'f32' ? Math.fround(value) : value;
    },
  }),
});
const right = (name: NodeOp, type: string, ...operands: number[]): number => RIGHT.apply(name, type, type, operands);
const { fround } = Math;

const BUGS: Readonly<Record<string, NodeBug>> = {
  'lt is true with NaN': op('lt', 'f32', (x, y) => Number(!(x >= y))),
  'ge is true with NaN': op('ge', 'f32', (x, y) => Number(!(x < y))),
  'ne is false with NaN': op('ne', 'f32', (x, y) => Number(x > y !== y > x)),
  'eq by bits': op('eq', 'f32', (x, y) => Number(Object.is(x, y))),
  'lt of unsigned numbers compares signed': op('lt', 'u32', (x, y) => Number((x | 0) < (y | 0))),
  'min gives the number beside a NaN': op('min', 'f32', (x, y) => (x < y || Number.isNaN(y) ? x : y)),
  'max gives the number beside a NaN': op('max', 'f32', (x, y) => (x > y || Number.isNaN(y) ? x : y)),
  'x - x is 0': op('sub', 'f32', (x, y) => (Object.is(x, y) ? 0 : x - y)),
  '0 times anything is 0': op('mul', 'f32', (x, y) => (x === 0 || y === 0 ? 0 : x * y)),
  'the sign of NaN is 0': op('sign', 'f32', (x) => (Number.isNaN(x) ? 0 : Math.sign(x))),
  'ties rounded away from 0': op('round', 'f32', (x) => Math.sign(x) * Math.floor(Math.abs(x) + 0.5)),
  'round by adding 2^23': op('round', 'f32', (x) => fround(fround(x + 8_388_608) - 8_388_608)),
  'floor as trunc': op('floor', 'f32', Math.trunc),
  'floor through an integer': op('floor', 'f32', (x) => Math.floor(x) | 0),
  'infinity is finite': op('isFinite', 'f32', (x) => Number(!Number.isNaN(x))),
  'NaN is never': op('isNan', 'f32', () => 0),
  'integers divided by 0 give -1': op('div', 'i32', (x, y) => (y === 0 ? -1 : right('div', 'i32', x, y))),
  'the least integer by -1 saturates': op('div', 'i32', (x, y) =>
    x === -(2 ** 31) && y === -1 ? 2 ** 31 - 1 : right('div', 'i32', x, y),
  ),
  'integers divided downwards': op('div', 'i32', (x, y) => (y === 0 ? 0 : Math.floor(x / y) | 0)),
  'integers divided in float32': op('div', 'u32', (x, y) =>
    y === 0 ? 0 : Math.min(Math.trunc(fround(fround(x) / fround(y))), 2 ** 32 - 1),
  ),
  'the remainder has the sign of the divisor': op('rem', 'i32', (x, y) => (y === 0 ? 0 : (((x % y) + y) % y) | 0)),
  'the remainder by 0 is the dividend': op('rem', 'u32', (x, y) => (y === 0 ? x : x % y)),
  'shifts by 32 give 0': op('shl', 'u32', (x, y) => (y > 31 ? 0 : (x << y) >>> 0)),
  'shr of a negative number without its sign': op('shr', 'i32', (x, y) => (x >>> (y & 31)) | 0),
  'integers multiplied in float64': op('mul', 'u32', (x, y) => (x * y) % 2 ** 32),
  'the magnitude of the least integer saturates': op('abs', 'i32', (x) => Math.min(Math.abs(x), 2 ** 31 - 1)),
  'toI32 of NaN is the least integer': op('toI32', 'f32', (x) =>
    Number.isNaN(x) ? -(2 ** 31) : right('toI32', 'f32', x),
  ),
  'toI32 saturates at the greatest float32 below': op('toI32', 'f32', (x) =>
    Math.min(right('toI32', 'f32', x), 2_147_483_520),
  ),
  'toI32 rounds': op('toI32', 'f32', (x) => right('toI32', 'f32', right('round', 'f32', x))),
  'toU32 of negative numbers wraps': op('toU32', 'f32', (x) =>
    x < 0 && x > -(2 ** 31) ? x >>> 0 : RIGHT.apply('toU32', 'u32', 'f32', [x]),
  ),
  'toF32 of unsigned numbers through signed': op('toF32', 'u32', (x) => x | 0),
  'toF32 truncates': op('toF32', 'i32', (x) => (Math.abs(fround(x)) > Math.abs(x) ? x - Math.sign(x) * 64 : x)),
  'log1p by log': op('log1p', 'f32', (x) => Math.log(fround(1 + x))),
  'expm1 by exp': op('expm1', 'f32', (x) => fround(Math.exp(x)) - 1),
  'rsqrt by an approximation': op('rsqrt', 'f32', (x) => (1 / Math.sqrt(x)) * (1 + 2 ** -20)),
  'sine with pi in float32': op('sin', 'f32', (x) =>
    Math.sin(x - Math.round(x / fround(Math.PI * 2)) * (fround(Math.PI * 2) - Math.PI * 2)),
  ),
  'exp2 of a rounded part': op('exp2', 'f32', (x) => Math.exp(fround(x * fround(Math.LN2)))),
  'log2 by log': op('log2', 'f32', (x) => fround(fround(Math.log(x)) * fround(1 / Math.LN2)) + (x > 1 ? 2 ** -20 : 0)),
  'geluTanh for gelu': op('gelu', 'f32', (x) => right('geluTanh', 'f32', x)),
  'gelu for geluTanh': op('geluTanh', 'f32', (x) => right('gelu', 'f32', x)),
  'erf by a float32 polynomial': op('erf', 'f32', (x) => (Math.abs(x) < 0.01 ? x * 1.128 : right('erf', 'f32', x))),
  'the stream of random numbers ignored': op('random', 'u32', (seed, index) => right('random', 'u32', seed, index, 0)),
  'the block of random numbers repeated': op('random', 'u32', (seed, index, stream) =>
    right('random', 'u32', seed, index & 3, stream),
  ),
  'the words of a block of random numbers turned': op('random', 'u32', (seed, index, stream) =>
    right('random', 'u32', seed, (index ^ 3) >>> 0, stream),
  ),
  'select by the wrong operand': op('select', 'u32', (condition, a, b) => (condition === 1 ? b : a)),
};

/** Bugs of single operations: a case of that operation must find it. */
export const runNodeMutants: readonly Mutant[] = Object.entries(BUGS).flatMap(([name, { op: own, bug }]) =>
  partMutants({ [name]: bug }, new RegExp(`^run/(node|constant)/kernel=${own},`)),
);
