import type { Level, NumberType } from '@concord/backend-core/kernel';
import type { Random } from '../harness/random.ts';
import type { Range } from './ranges.ts';
import type { GraphStyle, Step } from './step.ts';

/** The range of an integer, of which any is fine. */
export const ANY: Range = [-(2 ** 32), 2 ** 32];

/** The inputs, parameters, axes and constants with which a drawn graph begins. */
export function graphLeaves(random: Random, style: GraphStyle, hasRows: boolean): readonly Step[] {
  const isFloat = style === 'float';
  const numbers: readonly NumberType[] = isFloat ? ['f32', 'f32', 'f32', 'i32'] : ['f32', 'i32', 'u32'];
  return [
    leaf('input', isFloat ? 'f32' : random.pick(numbers), 'element', { name: 'a' }),
    leaf('input', random.pick(numbers), 'element', { name: 'b' }),
    leaf('parameter', random.pick(numbers), 'call', { name: 'p' }),
    leaf('parameter', 'u32', 'call', { name: 'q' }),
    leaf('index', 'u32', 'element', { value: random.integer(0, 7) }),
    leaf('extent', 'u32', 'call', { value: random.integer(0, 7) }),
    ...(hasRows
      ? [
          leaf('input', random.pick(numbers), 'row', { name: 'r' }),
          leaf('rowIndex', 'u32', 'row', { value: random.integer(0, 7) }),
        ]
      : []),
    leaf('constant', 'f32', 'call', {
      value: random.pick(isFloat ? [0.5, 1.5, -2, 3, 0] : [1, -2, 3, 0]),
      range: [-2, 3],
    }),
    leaf('constant', 'i32', 'call', { value: random.integer(-9, 9) }),
    leaf('constant', 'u32', 'call', { value: random.uint32() }),
  ];
}

function leaf(kind: Step['kind'], type: NumberType, level: Level, more: Partial<Step>): Step {
  return { kind, type, level, operands: [], range: type === 'f32' ? [-8, 8] : ANY, isExact: true, ...more };
}
