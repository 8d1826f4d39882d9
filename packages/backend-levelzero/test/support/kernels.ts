import { ModuleBuilder } from '@concord/spirv-builder';
import { defineKernel, type Kernel } from '../../src/kernels/kernel.ts';

export const GROUP = 32;

/** `x[i] = scale * x[i] + shift` for the first `count` elements. */
export const affine: Kernel = defineKernel({
  name: 'test/affine',
  parameters: { x: 'f32*', count: 'u64', scale: 'f32', shift: 'f32' },
  groupSize: [GROUP, 1, 1],
  write: (k, { args: { x, count, scale, shift } }) => {
    const i = k.globalId(0);
    k.when(k.ult(i, count), () => {
      const element = k.at(x, i);
      k.store(element, k.add(k.mul(k.load(element), scale), shift));
    });
  },
});

/** Fills with a specialisation constant. */
export const filled = (value: number): Kernel =>
  defineKernel({
    name: `test/filled ${value}`,
    parameters: { x: 'u32*' },
    groupSize: [1, 1, 1],
    constants: { value: { value, fallback: 0 } },
    write: (k, { args: { x }, constants: { value: constant } }) => {
      k.store(k.at(x, k.globalId(0)), constant);
    },
  });

/** Words that look like a module, and are not valid: `main` has no end. */
export const withoutEnd = (): Uint32Array => affine.words().slice(0, -1);

/** A user's module with the kernel `add` and no LocalSize: `c[i] = a[i] + factor * b[i]`. */
export function addModule(): Uint32Array {
  const module = new ModuleBuilder();
  const pointer = module.globalPointer(module.float(32));
  module.kernel('add', { a: pointer, b: pointer, c: pointer, factor: module.float(32) }, (k, { a, b, c, factor }) => {
    const i = k.globalId(0);
    k.store(k.at(c, i), k.add(k.load(k.at(a, i)), k.mul(k.load(k.at(b, i)), factor)));
  });
  return module.build();
}
