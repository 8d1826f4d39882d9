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
  expect(text).toMatch(/%\d+ = Load f32 %\d+ 2 4\n/);
  expect(text).toMatch(/\nStore %\d+ %\d+ 2 4\n/);
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

it('literals are numbers, also where an id of that number has a name', () => {
  const module = new ModuleBuilder();
  const [u32, u64, f32] = [module.int(32), module.int(64), module.float(32)];
  const types = { x: module.globalPointer(f32), n: u32, wide: u64 };
  module.kernel('literals', types, (k, { x, n, wide }) => {
    for (let id = 1; id < 100; id++) module.name({ ...n, id: id as typeof n.id }, `named${id}`);
    const pair = k.vector(module.vector(f32, 2), k.load(x), 1);
    const turned = k.shuffle(pair, pair, [1, 2]);
    const inserted = k.insert(turned, 5, 1);
    k.forLoop({ to: n }, [], () => k.when(k.ult(n, 7), () => k.store(x, k.extract(inserted, 1))));
    k.switchOn(
      n,
      [
        { value: 3, body: () => undefined },
        { value: 4, body: () => undefined },
      ],
      () => undefined,
    );
    k.switchOn(wide, [{ value: 2 ** 33 + 3, body: () => undefined }], () => undefined);
    k.store(x, k.subgroupReduce('fadd', k.load(x)));
  });
  const text = listInstructions(module.build());
  const id = '%\\w+';
  for (const line of [
    `Load f32 ${id} 2 4`,
    `CompositeExtract f32 ${id} 1`,
    `CompositeInsert f32x2 ${id} ${id} 1`,
    `VectorShuffle f32x2 ${id} ${id} 1 2`,
    `Store ${id} ${id} 2 4`,
    `LoopMerge ${id} ${id} 0`,
    `SelectionMerge ${id} 0`,
    `Switch ${id} ${id} 3 ${id} 4 ${id}`,
    `Switch ${id} ${id} 3 2 ${id}`,
    `GroupFAdd f32 ${id} 0 ${id}`,
  ]) {
    expect(text).toMatch(new RegExp(`(^| = )${line}$`, 'm'));
  }
});
