import { selectBackend } from '@concord/backend-core';
import { wasm } from '@concord/backend-wasm';
import { webgpu } from '@concord/backend-webgpu';
import { conv2d, permute, reshape, tensor, tidy } from '@concord/ops';
import { picture, show, slider } from 'playground';

const { backend } = await selectBackend([webgpu(), wasm()]);
const radius = slider('radius', { min: 0.2, max: 8, value: 2 });

// A Gaussian, along the rows and then along the columns: two small filters instead of a large one.
const half = Math.ceil(3 * radius);
const weights = Float32Array.from({ length: 2 * half + 1 }, (_, i) => Math.exp(-(((i - half) / radius) ** 2) / 2));
const total = weights.reduce((sum, weight) => sum + weight);
const gauss = weights.map((weight) => weight / total);

const { values, shape } = picture();
const [height, width] = shape;
const blurred = tidy(() => {
  // Each channel is an image by itself.
  const planes = reshape(permute(tensor(backend, values, [height, width, 4]), [2, 0, 1]), [4, 1, height, width]);
  const rows = conv2d(planes, tensor(backend, gauss, [1, 1, 1, gauss.length]), { padding: [0, half] });
  const both = conv2d(rows, tensor(backend, gauss, [1, 1, gauss.length, 1]), { padding: [half, 0] });
  return permute(reshape(both, [4, height, width]), [1, 2, 0]);
});
await show(blurred, `blurred by ${radius.toFixed(1)} pixels`);
