import { expect, it } from 'vitest';
import { Op } from '../src/generated/spirv.ts';
import { ModuleBuilder, type Type } from '../src/index.ts';
import { FEATURES } from './support/features.ts';
import { instructionsOf } from '../src/list-instructions.ts';

/**
 * Valid SPIR-V that ends the process in Intel's graphics compiler (IGC) of before 2023, such as 1.0.12504 of Debian 12 with
 * compute-runtime 22.43: drivers of that age are what long-term distributions ship. OpLogicalNot does always, the others on
 * vectors. The same compiler gives an array whose length is an OpSpecConstantOp any size; `type-table.ts` refuses that.
 */
const FATAL: ReadonlyMap<number, string> = new Map([
  [Op.LogicalNot, 'OpLogicalNot'],
  [Op.LogicalEqual, 'OpLogicalEqual'],
  [Op.LogicalNotEqual, 'OpLogicalNotEqual'],
]);

it.each([
  ['booleans', (m: ModuleBuilder): Type => m.float(32)],
  ['vectors of them', (m: ModuleBuilder): Type => m.vector(m.float(32), 4)],
])('says not, xor, eq and ne of %s without what ends old compilers', (_, typeOf) => {
  const module = new ModuleBuilder();
  const type = typeOf(module);
  module.kernel('main', { x: module.globalPointer(type) }, (k, { x }) => {
    const [a, b] = [k.lt(k.load(x), 1), k.gt(k.load(x), 2)];
    for (const truth of [k.not(a), k.xor(a, b), k.eq(a, b), k.ne(a, b), k.eq(a, true), k.ne(false, b)]) {
      k.store(x, k.select(truth, k.constant(type, 1), k.constant(type, 2)));
    }
  });
  expect(fatalIn(module.build())).toEqual([]);
});

it('writes no feature with them', () => {
  expect(FEATURES.flatMap(({ emit }) => fatalIn(emit()))).toEqual([]);
});

it('would find one', () => {
  const header = [0, 0, 0, 0, 0];
  expect(fatalIn(Uint32Array.of(...header, (4 << 16) | Op.LogicalNot, 1, 2, 3))).toEqual(['OpLogicalNot']);
});

/** Names of the instructions in a module that old compilers do not survive. */
function fatalIn(words: Uint32Array): string[] {
  return instructionsOf(words).flatMap(({ opcode }) => FATAL.get(opcode) ?? []);
}
