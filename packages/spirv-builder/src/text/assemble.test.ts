import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomModule } from '../../test/support/text-random-module.ts';
import { assemble } from './assemble.ts';
import { disassemble } from './disassemble.ts';
import { SpirvTextError } from './spirv-text-error.ts';

const body = (text: string): number[] => [...assemble(text).subarray(5)];

describe('assemble', () => {
  it('starts with a header for the ids in use', () => {
    expect([...assemble('%7 = OpTypeVoid')]).toEqual([0x07230203, 0x00010000, 0, 8, 0, (2 << 16) | 19, 7]);
  });

  it('takes the header from the comments that disassemble writes', () => {
    const header = '; SPIR-V\n; Version: 1.2\n; Generator: Unknown(99); 3\n; Bound: 30\n; Schema: 0\n';
    expect([...assemble(`${header}%7 = OpTypeVoid`).subarray(0, 5)]).toEqual([
      0x07230203, 0x00010200, 0x00630003, 30, 0,
    ]);
    expect(assemble(`${header}%70 = OpTypeVoid`)[3]).toBe(71);
    expect(assemble(`OpNop\n${header}`)[1]).toBe(0x00010000);
  });

  it('gives names the lowest numbers that no id is written with', () => {
    expect(body('%2 = OpTypeVoid\n%a = OpTypeBool\n%b = OpTypeFunction %2 %a')).toEqual(
      body('%2 = OpTypeVoid\n%1 = OpTypeBool\n%3 = OpTypeFunction %2 %1'),
    );
  });

  it('leaves out comments, and ends instructions where the next one starts', () => {
    expect(body('OpCapability ; here\n  Kernel OpCapability Addresses; there')).toEqual(
      body('OpCapability Kernel\nOpCapability Addresses'),
    );
  });

  it('reads strings with quotes, backslashes, comments and line breaks in them', () => {
    const text = disassemble(assemble('%1 = OpString "\\"a\\\\ ; b\n%2 = OpNop é😀"\nOpNop'), {
      header: false,
      indent: false,
    });
    expect(text).toBe('%1 = OpString "\\"a\\\\ ; b\n%2 = OpNop é😀"\nOpNop\n');
  });

  it('takes instructions of up to 65535 words', () => {
    const longest = 'é'.repeat((0xffff - 3) * 2) + 'xyz';
    const text = `%1 = OpString "${longest}"\n`;
    expect(disassemble(assemble(text), { header: false, indent: false, friendlyNames: false })).toBe(text);
    expect(() => assemble(`%1 = OpString "${longest}x"`)).toThrow('1:6: OpString is longer than the 65535 words');
    expect(() => assemble(`%1 = OpString "${longest.repeat(9)}"`)).toThrow('1:15: a string is too long');
  });

  it('is the inverse of disassemble', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat({ max: 0xffff })), (stream) => {
        const words = randomModule((end) => (stream.next().value as number) % end, 1);
        expect(assemble(disassemble(words, { friendlyNames: false }))).toEqual(words);
        const friendly = disassemble(words);
        // The same names with other numbers.
        expect(assemble(friendly).length).toBe(words.length);
      }),
      { seed: 1, numRuns: 10 },
    );
  });

  it.each([
    ['OpFoo', '1:1: OpFoo is no instruction of this subset'],
    ['OpNop\n  %1 = OpTypeImage', '2:8: OpTypeImage is no instruction of this subset'],
    ['OpNop %1', '1:7: OpNop takes no further operand'],
    ['%1 = OpNop', '1:1: OpNop gives no result'],
    ['OpTypeVoid', '1:1: OpTypeVoid gives a result: write "%id = OpTypeVoid"'],
    ['%1 =', '1:4: an instruction is missing after "="'],
    ['1 = OpTypeVoid', '1:1: expected an id such as %12 or %name, found 1'],
    ['%a-b = OpTypeVoid', '1:1: expected an id such as %12 or %name, found %a-b'],
    ['OpCapability', '1:1: OpCapability ends where its Capability should be'],
    ['OpCapability Shader', '1:14: "Shader" is none of the values of Capability of this subset'],
    ['OpStore %1 %2 Volatile|Foo', '1:15: "Foo" is none of the bits of MemoryAccess of this subset'],
    ['OpStore %1 %2 Aligned', '1:1: OpStore ends where its LiteralInteger should be'],
    ['OpExtension "a', '1:13: a string does not end'],
    ['OpExtension a', '1:13: expected a string in quotes, found a'],
    ['OpName %1 "a\nb" 3', '2:4: OpName takes no further operand'],
    ['%1 = OpTypeInt 32.5 0', '1:16: 32.5 is no unsigned number of 32 bits'],
    ['%1 = OpTypeInt 8 0\n%2 = OpConstant %1 256', '2:20: 256 is no unsigned number of 8 bits'],
    ['%1 = OpTypeInt 8 1\n%2 = OpConstant %1 128', '2:20: 128 is no signed number of 8 bits'],
    ['%1 = OpTypeInt 32 0\n%2 = OpConstant %1 010', '2:20: 010 is no unsigned number of 32 bits'],
    ['%1 = OpTypeFloat 16\n%2 = OpConstant %1 65536', '2:20: 65536 is no floating-point number of 16 bits'],
    ['%1 = OpTypeInt 128 0\n%2 = OpConstant %1 1', '2:20: numbers of 128 bits cannot be written'],
    ['%2 = OpConstant %1 1', '1:20: no instruction before declares the type of 1'],
    ['%1 = OpExtInst %2 %3 exp %4', '1:22: OpExtInst names a set that no OpExtInstImport before it has imported'],
    [
      '%3 = OpExtInstImport "GLSL.std.450"\n%1 = OpExtInst %2 %3 Exp %4',
      '2:22: the instruction set "GLSL.std.450" is not in this subset',
    ],
    [
      '%3 = OpExtInstImport "OpenCL.std"\n%1 = OpExtInst %2 %3 Exp %4',
      '2:22: "Exp" is none of the instructions of OpenCL.std of this subset',
    ],
    ['%1 = OpSpecConstantOp %2 Load %3', '1:26: "Load" is none of the operations on constants of this subset'],
  ])('says where and why it cannot read %j', (text, message) => {
    const [, line, column, problem] = /^(\d+):(\d+): (.*)$/.exec(message)!;
    const error = new SpirvTextError(problem!, { line: Number(line), column: Number(column) });
    expect(() => assemble(text)).toThrow(error);
    expect(error.message).toBe(message);
  });
});
