import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { plannedRun } from '../../../test/support/planned-run.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';

/** As many operands and parameters as there may be, and every index and size of eight axes. */
function mostUniforms(hasFolds: boolean): Kernel {
  const inputs = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`x${n}`, 'f32' as const]));
  const params = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`p${n}`, 'f32' as const]));
  return defineKernel('mostUniforms', { inputs, params }, (given, k: KernelBuilder) => {
    let sum: Value<'f32'> = k.f32(0);
    for (const value of Object.values(given as Record<string, Value<'f32'>>)) sum = k.add(sum, value);
    for (let axis = 0; axis < 8; axis++) {
      sum = k.add(sum, k.toF32(k.add(k.index(axis), k.add(k.extent(axis), k.extent(axis - 8)))));
    }
    return { y: hasFolds ? k.add(sum, k.add(k.fold('mean', sum), k.toF32(k.fold('argmax', sum)))) : sum };
  });
}

const [folding, mapping] = [mostUniforms(true), mostUniforms(false)];

it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])('the uniforms of rank 8 fit, %d folded', (folded) => {
  const shape = [2, 3, 2, 3, 2, 3, 2, 3];
  const inputs = Object.fromEntries(
    folding.inputs.map(({ name }, n) => [name, { strides: shape.map((_, a) => a + n) }]),
  );
  for (const traits of Object.values(TEST_DEVICES)) {
    const [kernel, more] = folded === 0 ? [mapping, {}] : [folding, { folded }];
    expect(() => plannedRun(kernel, { shape, ...more, inputs }, traits)).not.toThrow();
  }
});
