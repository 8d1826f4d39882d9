import type { BinaryOp } from '@concord/backend-core';
import type { ElementFunction } from '../elementwise.wgsl.ts';
import { divide } from '../wgsl/divide.wgsl.ts';
import { exp } from '../wgsl/exp.wgsl.ts';
import { floatBits } from '../wgsl/float-bits.wgsl.ts';
import { ln2 } from '../wgsl/ln2.wgsl.ts';
import { log } from '../wgsl/log.wgsl.ts';
import { order } from '../wgsl/order.wgsl.ts';
import { pow } from '../wgsl/pow.wgsl.ts';

const arithmetic = (operator: '+' | '-' | '*'): ElementFunction => ({
  uses: [],
  result: `bitcast<u32>(bitcast<f32>(a) ${operator} bitcast<f32>(b))`,
});

/**
 * What each binary op does to one pair of elements: from the bits of `a` and `b` to the bits of the result. Method and
 * error of the hard ones are described in their files.
 */
export const BINARY_FUNCTIONS: Readonly<Record<BinaryOp, ElementFunction>> = {
  add: arithmetic('+'),
  sub: arithmetic('-'),
  mul: arithmetic('*'),
  div: { uses: [floatBits, divide], result: 'divide_bits(a, b)' },
  max: { uses: [floatBits, order], result: 'max_bits(a, b)' },
  min: { uses: [floatBits, order], result: 'min_bits(a, b)' },
  pow: { uses: [floatBits, ln2, exp, log, pow], result: 'pow_bits(a, b)', isHeavy: true },
};
