import { expect, it } from 'vitest';
import { listInstructions } from '../list-instructions.ts';
import { ModuleBuilder } from '../module-builder.ts';

/** The instructions of a kernel that counts to `n`. */
function counting(options: { isSigned?: boolean }): string {
  const module = new ModuleBuilder();
  module.kernel(
    'test',
    { n: module.int(32) },
    (k, { n }) => void k.forLoop({ to: n, ...options }, [], () => undefined),
  );
  return listInstructions(module.build());
}

it('a loop compares as unsigned integers, or as signed ones where that is asked for', () => {
  expect(counting({})).toMatch(/ = ULessThan bool %\d+ %n\n/);
  expect(counting({ isSigned: false })).toMatch(/ = ULessThan bool %\d+ %n\n/);
  expect(counting({ isSigned: true })).toMatch(/ = SLessThan bool %\d+ %n\n/);
});
