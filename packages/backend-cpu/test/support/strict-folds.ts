import type { FoldOp, ValueType } from '@concord/backend-core/kernel';
import type { DeviceValue } from './strict-device.ts';
import { strictInteger } from './strict-integers.ts';

/** A fold in an order that chance decides; `rounded` rounds a float32. */
export function foldValues(
  op: FoldOp,
  type: ValueType,
  terms: readonly DeviceValue[],
  random: () => number,
  rounded: (exact: number) => number,
): number {
  const values = terms.map(({ value }) => value);
  switch (op) {
    case 'sum':
      if (type === 'f32') return summed(terms, random, rounded);
      return values.reduce((sum, value) => strictInteger('add', type, sum, value), 0);
    case 'mean':
      return meanOf(values, random, rounded);
    case 'product':
      return shuffled(values, random).reduce(
        (product, value) => (type === 'f32' ? rounded(product * value) : strictInteger('mul', type, product, value)),
        1,
      );
    case 'max':
    case 'min':
      return Math[op](...values);
    case 'any':
      return values.includes(1) ? 1 : 0;
    case 'all':
      return values.includes(0) ? 0 : 1;
    case 'count':
      return values.filter((value) => value === 1).length;
    case 'argmax':
    case 'argmin': {
      const nan = values.findIndex(Number.isNaN);
      return nan >= 0 ? nan : values.indexOf(Math[op === 'argmax' ? 'max' : 'min'](...values));
    }
  }
}

/** In a tree of any form, products contracted here and there. */
function summed(terms: readonly DeviceValue[], random: () => number, rounded: (exact: number) => number): number {
  const left: DeviceValue[] = shuffled(terms, random);
  if (left.length === 0) return 0;
  while (left.length > 1) {
    const a = left.splice(Math.floor(random() * left.length), 1)[0] as DeviceValue;
    const at = random() < 0.5 ? 0 : Math.floor(random() * left.length);
    const b = left[at] as DeviceValue;
    const first = a.exact !== undefined && random() < 0.5 ? a.exact : a.value;
    left[at] = { value: rounded(first + b.value) };
  }
  return (left[0] as DeviceValue).value;
}

/** Terms scaled before they are added, or a sum divided where it cannot overflow. */
function meanOf(values: readonly number[], random: () => number, rounded: (exact: number) => number): number {
  const count = values.length;
  const total = values.reduce((sum, value) => sum + Math.abs(value), 0);
  const plain = total < 2 ** 120 && random() < 0.5;
  const scale = plain ? 1 : rounded(1 / count);
  const terms = values.map((value) => ({ value: rounded(value * scale) }));
  const sum = count === 0 ? 0 : summed(terms, random, rounded);
  return plain || count === 0 ? rounded(sum / count) : sum;
}

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}
