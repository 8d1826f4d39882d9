import { expect, it } from 'vitest';
import { instructionsOf } from '../list-instructions.ts';
import type { FunctionBuilder } from '../function-builder.ts';
import { MemorySemantics, Op, Scope } from '../generated/spirv.ts';
import { ModuleBuilder } from '../module-builder.ts';
import type { Value } from '../value.ts';

/** What a kernel emits of some instructions; a constant of 32 bits is shown as its value, other ids as they are. */
function emitted(ops: readonly Op[], write: (k: FunctionBuilder, pointer: Value) => void): number[][] {
  const module = new ModuleBuilder();
  module.kernel('test', { p: module.globalPointer(module.int(32)) }, (k, { p }) => write(k, p));
  const instructions = instructionsOf(module.build());
  const constants = new Map(
    instructions.flatMap(({ opcode, operands }) =>
      opcode === Op.Constant ? [[operands[1] as number, operands[2] as number] as const] : [],
    ),
  );
  return instructions
    .filter(({ opcode }) => ops.includes(opcode as Op))
    .map(({ opcode, operands }) => {
      const own = opcode === Op.ControlBarrier ? operands : operands.slice(3);
      return [opcode, ...own.map((id) => constants.get(id) ?? -id)];
    });
}

const { SequentiallyConsistent, WorkgroupMemory, CrossWorkgroupMemory } = MemorySemantics;

it('a barrier makes workgroup memory seen, and with global both', () => {
  const barriers = emitted([Op.ControlBarrier], (k) => {
    k.barrier();
    k.barrier({ global: true });
  });
  expect(barriers).toEqual([
    [Op.ControlBarrier, Scope.Workgroup, Scope.Workgroup, SequentiallyConsistent | WorkgroupMemory],
    [
      ...[Op.ControlBarrier, Scope.Workgroup, Scope.Workgroup],
      SequentiallyConsistent | WorkgroupMemory | CrossWorkgroupMemory,
    ],
  ]);
});

it.each([
  ['add', Op.AtomicIAdd],
  ['sub', Op.AtomicISub],
  ['and', Op.AtomicAnd],
  ['or', Op.AtomicOr],
  ['xor', Op.AtomicXor],
  ['umin', Op.AtomicUMin],
  ['umax', Op.AtomicUMax],
  ['smin', Op.AtomicSMin],
  ['smax', Op.AtomicSMax],
  ['exchange', Op.AtomicExchange],
] as const)('atomic %s has its own opcode, scope, semantics and operand', (operation, op) => {
  const semantics = SequentiallyConsistent | CrossWorkgroupMemory;
  expect(emitted([op], (k, p) => k.atomic(operation, p, 77))).toEqual([[op, Scope.Device, semantics, 77]]);
});

it('a compare-exchange has the new value before the expected one', () => {
  const semantics = SequentiallyConsistent | CrossWorkgroupMemory;
  expect(emitted([Op.AtomicCompareExchange], (k, p) => k.atomicCompareExchange(p, 11, 22))).toEqual([
    [Op.AtomicCompareExchange, Scope.Device, semantics, semantics, 22, 11],
  ]);
});
