import { describe, expect, it } from 'vitest';
import { Capability } from '../generated/enums.ts';
import { Op } from '../generated/opcodes.ts';
import { assemble } from './assemble.ts';
import { disassemble } from './disassemble.ts';
import { SpirvTextError } from './spirv-text-error.ts';

const HEADER = [0x07230203, 0x00010200, 0x0006000e, 10, 0];
const instruction = (opcode: number, ...operands: number[]): number[] => [
  ((operands.length + 1) << 16) | opcode,
  ...operands,
];
const module = (...instructions: number[][]): Uint32Array => Uint32Array.from([...HEADER, ...instructions.flat()]);

/** One line of the disassembly of a text, raw ids. */
const line = (text: string): string | undefined =>
  disassemble(assemble(text), { header: false, friendlyNames: false, indent: false }).trimEnd().split('\n').at(-1);

describe('disassemble', () => {
  it('prints the header as comments', () => {
    const lines = [
      '; SPIR-V',
      '; Version: 1.2',
      '; Generator: Khronos LLVM/SPIR-V Translator; 14',
      '; Bound: 10',
      '; Schema: 0',
    ];
    expect(disassemble(module())).toBe(`${lines.join('\n')}\n`);
  });

  it('aligns results so that instructions start in one column', () => {
    expect(
      disassemble(module(instruction(Op.Capability, Capability.Kernel), instruction(Op.TypeVoid, 1)), {
        header: false,
      }),
    ).toBe('               OpCapability Kernel\n       %void = OpTypeVoid\n');
  });

  it.each([
    ['%1 = OpTypeInt 8 1\n%2 = OpConstant %1 -1', '%2 = OpConstant %1 -1'],
    ['%1 = OpTypeInt 16 1\n%2 = OpConstant %1 0xffff', '%2 = OpConstant %1 -1'],
    ['%1 = OpTypeInt 64 1\n%2 = OpConstant %1 -9223372036854775808', '%2 = OpConstant %1 -9223372036854775808'],
    ['%1 = OpTypeInt 64 0\n%2 = OpConstant %1 18446744073709551615', '%2 = OpConstant %1 18446744073709551615'],
    ['%1 = OpTypeFloat 32\n%2 = OpConstant %1 0.1', '%2 = OpConstant %1 0.100000001'],
    ['%1 = OpTypeFloat 32\n%2 = OpConstant %1 1048576.125', '%2 = OpConstant %1 1048576.12'],
    ['%1 = OpTypeFloat 32\n%2 = OpConstant %1 -0', '%2 = OpConstant %1 -0'],
    ['%1 = OpTypeFloat 32\n%2 = OpConstant %1 1e30', '%2 = OpConstant %1 1.00000002e+30'],
    ['%1 = OpTypeFloat 32\n%2 = OpConstant %1 0x1p+128', '%2 = OpConstant %1 0x1p+128'],
    ['%1 = OpTypeFloat 32\n%2 = OpConstant %1 -0x1.8p+128', '%2 = OpConstant %1 -0x1.8p+128'],
    ['%1 = OpTypeFloat 32\n%2 = OpConstant %1 0x1p-149', '%2 = OpConstant %1 0x1p-149'],
    ['%1 = OpTypeFloat 64\n%2 = OpConstant %1 0.1', '%2 = OpConstant %1 0.10000000000000001'],
    ['%1 = OpTypeFloat 16\n%2 = OpConstant %1 1.5', '%2 = OpConstant %1 0x1.8p+0'],
    ['%1 = OpTypeFloat 16\n%2 = OpConstant %1 0x1p+16', '%2 = OpConstant %1 0x1p+16'],
    ['OpStore %1 %2 Volatile|Aligned 16', 'OpStore %1 %2 Volatile|Aligned 16'],
    ['%1 = OpString "a \\"b\\" \\\\ été\nnext"', 'next"'],
    ['%1 = OpSpecConstantOp %2 IAdd %3 %4', '%1 = OpSpecConstantOp %2 IAdd %3 %4'],
    ['%9 = OpExtInstImport "OpenCL.std"\n%1 = OpExtInst %2 %9 vloadn %3 %4 4', '%1 = OpExtInst %2 %9 vloadn %3 %4 4'],
    ['%1 = OpTypeInt 64 0\n%2 = OpUndef %1\nOpSwitch %2 %3 4294967296 %4', 'OpSwitch %2 %3 4294967296 %4'],
  ])('prints what %j means', (text, expected) => {
    expect(line(text)).toBe(expected);
  });

  it.each([
    ['nothing', Uint32Array.of(), 'word 0: a module starts with 0x07230203, found nothing'],
    [
      'swapped bytes',
      Uint32Array.of(0x03022307, 0, 0, 0, 0),
      'word 0: a module starts with 0x07230203, found 0x03022307, the magic number with its bytes swapped',
    ],
    ['a short header', Uint32Array.of(0x07230203, 0x10000), 'word 2: the header of five words is cut off'],
    ['no word count', module([Op.Nop]), 'word 5: the instruction with opcode 0 says it has no words'],
    [
      'an instruction cut off',
      module([(5 << 16) | Op.TypeInt, 1]),
      'word 5: OpTypeInt of 5 words is cut off: 2 are left',
    ],
    [
      'too few operands',
      module(instruction(Op.TypeInt, 1, 32)),
      'word 8: OpTypeInt ends where its Signedness should be',
    ],
    [
      'too many operands',
      module(instruction(Op.TypeVoid, 1, 2)),
      'word 7: OpTypeVoid has words after its last operand',
    ],
    ['an opcode of images', module(instruction(25, 1)), 'word 5: opcode 25 is no instruction of this subset'],
    ['a capability of shaders', module(instruction(Op.Capability, 1)), 'word 6: Capability 1 is not in this subset'],
    [
      'an unknown bit',
      module(instruction(Op.Load, 1, 2, 3, 8)),
      'word 9: bit 0x00000008 of MemoryAccess is not in this subset',
    ],
    ['an id of zero', module(instruction(Op.TypeVoid, 0)), 'word 6: OpTypeVoid has an id of 0'],
    [
      'a second definition',
      module(instruction(Op.TypeVoid, 1), instruction(Op.TypeBool, 1)),
      'word 9: %1 has been defined before',
    ],
    [
      'an endless string',
      module(instruction(Op.Extension, 0x61616161)),
      'word 6: a string does not end within its instruction',
    ],
    ['a string of other bytes', module(instruction(Op.Extension, 0xff)), 'word 6: a string is not UTF-8'],
    [
      'a number without a type',
      module(instruction(Op.Constant, 1, 2, 3)),
      'word 8: OpConstant has a number whose type no instruction before it declares',
    ],
    [
      'half a number',
      module(instruction(Op.TypeInt, 1, 64, 0), instruction(Op.Constant, 1, 2, 3)),
      'word 12: OpConstant ends within its Value',
    ],
    [
      'a number of 128 bits',
      module(instruction(Op.TypeInt, 1, 128, 0), instruction(Op.Constant, 1, 2, 3)),
      'word 12: OpConstant has a number of 128 bits',
    ],
    [
      'a set that is not imported',
      module(instruction(Op.ExtInst, 1, 2, 3, 4)),
      'word 9: OpExtInst names a set that no OpExtInstImport before it has imported',
    ],
  ])('says where and why it cannot read %s', (_, words, message) => {
    expect(() => disassemble(words)).toThrow(SpirvTextError);
    expect(() => disassemble(words)).toThrow(
      new SpirvTextError(message.replace(/^word \d+: /, ''), { word: Number(/\d+/.exec(message)![0]) }),
    );
  });
});
