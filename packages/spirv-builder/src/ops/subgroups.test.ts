import { describe, expect, it } from 'vitest';
import { instructionsOf } from '../list-instructions.ts';
import { thrown } from '../../test/support/thrown.ts';
import { needSpirvTools, spirvDis } from '../../test/support/spirv-tools.ts';
import type { FunctionBuilder } from '../function-builder.ts';
import { Op } from '../generated/spirv.ts';
import { ModuleBuilder } from '../module-builder.ts';
import type { Type } from '../type.ts';
import type { Value } from '../value.ts';

type Code = (k: FunctionBuilder, pointer: Value, module: ModuleBuilder) => unknown;

function write(pointee: (module: ModuleBuilder) => Type, code: Code): ModuleBuilder {
  const module = new ModuleBuilder();
  module.kernel('test', { p: module.globalPointer(pointee(module)) }, (k, { p }) => void code(k, p, module));
  return module;
}

const misuse = (pointee: (module: ModuleBuilder) => Type, code: Code): string => thrown(() => write(pointee, code));

const half = (module: ModuleBuilder): Type => module.float(16);
const u32 = (module: ModuleBuilder): Type => module.int(32);

describe('blocks of a sub-group', () => {
  it('declare what they need, and are of integers whatever they hold', (context) => {
    needSpirvTools(context);
    const module = write(half, (k, p, { types }) => {
      k.subgroupBlockWrite(p, k.subgroupBlockRead(p, types.vector(types.float(16), 8)));
    });
    const text = spirvDis(module.build());
    for (const line of [
      'OpCapability SubgroupBufferBlockIOINTEL\n',
      'OpCapability Int16\n',
      'OpExtension "SPV_INTEL_subgroups"\n',
      'OpSubgroupBlockReadINTEL %v8ushort',
      '= OpBitcast %v8half',
      '= OpBitcast %v8ushort',
      'OpSubgroupBlockWriteINTEL',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('need no casts where they hold integers', () => {
    const module = write(u32, (k, p) => k.subgroupBlockWrite(p, k.subgroupBlockRead(p, k.types.int(32))));
    expect(instructionsOf(module.build()).filter(({ opcode }) => opcode === Op.Bitcast)).toEqual([]);
  });

  it('are of 16-bit or 32-bit numbers in global memory', () => {
    const wanted = 'subgroupBlockRead: takes a pointer to 16-bit or 32-bit numbers in global memory, got';
    const long = (module: ModuleBuilder): Type => module.int(64);
    expect(misuse(long, (k, p) => k.subgroupBlockRead(p, k.types.int(64)))).toBe(
      `kernel test, ${wanted} pointer to u64`,
    );
    expect(misuse(u32, (k) => k.subgroupBlockRead(k.localArray(k.types.int(32), 8), k.types.int(32)))).toContain(
      wanted,
    );
    const local = (k: FunctionBuilder): Value => k.at(k.localArray(k.types.int(32), 8), 0);
    expect(misuse(u32, (k) => k.subgroupBlockRead(local(k), k.types.int(32)))).toContain(wanted);
    expect(misuse(u32, (k, p) => k.subgroupBlockRead(k.load(p), k.types.int(32)))).toContain(`${wanted} u32`);
    const quads = (module: ModuleBuilder): Type => module.vector(module.int(32), 4);
    expect(misuse(quads, (k, p) => k.subgroupBlockRead(p, k.types.int(32)))).toContain(`${wanted} pointer to u32x4`);
  });

  it('have shares of one number or a vector of 2, 4 or 8 of those that the pointer points to', () => {
    const shares = (of: (module: ModuleBuilder) => Type): string =>
      misuse(u32, (k, p, module) => k.subgroupBlockRead(p, of(module)));
    expect(shares((m) => m.vector(m.int(32), 3))).toBe(
      'kernel test, subgroupBlockRead: u32x3 is not a share of u32: one, or a vector of 2, 4 or 8',
    );
    expect(shares((m) => m.vector(m.int(32), 16))).toContain('u32x16 is not a share of u32');
    expect(shares((m) => m.float(32))).toContain('f32 is not a share of u32');
    expect(shares((m) => m.vector(m.int(16), 2))).toContain('u16x2 is not a share of u32');
    expect(shares(() => new ModuleBuilder().int(32))).toContain('the type u32 belongs to another module');
    expect(misuse(u32, (k, p) => k.subgroupBlockWrite(p, k.constant(k.types.float(32), 1)))).toBe(
      'kernel test, subgroupBlockWrite: f32 is not a share of u32: one, or a vector of 2, 4 or 8',
    );
    expect(misuse(u32, (k, p) => k.subgroupBlockWrite(p, 1 as never))).toContain('value is not a value: got number 1');
  });
});
