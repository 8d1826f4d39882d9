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
