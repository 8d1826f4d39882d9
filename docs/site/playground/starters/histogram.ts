import { selectBackend } from '@concord/backend-core';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { arange, cast, div, full, greater, max, ones, reshape, scatterAdd, stack, tensor, tidy } from '@concord/ops';
import { picture, show, slider } from 'playground';

const { backend } = await selectBackend([webgpu(), wasm()]);
const bins = Math.round(slider('bins', { min: 8, max: 256, value: 96, step: 1 }));

// How many pixels have each shade of red, of green and of blue: counted on the device, many pixels at once.
const { values, shape } = picture();
const pixels = shape[0] * shape[1];
const chart = tidy(() => {
  const counts = [0, 1, 2].map((channel) => {
    const shades = Int32Array.from({ length: pixels }, (_, i) => Math.min(bins - 1, values[4 * i + channel]! * bins));
    return scatterAdd(full(backend, [bins], 0), 0, tensor(backend, shades), ones(backend, [pixels]));
  });
  // A bar is lit up to its height; where bars overlap, their colours mix.
  const bars = stack(
    counts.map((count) => div(count, max(count))),
    { axis: -1 },
  );
  const heights = reshape(arange(backend, 1, 0, -1 / 120), [120, 1, 1]);
  return cast(greater(reshape(bars, [1, bins, 3]), heights), 'f32');
});
await show(chart, 'histogram');
