import { expect, it } from 'vitest';
import { defineKernel } from './define-kernel.ts';
import type { Kernel } from './graph.ts';
import type { Value } from './value.ts';

it('kernels have one key only where generated code may be shared', () => {
  const of = (
    name: string,
    inputs: Readonly<Record<string, 'f32' | 'i32' | { type: 'f32'; level: 'row' }>>,
    params: Readonly<Record<string, 'f32' | 'i32'>>,
    order: readonly [string, string] = ['p', 'q'],
    folded = false,
  ): Kernel =>
    defineKernel(name, { inputs, params }, (values, k) => {
      const float = (field: string): Value<'f32'> => {
        const value = values[field] as Value<'f32' | 'i32'>;
        return value.type === 'f32' ? (value as Value<'f32'>) : k.toF32(value as Value<'i32'>);
      };
      const [first, second] = order.map(float) as [Value<'f32'>, Value<'f32'>];
      const y = k.add(k.mul(float('x'), first), second);
      return { y: folded ? k.fold('sum', y) : y };
    });
  const plain = { p: 'f32', q: 'f32' } as const;
  const kernels = [
    of('a', { x: 'f32' }, plain),
    // The same graph, whose parameters the call gives in another order.
    of('a', { x: 'f32' }, { q: 'f32', p: 'f32' }),
    of('a', { x: 'f32' }, plain, ['q', 'p']),
    of('a', { x: 'f32' }, { p: 'i32', q: 'f32' }),
    of('a', { x: 'i32' }, plain),
    of('a', { x: 'f32' }, plain, ['p', 'q'], true),
    of('a', { x: { type: 'f32', level: 'row' } }, plain, ['p', 'q'], true),
  ];
  expect(new Set(kernels.map(({ key }) => key)).size).toBe(kernels.length);
  expect(of('a', { x: 'f32' }, plain).key).toBe(kernels[0]?.key);
});
