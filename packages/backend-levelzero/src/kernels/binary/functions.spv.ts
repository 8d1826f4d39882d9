import type { BinaryOp } from '@concord/backend-core';
import type { ElementFunction } from '../elementwise.spv.ts';
import { larger, smaller } from '../functions/order.ts';
import { pow } from '../functions/pow.spv.ts';

/**
 * What each binary op does to one pair of elements. OpenCL promises 2.5 ulp of a quotient, where the contract asks for
 * 3.
 */
export const BINARY_FUNCTIONS: Readonly<Record<BinaryOp, ElementFunction>> = {
  add: (k, a, b) => k.add(a, b),
  sub: (k, a, b) => k.sub(a, b),
  mul: (k, a, b) => k.mul(a, b),
  div: (k, a, b) => k.div(a, b),
  max: larger,
  min: smaller,
  pow,
};
