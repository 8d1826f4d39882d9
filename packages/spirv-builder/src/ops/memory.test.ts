import { expect, it } from 'vitest';
import type { FunctionBuilder } from '../function-builder.ts';
import { listInstructions } from '../list-instructions.ts';
import { ModuleBuilder } from '../module-builder.ts';
import type { Value } from '../value.ts';

/** The instructions of a kernel with a pointer to float32. */
function listing(write: (k: FunctionBuilder, pointer: Value) => void): string {
  const module = new ModuleBuilder();
  module.kernel('test', { p: module.globalPointer(module.float(32)) }, (k, { p }) => write(k, p));
  return listInstructions(module.build());
}

const ALIGNED = 2;
const VOLATILE = 1;

it('an access is as aligned as one scalar, unless more is said', () => {
  expect(listing((k, p) => k.store(p, k.load(p)))).toMatch(/Load f32 %p 2 4\nStore %p %\d+ 2 4\n/);
  expect(listing((k, p) => k.storeVector(p, k.loadVector(p, 4)))).toMatch(/Load f32x4 %\d+ 2 4\n/);
  expect(listing((k, p) => k.storeVector(p, k.loadVector(p, 4, { align: 16 })))).toMatch(/Load f32x4 %\d+ 2 16\n/);
});

it('the address of a pointer is a u64', () => {
  expect(listing((k, p) => void k.address(p))).toMatch(/ConvertPtrToU u64 %p/);
});

it('a volatile access is marked as one, a plain one is not', () => {
  const both = ALIGNED | VOLATILE;
  const text = listing((k, p) => k.store(p, k.load(p, { isVolatile: true }), { isVolatile: true }));
  expect(text).toMatch(new RegExp(`Load f32 %p ${both} 4\\nStore %p %\\d+ ${both} 4\\n`));
});
