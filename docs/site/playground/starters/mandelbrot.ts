import { selectBackend } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { full, run } from '@concord/ops';
import { show, slider } from 'playground';

const { backend } = await selectBackend([webgpu(), wasm()]);
const size = 384;
const zoom = slider('zoom', { min: 0, max: 9, value: 0 });

// z = z z + c, eight times a launch, in place. `count` grows while |z| stays below 2.
const step = defineKernel(
  'mandelbrot',
  { inputs: { re: 'f32', im: 'f32', count: 'f32' }, params: { scale: 'f32' } },
  ({ re, im, count, scale }, k) => {
    const along = (axis: number) => k.mul(k.sub(k.div(k.toF32(k.index(axis)), size / 2), 1), scale);
    const [a, b] = [k.add(along(1), -0.7436), k.add(along(0), 0.1318)];
    let [x, y, n] = [re, im, count];
    for (let i = 0; i < 8; i++) {
      const [xx, yy] = [k.mul(x, x), k.mul(y, y)];
      const isInside = k.lt(k.add(xx, yy), 4);
      n = k.select(isInside, k.add(n, 1), n);
      y = k.select(isInside, k.add(k.mul(k.mul(x, y), 2), b), y);
      x = k.select(isInside, k.add(k.sub(xx, yy), a), x);
    }
    return { re: x, im: y, count: n };
  },
);
const colour = defineKernel('colour', { inputs: { count: 'f32' } }, ({ count }, k) => {
  const phase = k.add(k.mul(k.sqrt(count), 0.55), k.mul(k.toF32(k.index(-1)), 0.5));
  return { y: k.select(k.lt(count, 256), k.add(k.mul(k.cos(phase), -0.5), 0.5), 0) };
});

const [re, im, count] = [0, 0, 0].map(() => full(backend, [size, size, 1], 0));
for (let i = 1; i <= 32; i++) {
  run(step, { re: re!, im: im!, count: count! }, { params: { scale: 1.6 * 2 ** -zoom } });
  if (i % 4 !== 0) continue;
  const picture = run(colour, { count: count! }, { shape: [size, size, 3] }).y;
  await show(picture, 'Mandelbrot set');
  picture.dispose();
}
console.log(`${size * size} points, 256 steps each, on ${backend.device.name}`);
