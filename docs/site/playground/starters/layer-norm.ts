import { defineKernel } from '@concord/backend-core/kernel';
import { noise, run } from 'playground';

// Each row gets mean 0 and variance 1; then each column its own scale and shift.
const layerNorm = defineKernel(
  'layerNorm',
  { inputs: { x: 'f32', scale: 'f32', shift: 'f32' }, params: { epsilon: 'f32' } },
  ({ x, scale, shift, epsilon }, k) => {
    const centred = k.name('centred', k.sub(x, k.fold('mean', x)));
    const variance = k.name('variance', k.fold('mean', k.mul(centred, centred)));
    return { y: k.add(k.mul(k.mul(centred, k.rsqrt(k.add(variance, epsilon))), scale), shift) };
  },
);

const [rows, columns] = [4, 16];
run(layerNorm, {
  shape: [rows, columns],
  folded: 1,
  inputs: {
    x: noise(rows * columns),
    // One number for each column: stride 0 repeats it in every row.
    scale: { values: noise(columns, 2), strides: [0, 1] },
    shift: { values: noise(columns, 3), strides: [0, 1] },
  },
  params: { epsilon: 1e-5 },
});
