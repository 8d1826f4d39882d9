import type { ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { Terms } from './terms.ts';

/** A comparison of a graph. */
export type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';

/** Compares two values of a type. With NaN all are false but `ne`; bools know `eq` and `ne` alone. */
export function compare<V>(a: Arithmetic<V>, op: Comparison, type: ValueType, x: V, y: V): V {
  const k = new Terms(a);
  if (op === 'ne') return k.not(compare(a, 'eq', type, x, y));
  if (op === 'gt') return compare(a, 'lt', type, y, x);
  if (op === 'ge') return compare(a, 'le', type, y, x);
  if (type === 'bool') return k.not(a.xor('bool', x, y));
  const result = op === 'eq' ? a.equal(type, x, y) : op === 'lt' ? a.less(type, x, y) : a.lessOrEqual(type, x, y);
  if (type !== 'f32') return result;
  const hasNan = k.either(k.isNan(k.bits(x)), k.isNan(k.bits(y)));
  return k.both(k.not(hasNan), result);
}
