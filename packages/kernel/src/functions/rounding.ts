import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { Terms } from './terms.ts';

/** 2^23: from here on a float32 is an integer, or an infinity or NaN. */
const INTEGERS = 0x4b00_0000;

/** `floor`, `ceil`, `trunc`, or `roundEven` (ties to even) of a float32; integers, infinities and NaN stay as they are. */
export function rounded<V>(a: Arithmetic<V>, way: 'floor' | 'ceil' | 'trunc' | 'roundEven', x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const isItself = k.atLeastBits(k.magnitude(bits), INTEGERS);
  return k.float(k.choose(isItself, bits, k.bits(a[way](x))));
}
