// The names of the Khronos OpenCL.std grammar 1.0 revision 2; tools/test/spirv-tables.test.mjs compares the numbers.
// The tables below come from a file with this notice:
//
// Copyright (c) 2014-2016 The Khronos Group Inc.
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and/or associated documentation files (the "Materials"),
// to deal in the Materials without restriction, including without limitation
// the rights to use, copy, modify, merge, publish, distribute, sublicense,
// and/or sell copies of the Materials, and to permit persons to whom the
// Materials are furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in
// all copies or substantial portions of the Materials.
//
// MODIFICATIONS TO THIS FILE MAY MEAN IT NO LONGER ACCURATELY REFLECTS KHRONOS
// STANDARDS. THE UNMODIFIED, NORMATIVE VERSIONS OF KHRONOS SPECIFICATIONS AND
// HEADER INFORMATION ARE LOCATED AT https://www.khronos.org/registry/
//
// THE MATERIALS ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS
// OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL
// THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING
// FROM,OUT OF OR IN CONNECTION WITH THE MATERIALS OR THE USE OR OTHER DEALINGS
// IN THE MATERIALS.

// Instructions are numbered in their order, but for two gaps.

/** The names of the instructions of the set "OpenCL.std" in runs without a gap, each after the number of its first. */
const RUNS = [
  [
    0,
    [
      'acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc',
      'erf exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma lgamma_r',
      'log log2 log10 log1p logb mad maxmag minmag modf nan nextafter pow pown powr remainder remquo rint rootn',
      'round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc half_cos half_divide half_exp half_exp2',
      'half_exp10 half_log half_log2 half_log10 half_powr half_recip half_rsqrt half_sin half_sqrt half_tan',
      'native_cos native_divide native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_powr',
      'native_recip native_rsqrt native_sin native_sqrt native_tan fclamp degrees fmax_common fmin_common mix',
      'radians step smoothstep sign cross distance length normalize fast_distance fast_length fast_normalize',
    ],
  ],
  [
    141,
    [
      's_abs s_abs_diff s_add_sat u_add_sat s_hadd u_hadd s_rhadd u_rhadd s_clamp u_clamp clz ctz s_mad_hi',
      'u_mad_sat s_mad_sat s_max u_max s_min u_min s_mul_hi rotate s_sub_sat u_sub_sat u_upsample s_upsample',
      'popcount s_mad24 u_mad24 s_mul24 u_mul24 vloadn vstoren vload_half vload_halfn vstore_half vstore_half_r',
      'vstore_halfn vstore_halfn_r vloada_halfn vstorea_halfn vstorea_halfn_r shuffle shuffle2 printf prefetch',
      'bitselect select',
    ],
  ],
  [201, ['u_abs u_abs_diff u_mul_hi u_mad_hi']],
] as const;

type NamesIn<Text extends string> = Text extends `${infer Name} ${infer Rest}` ? Name | NamesIn<Rest> : Text;

/** Numbers of the instructions. */
export const OpenCl: Readonly<Record<NamesIn<(typeof RUNS)[number][1][number]>, number>> = Object.fromEntries(
  RUNS.flatMap(([first, lines]) => lines.flatMap((line) => line.split(' ')).map((name, index) => [name, first + index])),
) as never;
