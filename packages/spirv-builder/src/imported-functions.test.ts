import { describe, expect, it } from 'vitest';
import { needSpirvTools, spirvDis } from '../test/support/spirv-tools.ts';
import { ModuleBuilder } from './module-builder.ts';

describe('functions of the driver’s compiler', () => {
  it('are declared without a body, before the functions of the module, with their name', (context) => {
    needSpirvTools(context);
    const module = new ModuleBuilder();
    const [f32, f16] = [module.float(32), module.float(16)];
    module.kernel('early', {}, () => {});
    const imported = module.importFunction('_Z3maddf', { x: f16, y: f32 }, f32);
    module.kernel('late', { y: f32 }, (k, { y }) => void k.call(imported, 0.5, y));
    const text = spirvDis(module.build());
    expect(text).toContain('OpCapability Linkage\n');
    // A value of this type is passed, though only a constant in a call says so.
    expect(text).toContain('OpCapability Float16\n');
    const id = /OpDecorate (%\S+) LinkageAttributes "_Z3maddf" Import/.exec(text)?.[1];
    const [declaration, ...definitions] = text.split(' = OpFunction ').slice(1);
    expect(text.indexOf(`${id} = OpFunction`)).toBe(text.indexOf(' = OpFunction ') - (id?.length ?? 0));
    expect(declaration?.split('\n').slice(1, 4)).toEqual([
      '%x = OpFunctionParameter %half',
      '%y = OpFunctionParameter %float',
      'OpFunctionEnd',
    ]);
    expect(definitions).toHaveLength(2);
    expect(definitions[1]).toContain(`OpFunctionCall %float ${id} `);
  });

  it('have a name that nothing else has', () => {
    const module = new ModuleBuilder();
    const f32 = module.float(32);
    module.importFunction('f', {}, f32);
    module.kernel('k', {}, () => {});
    expect(() => module.importFunction('f', {}, f32)).toThrow('import f: there is an import of this name');
    expect(() => module.importFunction('k', {}, f32)).toThrow('import k: there is a kernel of this name');
    expect(() => module.kernel('f', {}, () => {})).toThrow('kernel f: there is an import of this name');
    expect(() => module.importFunction('a\0b', {}, f32)).toThrow('a name has no zeros');
  });

  it('take types of the module, and are called with values of those', () => {
    const module = new ModuleBuilder();
    const f32 = module.float(32);
    const other = new ModuleBuilder().float(32);
    expect(() => module.importFunction('a', { x: other }, f32)).toThrow('import a: f32 belongs to another module');
    expect(() => module.importFunction('b', {}, other)).toThrow('import b: f32 belongs to another module');
    const nothing = { x: module.types.void() };
    expect(() => module.importFunction('c', nothing, f32)).toThrow('import c, parameter x: cannot be void');
    // What was refused can be given again.
    const imported = module.importFunction('a', { x: f32 }, f32);
    const call = (): void => module.kernel('k', { n: module.int(32) }, (k, { n }) => void k.call(imported, n));
    expect(call).toThrow('kernel k, call of a: argument 1 is u32, expected f32');
  });
});
