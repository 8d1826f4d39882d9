import type { UnaryOp } from '@concord/backend-core';
import type { ElementFunction } from '../elementwise.wgsl.ts';
import { erfc } from '../wgsl/erfc.wgsl.ts';
import { exp } from '../wgsl/exp.wgsl.ts';
import { floatBits } from '../wgsl/float-bits.wgsl.ts';
import { gelu } from '../wgsl/gelu.wgsl.ts';
import { ln2 } from '../wgsl/ln2.wgsl.ts';
import { log } from '../wgsl/log.wgsl.ts';
import { sigmoid } from '../wgsl/sigmoid.wgsl.ts';
import { silu } from '../wgsl/silu.wgsl.ts';
import { sqrt } from '../wgsl/sqrt.wgsl.ts';
import { tanh } from '../wgsl/tanh.wgsl.ts';

/**
 * What each unary op does to one element: from the bits of `x` to the bits of the result. NaN gives NaN, other special
 * values as C99 Annex F. Method and error of the hard ones are described in their files. relu, abs and neg are exact:
 * they only change bits; relu keeps everything but the numbers with a sign, of which the NaNs lie above -infinity.
 */
export const UNARY_FUNCTIONS: Readonly<Record<UnaryOp, ElementFunction>> = {
  relu: { uses: [floatBits], result: 'select(x, 0u, (x >= SIGN) & (x <= (SIGN | INFINITY)))' },
  sigmoid: { uses: [floatBits, ln2, exp, sigmoid], result: 'sigmoid_bits(x)' },
  tanh: { uses: [floatBits, ln2, exp, tanh], result: 'tanh_bits(x)' },
  exp: { uses: [floatBits, ln2, exp], result: 'exp_bits(x)' },
  log: { uses: [floatBits, ln2, log], result: 'log_bits(x)' },
  sqrt: { uses: [floatBits, sqrt], result: 'sqrt_bits(x)' },
  abs: { uses: [floatBits], result: 'x & MAGNITUDE' },
  neg: { uses: [floatBits], result: 'x ^ SIGN' },
  gelu: { uses: [floatBits, ln2, exp, erfc, gelu], result: 'gelu_bits(x)', isHeavy: true },
  silu: { uses: [floatBits, ln2, exp, silu], result: 'silu_bits(x)', isHeavy: true },
};
