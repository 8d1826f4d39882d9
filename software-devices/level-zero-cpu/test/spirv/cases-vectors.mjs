// @ts-check
// Vectors of all lengths, composites, and OpenCL.std.
import { item } from './item.mjs';

const count = (/** @type {number} */ length) => Array.from({ length }, (_, at) => at - 3);
const math = (/** @type {string} */ name, /** @type {string} */ more = '') =>
  `%y = OpExtInst %f32 %opencl ${name} %x ${more}`;
const around = [0.25, 0.5, 1, 2, 3.5];
const both = [-2.5, -0.375, 0, 0.5, 1.5, 2.5];

const erf = (/** @type {number} */ x) => {
  // The series converges for the small arguments used here.
  let sum = 0;
  for (let n = 0, term = x; n < 60; n++, term *= (-x * x) / n) sum += term / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * sum;
};
const roundEven = (/** @type {number} */ x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x)) + 0;

const lengths = [2, 3, 4, 8, 16].map((lanes) =>
  item(
    `f32 vector of ${lanes}`,
    `v${lanes}f32`,
    `v${lanes}f32`,
    `%y = OpFMul %v${lanes}f32 %x %x`,
    count(lanes * 2),
    (x) => x * x,
  ),
);

/** @type {[string, string, (x: number) => number, number[]][]} */
const functions = [
  ['exp', '', Math.exp, both],
  ['exp2', '', (x) => 2 ** x, both],
  ['log', '', Math.log, around],
  ['log2', '', Math.log2, around],
  ['log1p', '', Math.log1p, around],
  ['expm1', '', Math.expm1, both],
  ['pow', '#f32:2.5', (x) => x ** 2.5, around],
  ['erf', '', erf, [-1.5, -0.5, 0, 0.5, 1.5]],
  ['erfc', '', (x) => 1 - erf(x), [-1.5, -0.5, 0, 0.5, 1.5]],
  ['tanh', '', Math.tanh, both],
  ['sin', '', Math.sin, both],
  ['cos', '', Math.cos, both],
  ['tan', '', Math.tan, both],
  ['atan2', '#f32:2', (x) => Math.atan2(x, 2), both],
  ['sqrt', '', Math.sqrt, around],
  ['rsqrt', '', (x) => 1 / Math.sqrt(x), around],
  ['native_exp', '', Math.exp, both],
  ['cbrt', '', Math.cbrt, around],
];
/** @type {[string, string, (x: number) => number, number[]][]} */
const exact = [
  ['fabs', '', Math.abs, both],
  ['floor', '', Math.floor, both],
  ['ceil', '', (x) => Math.ceil(x) + 0, both],
  ['trunc', '', (x) => Math.trunc(x) + 0, both],
  ['round', '', (x) => Math.sign(x) * Math.round(Math.abs(x)) + 0, both],
  ['rint', '', roundEven, both],
  ['fmin', '#f32:0.25', (x) => Math.min(x, 0.25), both],
  ['fmax', '#f32:0.25', (x) => Math.max(x, 0.25), both],
  ['fma', '#f32:2 #f32:1', (x) => x * 2 + 1, both],
  ['mad', '#f32:2 #f32:1', (x) => x * 2 + 1, both],
  ['fclamp', '#f32:-1 #f32:1', (x) => Math.min(Math.max(x, -1), 1), both],
  ['mix', '#f32:4 #f32:0.5', (x) => x + (4 - x) * 0.5, both],
  ['step', '#f32:1', (x) => (1 < x ? 0 : 1), both],
  ['sign', '', Math.sign, both],
  ['copysign', '#f32:-1', (x) => -Math.abs(x), both],
];

export const vectors = [
  ...[2, 4, 16].flatMap((lanes) => {
    const values = count(lanes * 2).map((x) => x / 4);
    const [halves, floats] = [`v${lanes}f16`, `v${lanes}f32`];
    return [
      item(
        `halves of a vector of ${lanes} to floats`,
        halves,
        floats,
        `%y = OpFConvert %${floats} %x`,
        values,
        (x) => x,
      ),
      item(
        `floats of a vector of ${lanes} to halves`,
        floats,
        halves,
        `%y = OpFConvert %${halves} %x`,
        values,
        (x) => x,
      ),
    ];
  }),
  ...lengths,
  item('i8 vector of 16', 'v16i8', 'v16i8', '%y = OpIAdd %v16i8 %x %x', count(16), (x) => 2 * x),
  item('f64 vector of 4', 'v4f64', 'v4f64', '%y = OpFAdd %v4f64 %x %x', count(4), (x) => 2 * x),
  item('i64 vector of 2', 'v2i64', 'v2i64', '%y = OpIAdd %v2i64 %x %x', [1n, -2n], [2n, -4n]),
  item('f16 vector of 8', 'v8f16', 'v8f16', '%y = OpFAdd %v8f16 %x %x', count(8), (x) => 2 * x),
  item('vector shuffle', 'v4i32', 'v4i32', '%y = OpVectorShuffle %v4i32 %x %x 3 2 5 0', [1, 2, 3, 4], [4, 3, 2, 1]),
  item(
    'vector shuffle to a shorter one',
    'v4i32',
    'v2i32',
    '%y = OpVectorShuffle %v2i32 %x %x 3 0',
    [1, 2, 3, 4],
    [4, 1],
  ),
  item('composite extract', 'v4i32', 'i32', '%y = OpCompositeExtract %i32 %x 2', [1, 2, 3, 4], [3]),
  item('composite insert', 'v4i32', 'v4i32', '%y = OpCompositeInsert %v4i32 #i32:9 %x 1', [1, 2, 3, 4], [1, 9, 3, 4]),
  item(
    'composite construct',
    'i32',
    'v4i32',
    '%y = OpCompositeConstruct %v4i32 %x #i32:1 #i32:2 %x',
    [7],
    [7, 1, 2, 7],
  ),
  item(
    'composite construct of vectors',
    'v2i32',
    'v4i32',
    '%y = OpCompositeConstruct %v4i32 %x %x',
    [7, 8],
    [7, 8, 7, 8],
  ),
  item(
    'extract at a computed place',
    'v4i32',
    'i32',
    '%i = OpCompositeExtract %i32 %x 0\n%y = OpVectorExtractDynamic %i32 %x %i',
    [2, 5, 6, 7],
    [6],
  ),
  item(
    'insert at a computed place',
    'v4i32',
    'v4i32',
    '%i = OpCompositeExtract %i32 %x 0\n%y = OpVectorInsertDynamic %v4i32 %x #i32:99 %i',
    [2, 5, 6, 7],
    [2, 5, 99, 7],
  ),
  item('constant vector', 'v2f32', 'v2f32', '%y = OpFAdd %v2f32 %x %pair', [1, 2], [11, 22], {
    declare: '%pair = OpConstantComposite %v2f32 #f32:10 #f32:20',
  }),
  item('null vector', 'v4f32', 'v4f32', '%y = OpFAdd %v4f32 %x %nothing', [1, 2, 3, 4], [1, 2, 3, 4], {
    declare: '%nothing = OpConstantNull %v4f32',
  }),
  item(
    'vector times scalar',
    'v4f32',
    'v4f32',
    '%y = OpVectorTimesScalar %v4f32 %x #f32:3',
    [1, 2, 3, 4],
    [3, 6, 9, 12],
  ),
  item('dot product', 'v4f32', 'f32', '%y = OpDot %f32 %x %x', [1, 2, 3, 4], [30]),
  item(
    'vector comparison and select',
    'v4i32',
    'v4i32',
    '%c = OpSGreaterThan %v4bool %x %limit\n%y = OpSelect %v4i32 %c %limit %x',
    [1, 2, 3, 4],
    [1, 2, 2, 2],
    { declare: '%limit = OpConstantComposite %v4i32 #i32:2 #i32:2 #i32:2 #i32:2' },
  ),
  item(
    'any and all',
    'v2i32',
    'i32',
    '%c = OpINotEqual %v2bool %x %zeros\n%any = OpAny %bool %c\n%all = OpAll %bool %c\n%a = OpSelect %i32 %any #i32:1 #i32:0\n%b = OpSelect %i32 %all #i32:2 #i32:0\n%y = OpIAdd %i32 %a %b',
    [0, 0, 1, 0, 1, 1],
    [0, 1, 3],
    { declare: '%zeros = OpConstantNull %v2i32' },
  ),
  ...functions.map(([name, more, expected, given]) =>
    item(`OpenCL.std ${name}`, 'f32', 'f32', math(name, more), given, expected, { tolerance: 2e-6 }),
  ),
  ...exact.map(([name, more, expected, given]) =>
    item(`OpenCL.std ${name}`, 'f32', 'f32', math(name, more), given, (x) => Math.fround(expected(x))),
  ),
  item(
    'OpenCL.std exp of a vector',
    'v4f32',
    'v4f32',
    '%y = OpExtInst %v4f32 %opencl exp %x',
    [0, 1, -1, 2],
    Math.exp,
    { tolerance: 1e-6 },
  ),
  item('OpenCL.std exp of doubles', 'f64', 'f64', '%y = OpExtInst %f64 %opencl exp %x', [0, 1, -1], Math.exp, {
    tolerance: 1e-14,
  }),
  item('OpenCL.std s_abs', 'i32', 'i32', '%y = OpExtInst %i32 %opencl s_abs %x', [-3, 4], [3, 4]),
  item(
    'OpenCL.std s_min and u_max',
    'i32',
    'i32',
    '%a = OpExtInst %i32 %opencl s_min %x #i32:2\n%y = OpExtInst %i32 %opencl u_max %a #i32:1',
    [-3, 4],
    [-3, 2],
  ),
  item(
    'OpenCL.std s_clamp',
    'i32',
    'i32',
    '%y = OpExtInst %i32 %opencl s_clamp %x #i32:-1 #i32:1',
    [-3, 0, 4],
    [-1, 0, 1],
  ),
  item(
    'OpenCL.std s_mad24 and clz',
    'i32',
    'i32',
    '%a = OpExtInst %i32 %opencl s_mad24 %x #i32:2 #i32:1\n%y = OpExtInst %i32 %opencl clz %a',
    [3],
    [29],
  ),
  item('OpenCL.std u_mul_hi', 'u32', 'u32', '%y = OpExtInst %i32 %opencl u_mul_hi %x %x', [2 ** 31], [2 ** 30]),
  item(
    'OpenCL.std rotate and popcount',
    'i32',
    'i32',
    '%a = OpExtInst %i32 %opencl rotate %x #i32:4\n%y = OpExtInst %i32 %opencl popcount %a',
    [-16],
    [28],
  ),
  item('OpenCL.std length', 'v2f32', 'f32', '%y = OpExtInst %f32 %opencl length %x', [3, 4], [5], { tolerance: 1e-6 }),
];
