// @ts-check
// Arithmetic, bits, comparisons and conversions of all widths.
import { item } from './item.mjs';

const some = [1, 2, -3, 100, -128];
const wide = [1n, 2n, -3n, 1n << 40n, -(1n << 60n)];
const floats = [0, 1.5, -2.25, 1e6, -0.125];
const truth = (/** @type {string} */ comparison) => `%truth = ${comparison}\n%y = OpSelect %i32 %truth #i32:1 #i32:0`;

const integers = [8, 16, 32].flatMap((bits) => {
  const wrap = (/** @type {number} */ value) => Number(BigInt.asIntN(bits, BigInt(value)));
  const type = `i${bits}`;
  return [
    item(`${type} add wraps`, type, type, `%y = OpIAdd %${type} %x #${type}:100`, some, (x) => wrap(x + 100)),
    item(`${type} multiply wraps`, type, type, `%y = OpIMul %${type} %x %x`, some, (x) => wrap(x * x)),
    item(`${type} subtract`, type, type, `%y = OpISub %${type} #${type}:7 %x`, some, (x) => wrap(7 - x)),
    item(`${type} signed divide`, type, type, `%y = OpSDiv %${type} %x #${type}:-3`, some, (x) => Math.trunc(x / -3)),
    item(`${type} signed remainder`, type, type, `%y = OpSRem %${type} %x #${type}:3`, some, (x) => (x % 3) + 0),
    item(
      `${type} shift right arithmetic`,
      type,
      type,
      `%y = OpShiftRightArithmetic %${type} %x #${type}:1`,
      some,
      (x) => x >> 1,
    ),
  ];
});

export const numbers = [
  ...integers,
  item('i64 add', 'i64', 'i64', '%y = OpIAdd %i64 %x #i64:5', wide, (x) => x + 5n),
  item('i64 multiply', 'i64', 'i64', '%y = OpIMul %i64 %x #i64:3', wide, (x) => x * 3n),
  item('i64 signed divide', 'i64', 'i64', '%y = OpSDiv %i64 %x #i64:7', wide, (x) => x / 7n),
  item('u64 divide', 'u64', 'u64', '%y = OpUDiv %i64 %x #i64:7', [(1n << 63n) + 5n, 6n], (x) => x / 7n),
  item('u32 divide', 'u32', 'u32', '%y = OpUDiv %i32 %x #i32:7', [4_000_000_000, 6], (x) => Math.floor(x / 7)),
  item('u32 modulo', 'u32', 'u32', '%y = OpUMod %i32 %x #i32:7', [4_000_000_000, 6], (x) => x % 7),
  item("i32 modulo has the divisor's sign", 'i32', 'i32', '%y = OpSMod %i32 %x #i32:3', [-7, 7, -1], [2, 1, 2]),
  item('i32 negate', 'i32', 'i32', '%y = OpSNegate %i32 %x', some, (x) => -x),
  item(
    'divide by zero does not end the process',
    'i32',
    'i32',
    '%zero = OpIEqual %bool %x #i32:0\n%d = OpSDiv %i32 #i32:8 %x\n%y = OpSelect %i32 %zero #i32:-1 %d',
    [3, 0, 2],
    [2, -1, 4],
  ),
  item(
    'and or xor not',
    'i32',
    'i32',
    '%a = OpBitwiseAnd %i32 %x #i32:12\n%b = OpBitwiseOr %i32 %a #i32:3\n%c = OpBitwiseXor %i32 %b #i32:5\n%y = OpNot %i32 %c',
    [0, 5, 255],
    (x) => ~(((x & 12) | 3) ^ 5),
  ),
  item('shift left', 'i32', 'i32', '%y = OpShiftLeftLogical %i32 %x #i32:4', some, (x) => x << 4),
  item(
    'shift right logical',
    'u32',
    'u32',
    '%y = OpShiftRightLogical %i32 %x #i32:4',
    [0xf0000000, 16],
    (x) => x >>> 4,
  ),
  item('bit count', 'i32', 'i32', '%y = OpBitCount %i32 %x', [0, 1, -1, 255], [0, 1, 32, 8]),
  item('signed comparisons', 'i32', 'i32', truth('OpSLessThan %bool %x #i32:2'), some, (x) => Number(x < 2)),
  item('signed greater or equal', 'i32', 'i32', truth('OpSGreaterThanEqual %bool %x #i32:2'), some, (x) =>
    Number(x >= 2),
  ),
  item('unsigned comparisons', 'i32', 'i32', truth('OpUGreaterThan %bool %x #i32:2'), some, (x) => Number(x >>> 0 > 2)),
  item('integer equal', 'i32', 'i32', truth('OpIEqual %bool %x #i32:2'), some, (x) => Number(x === 2)),
  item('integer not equal', 'i32', 'i32', truth('OpINotEqual %bool %x #i32:2'), some, (x) => Number(x !== 2)),
  item(
    'logical operators',
    'i32',
    'i32',
    '%a = OpSGreaterThan %bool %x #i32:0\n%b = OpSLessThan %bool %x #i32:50\n%c = OpLogicalAnd %bool %a %b\n%d = OpLogicalNot %bool %c\n%e = OpLogicalOr %bool %d %c\n%f = OpLogicalEqual %bool %c %e\n%g = OpLogicalNotEqual %bool %f %d\n%y = OpSelect %i32 %g #i32:1 #i32:0',
    some,
    (x) => {
      const c = x > 0 && x < 50;
      return Number((c === true) !== !c);
    },
  ),
  item(
    'f32 arithmetic',
    'f32',
    'f32',
    '%a = OpFAdd %f32 %x #f32:0.5\n%b = OpFMul %f32 %a #f32:2\n%c = OpFSub %f32 %b %x\n%y = OpFDiv %f32 %c #f32:4',
    floats,
    (x) => Math.fround((2 * (x + 0.5) - x) / 4),
  ),
  item('f32 negate', 'f32', 'f32', '%y = OpFNegate %f32 %x', floats, (x) => -x),
  item('f32 remainder', 'f32', 'f32', '%y = OpFRem %f32 %x #f32:2', [5.5, -5.5], [1.5, -1.5]),
  item(
    'f64 arithmetic',
    'f64',
    'f64',
    '%a = OpFMul %f64 %x %x\n%y = OpFDiv %f64 %a #f64:3',
    [1.1, -2.5],
    (x) => (x * x) / 3,
  ),
  item('f16 add', 'f16', 'f16', '%y = OpFAdd %f16 %x #f16:0.5', [1, -2.5, 1000], (x) => x + 0.5),
  item(
    'f16 subtract and multiply',
    'f16',
    'f16',
    '%a = OpFMul %f16 %x #f16:2\n%y = OpFSub %f16 %a #f16:1',
    [1, -2.5, 100],
    (x) => 2 * x - 1,
  ),
  item('f16 divide', 'f16', 'f16', '%y = OpFDiv %f16 %x #f16:4', [1, -2.5, 100], (x) => x / 4),
  item('f16 compare', 'f16', 'i32', truth('OpFOrdGreaterThan %bool %x #f16:1'), [0, 2], [0, 1]),
  item('ordered comparison with NaN', 'f32', 'i32', truth('OpFOrdLessThan %bool %x #f32:1'), [0, 2, NaN], [1, 0, 0]),
  item(
    'unordered comparison with NaN',
    'f32',
    'i32',
    truth('OpFUnordLessThan %bool %x #f32:1'),
    [0, 2, NaN],
    [1, 0, 1],
  ),
  item('is NaN', 'f32', 'i32', truth('OpIsNan %bool %x'), [0, NaN, Infinity], [0, 1, 0]),
  item('is infinite', 'f32', 'i32', truth('OpIsInf %bool %x'), [0, NaN, -Infinity], [0, 0, 1]),
  item('sign extension', 'i8', 'i64', '%y = OpSConvert %i64 %x', [-1, 127], [-1n, 127n]),
  item('zero extension', 'u8', 'u32', '%y = OpUConvert %i32 %x', [255, 1], [255, 1]),
  item('truncation', 'i32', 'i8', '%y = OpUConvert %i8 %x', [257, -1], [1, -1]),
  item('float to signed', 'f32', 'i32', '%y = OpConvertFToS %i32 %x', floats, (x) => Math.trunc(x)),
  item('float to unsigned', 'f32', 'u32', '%y = OpConvertFToU %i32 %x', [3e9, 0.5], [3e9, 0]),
  item('signed to float', 'i32', 'f32', '%y = OpConvertSToF %f32 %x', some, (x) => x),
  item('unsigned to float', 'u32', 'f32', '%y = OpConvertUToF %f32 %x', [2 ** 31, 7], (x) => x),
  item('i64 to f64', 'i64', 'f64', '%y = OpConvertSToF %f64 %x', wide, (x) => Number(x)),
  item('f32 to f64', 'f32', 'f64', '%y = OpFConvert %f64 %x', floats, (x) => x),
  item('f64 to f32', 'f64', 'f32', '%y = OpFConvert %f32 %x', [0.1, 1e300], [Math.fround(0.1), Infinity]),
  item('f16 to f32', 'f16', 'f32', '%y = OpFConvert %f32 %x', [0.5, 65504, 6e-8], [0.5, 65504, 2 ** -24]),
  item('f32 to f16', 'f32', 'f16', '%y = OpFConvert %f16 %x', [0.5, 1e9, -2], [0.5, Infinity, -2]),
  item('bitcast', 'f32', 'i32', '%y = OpBitcast %i32 %x', [1, -2], [0x3f800000, 0xc0000000 | 0]),
  item('bitcast of vectors', 'v2i32', 'i64', '%y = OpBitcast %i64 %x', [1, 2], [(2n << 32n) + 1n]),
  item('select', 'i32', 'i32', '%a = OpSLessThan %bool %x #i32:0\n%y = OpSelect %i32 %a #i32:-1 #i32:1', some, (x) =>
    x < 0 ? -1 : 1,
  ),
  item(
    'undefined value is some value',
    'i32',
    'i32',
    '%u = OpUndef %i32\n%a = OpBitwiseXor %i32 %u %u\n%b = OpBitwiseAnd %i32 %a #i32:0\n%y = OpIAdd %i32 %b %x',
    some,
    (x) => x,
  ),
];
