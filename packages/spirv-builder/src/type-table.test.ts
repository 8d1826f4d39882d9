import { expect, it } from 'vitest';
import { StorageClass } from './generated/spirv.ts';
import { ModuleBuilder } from './module-builder.ts';

it('equal types are one, types that differ in one thing are not', () => {
  const module = new ModuleBuilder();
  const { types } = module;
  const [f32, u32] = [types.float(32), types.int(32)];
  const length = (value: number) => module.constant(u32, value);
  const makers = [
    () => types.array(f32, length(4)),
    () => types.array(f32, length(8)),
    () => types.array(u32, length(4)),
    () => types.vector(f32, 4),
    () => types.vector(f32, 2),
    () => types.vector(u32, 4),
    () => types.struct([f32, u32]),
    () => types.struct([u32, f32]),
    () => types.pointer(StorageClass.CrossWorkgroup, f32),
    () => types.pointer(StorageClass.Workgroup, f32),
    () => types.pointer(StorageClass.Workgroup, u32),
  ];
  const ids = makers.map((make) => make().id);
  expect(new Set(ids).size).toBe(makers.length);
  expect(makers.map((make) => make().id)).toEqual(ids);
});
