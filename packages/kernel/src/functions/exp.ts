import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, bitsOfFloat, Terms } from './terms.ts';

/** Above it e^x is infinite: log of the largest float32. */
const LARGEST = 88.7228317;
/** From here down e^x rounds to 0, also where subnormal numbers are kept. */
const LEAST = -103.9721;
/** Up to this size of x e^x is a normal number. */
const ORDINARY = bitsOfFloat(87);

/**
 * The exponential: the device's own where its value is normal; 0, infinity and NaN by bits. Grant: 3 + 2|x| ulp, the
 * device's. e^-Infinity is exactly 0, on which a masked softmax relies.
 */
export function exp<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const value = a.exp(x);
  const isSpecial = k.above(k.magnitude(k.bits(x)), ORDINARY);
  return a.rarely('f32', isSpecial, value, () => {
    const limited = k.choose(k.less(k.f(LARGEST), x), k.u(BITS.infinity), k.bits(value));
    const result = k.choose(k.less(x, k.f(LEAST)), k.u(0), limited);
    return k.nanFrom(k.bits(x), result);
  });
}
