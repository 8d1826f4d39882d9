import type { FunctionBuilder, Value } from '../../src/index.ts';
import { type Feature, feature } from './feature.ts';

type Binary = (k: FunctionBuilder, a: Value, b: Value) => Value;
type Row = readonly [a: number, b: number, result: number];

const unsigned = (numbers: readonly number[]): number[] => numbers.map((number) => number >>> 0);

/** An operation on pairs in memory, whose results take the places of the first of each. */
function onPairs(name: string, write: Binary, rows: readonly Row[]): Feature {
  const before = unsigned(rows.flatMap(([a, b]) => [a, b]));
  const after = unsigned(rows.flatMap(([, b, result]) => [result, b]));
  return feature(`32-bit integers: ${name}`, before, after, (k, data) => {
    rows.forEach((_, index) => {
      const first = k.at(data, 2 * index);
      k.store(first, write(k, k.load(first), k.load(k.at(data, 2 * index + 1))));
    });
  });
}

/** Operations by name, and rows of two operands and the result. */
const operations: Readonly<Record<string, readonly [Binary, ...string[]]>> = {
  'unsigned quotient': [(k, a, b) => k.udiv(a, b), '100, 7, 14', '0xffff_ffff, 2, 0x7fff_ffff', '7, 0xffff_ffff, 0'],
  'unsigned remainder': [(k, a, b) => k.umod(a, b), '100, 7, 2', '0xffff_ffff, 10, 5', '7, 0xffff_ffff, 7'],
  'signed quotient, towards zero': [
    (k, a, b) => k.sdiv(a, b),
    '-7, 2, -3',
    '7, -2, -3',
    '-8, -3, 2',
    '0x8000_0000, 1, 0x8000_0000',
  ],
  'signed remainder, with the sign of the dividend': [
    (k, a, b) => k.srem(a, b),
    '-7, 2, -1',
    '7, -2, 1',
    '-8, -3, -2',
    '0x8000_0000, 3, -2',
  ],
  'shift left': [(k, a, b) => k.shl(a, b), '1, 31, 0x8000_0000', '0xffff_ffff, 4, 0xffff_fff0', '5, 0, 5'],
  'logical shift right': [(k, a, b) => k.lshr(a, b), '0x8000_0000, 31, 1', '0xffff_fff0, 4, 0x0fff_ffff', '5, 0, 5'],
  'arithmetic shift right': [
    (k, a, b) => k.ashr(a, b),
    '0x8000_0000, 31, -1',
    '0x7fff_fff0, 4, 0x07ff_ffff',
    '-5, 0, -5',
  ],
  'bits of both': [(k, a, b) => k.and(a, b), '0xff00_ff00, 0x0ff0_0ff0, 0x0f00_0f00'],
  'bits of either': [(k, a, b) => k.or(a, b), '0xff00_ff00, 0x0ff0_0ff0, 0xfff0_fff0'],
  'bits of one': [(k, a, b) => k.xor(a, b), '0xff00_ff00, 0x0ff0_0ff0, 0xf0f0_f0f0'],
  'other bits, and negation': [(k, a, b) => k.add(k.not(a), k.neg(b)), '0xff00_ff00, 1, 0x00ff_00fe'],
  'unsigned minimum': [
    (k, a, b) => k.math('u_min', a, b),
    '1, 0xffff_ffff, 1',
    '0x8000_0000, 0x7fff_ffff, 0x7fff_ffff',
  ],
  'unsigned maximum': [
    (k, a, b) => k.math('u_max', a, b),
    '1, 0xffff_ffff, 0xffff_ffff',
    '0x8000_0000, 0x7fff_ffff, 0x8000_0000',
  ],
  'signed minimum': [(k, a, b) => k.math('s_min', a, b), '1, -1, -1', '0x8000_0000, 0x7fff_ffff, 0x8000_0000'],
  'signed maximum': [(k, a, b) => k.math('s_max', a, b), '1, -1, 1', '0x8000_0000, 0x7fff_ffff, 0x7fff_ffff'],
  'high half of an unsigned product': [
    (k, a, b) => k.math('u_mul_hi', a, b),
    '0xffff_ffff, 0xffff_ffff, 0xffff_fffe',
    '0x8000_0000, 2, 1',
    '0xffff, 0xffff, 0',
  ],
  'high half of a signed product': [
    (k, a, b) => k.math('s_mul_hi', a, b),
    '-1, 2, -1',
    '0x8000_0000, 0x8000_0000, 0x4000_0000',
    '0x7fff, 0x7fff, 0',
  ],
  'product modulo 2^32': [(k, a, b) => k.mul(a, b), '0xffff_ffff, 0xffff_ffff, 1'],
};

const rowOf = (text: string): Row => text.replaceAll('_', '').split(', ').map(Number) as unknown as Row;

const PAIRS = [
  [1, 0xffff_ffff],
  [0xffff_ffff, 1],
  [5, 5],
  [0x8000_0000, 0x7fff_ffff],
] as const;

const COMPARISONS = {
  eq: (a: number, b: number) => a === b,
  ne: (a: number, b: number) => a !== b,
  ult: (a: number, b: number) => a < b,
  ule: (a: number, b: number) => a <= b,
  ugt: (a: number, b: number) => a > b,
  uge: (a: number, b: number) => a >= b,
  slt: (a: number, b: number) => (a | 0) < (b | 0),
  sle: (a: number, b: number) => (a | 0) <= (b | 0),
  sgt: (a: number, b: number) => (a | 0) > (b | 0),
  sge: (a: number, b: number) => (a | 0) >= (b | 0),
};

/** Arithmetic, bits and comparisons of 32-bit integers, at the ends of both signs' ranges. */
export const INTEGERS: readonly Feature[] = [
  ...Object.entries(operations).map(([name, [write, ...rows]]) => onPairs(name, write, rows.map(rowOf))),
  ...Object.entries(COMPARISONS).map(([name, holds]) =>
    onPairs(
      name,
      (k, a, b) => k.select(k[name as keyof typeof COMPARISONS](a, b), k.constant(a.type, 1), 0),
      PAIRS.map(([a, b]) => [a, b, holds(a, b) ? 1 : 0]),
    ),
  ),
  feature(
    '32-bit integers: vectors, signed minimum by choice and by function',
    unsigned([1, -2, 3, -4, -1, 2, -3, 4]),
    unsigned([-1, -2, -3, -4, -1, -2, -3, -4]),
    (k, data) => {
      const [a, b] = [k.loadVector(data, 4), k.loadVector(k.at(data, 4), 4)];
      k.storeVector(data, k.select(k.slt(a, b), a, b));
      k.storeVector(k.at(data, 4), k.math('s_min', a, b));
    },
  ),
];
