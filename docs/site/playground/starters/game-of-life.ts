import { selectBackend } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { cast, greater, randomUniform, run, tidy } from '@concord/ops';
import { show } from 'playground';

const { backend } = await selectBackend([webgpu(), wasm()]);
const size = 256;

// A cell lives on with two or three neighbours, and is born with three. What leaves on one side comes in on the other.
const life = defineKernel('life', { inputs: { cells: { type: 'f32', access: 'gather', rank: 2 } } }, ({ cells }, k) => {
  const at = (down: number, right: number) => {
    const along = (axis: number, by: number) => k.rem(k.add(k.toI32(k.index(axis)), size + by), size);
    return k.gather(cells, [along(0, down), along(1, right)], 0);
  };
  const around = [-1, 0, 1].flatMap((down) => [-1, 0, 1].map((right) => [down, right] as const));
  const neighbours = around
    .filter(([down, right]) => down !== 0 || right !== 0)
    .map(([down, right]) => at(down, right));
  const count = neighbours.reduce((sum, each) => k.add(sum, each));
  return { y: k.select(k.or(k.eq(count, 3), k.and(k.eq(count, 2), k.gt(at(0, 0), 0))), k.f32(1), 0) };
});

let cells = tidy(() => cast(greater(randomUniform(backend, [size, size], { seed: 7 }), 0.7), 'f32'));
for (let generation = 0; generation < 400; generation++) {
  const before = cells;
  cells = run(life, { cells }, { shape: [size, size] }).y;
  before.dispose();
  await show(cells, 'Game of life');
}
