import { expect, it } from 'vitest';
import { ModuleBuilder } from './module-builder.ts';

it('constants of equal bits are shared, others are not', () => {
  const module = new ModuleBuilder();
  const [f32, u32, bool] = [module.float(32), module.int(32), module.types.bool()];
  const of = module.constant.bind(module);
  expect(of(f32, 1)).toBe(of(f32, 1));
  expect(of(f32, -0).id).not.toBe(of(f32, 0).id);
  expect(of(u32, 0).id).not.toBe(of(f32, 0).id);
  expect(of(bool, true).id).not.toBe(of(bool, false).id);
});

it.each([8, 16, 32, 64] as const)('integers of %i bits are those that fit, signed or not', (width) => {
  const module = new ModuleBuilder();
  const type = module.int(width);
  const [least, most] = [-(2n ** BigInt(width - 1)), 2n ** BigInt(width) - 1n];
  for (const value of [least, least + 1n, -1n, 0n, most - 1n, most]) {
    expect(() => module.constant(type, value), `${value}`).not.toThrow();
  }
  for (const value of [least - 1n, most + 1n, 2n * least]) {
    expect(() => module.constant(type, value), `${value}`).toThrow(/is not of type /);
  }
});
