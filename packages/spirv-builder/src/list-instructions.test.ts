import { expect, it } from 'vitest';
import { listInstructions } from './list-instructions.ts';
import { ModuleBuilder } from './module-builder.ts';

it('lists a module with its names and types', () => {
  const module = new ModuleBuilder();
  const f32 = module.float(32);
  module.kernel('double', { x: module.globalPointer(f32) }, (k, { x }) => {
    const element = k.at(x, k.globalId(0));
    k.store(element, k.math('sqrt', k.mul(k.load(element), 2.5)));
  });
  const text = listInstructions(module.build());
  expect(text).toContain('EntryPoint 6 ');
  expect(text).toContain('"double"');
  expect(text).toMatch(/%x = FunctionParameter f32\*\n/);
  expect(text).toMatch(/%\d+ = Constant f32 2\.5\n/);
  expect(text).toMatch(/%(\d+) = FMul f32 %\d+ %\d+\n%\d+ = ExtInst f32 sqrt %\1\n/);
  expect(text).toMatch(/Store %\d+ %\d+ /);
  expect(text.endsWith('FunctionEnd\n')).toBe(true);
});

it('leaves no instruction out but types, names and decorations', () => {
  const module = new ModuleBuilder();
  const u32 = module.int(32);
  module.kernel('count', { x: module.globalPointer(u32), n: u32 }, (k, { x, n }) => {
    const [sum] = k.forLoop({ to: n }, [k.constant(u32, 0)], (i, [total]) => [k.add(total!, i)]);
    k.when(k.ult(n, 7), () => k.store(x, sum!));
  });
  const lines = listInstructions(module.build()).trimEnd().split('\n');
  for (const name of ['LoopMerge', 'Phi', 'IAdd', 'ULessThan', 'BranchConditional', 'SelectionMerge', 'Store']) {
    expect(
      lines.some((line) => line.includes(name)),
      name,
    ).toBe(true);
  }
  expect(lines.every((line) => /^(%\S+ = )?[A-Z]\w+( |$)/.test(line))).toBe(true);
});
