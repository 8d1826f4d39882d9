import { selectBackend } from '@concord/backend-core';
import { defineKernel, type Value } from '@concord/backend-core/kernel';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { full, reshape, run, tensor } from '@concord/ops';
import { show, slider } from 'playground';

const { backend } = await selectBackend([webgpu(), wasm()]);
const feed = slider('feed', { min: 0.01, max: 0.08, value: 0.037 });
const kill = slider('kill', { min: 0.045, max: 0.07, value: 0.06 });
const size = 192;

// Gray and Scott: two substances spread, one feeds on the other, and spots, stripes or waves come of it.
const step = defineKernel(
  'grayScott',
  {
    inputs: { u: { type: 'f32', access: 'gather', rank: 2 }, v: { type: 'f32', access: 'gather', rank: 2 } },
    params: { feed: 'f32', kill: 'f32' },
  },
  ({ u, v, feed, kill }, k) => {
    const along = (axis: number, by: number) => k.rem(k.add(k.toI32(k.index(axis)), size + by), size);
    const spread = (of: (down: number, right: number) => Value<'f32'>): Value<'f32'> => {
      const sides = k.add(k.add(of(-1, 0), of(1, 0)), k.add(of(0, -1), of(0, 1)));
      const corners = k.add(k.add(of(-1, -1), of(1, 1)), k.add(of(1, -1), of(-1, 1)));
      return k.sub(k.add(k.mul(sides, 0.2), k.mul(corners, 0.05)), of(0, 0));
    };
    const ofU = (down: number, right: number) => k.gather(u, [along(0, down), along(1, right)], 0);
    const ofV = (down: number, right: number) => k.gather(v, [along(0, down), along(1, right)], 0);
    const eaten = k.mul(ofU(0, 0), k.mul(ofV(0, 0), ofV(0, 0)));
    const [moreU, lessV] = [k.mul(feed, k.sub(1, ofU(0, 0))), k.mul(k.add(feed, kill), ofV(0, 0))];
    return {
      nextU: k.add(ofU(0, 0), k.add(k.sub(spread(ofU), eaten), moreU)),
      nextV: k.add(ofV(0, 0), k.sub(k.add(k.mul(spread(ofV), 0.5), eaten), lessV)),
    };
  },
);
const colour = defineKernel('colour', { inputs: { v: 'f32' } }, ({ v }, k) => ({
  y: k.clamp(k.mul(v, k.add(1.5, k.toF32(k.index(-1)))), 0, 1),
}));

const seeds = Float32Array.from(
  { length: size * size },
  (_, i) => Number((i % 37) + (Math.floor(i / size) % 41) < 9) / 2,
);
let [u, v] = [full(backend, [size, size], 1), tensor(backend, seeds, [size, size])];
for (let i = 1; i <= 3000; i++) {
  const [beforeU, beforeV] = [u, v];
  ({ nextU: u, nextV: v } = run(step, { u, v }, { shape: [size, size], params: { feed, kill } }));
  beforeU.dispose();
  beforeV.dispose();
  if (i % 25 !== 0) continue;
  const picture = run(colour, { v: reshape(v, [size, size, 1]) }, { shape: [size, size, 3] }).y;
  await show(picture, 'spots');
  picture.dispose();
}
