import { defineKernel } from '@concord/backend-core/kernel';
import { noise, run } from 'playground';

// Each row of 8 numbers becomes 8 positive ones that add up to 1.
const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.exp(k.sub(x, k.fold('max', x)));
  return { y: k.div(e, k.fold('sum', e)) };
});

// 4 rows of 8 numbers; the last axis is folded, so that a fold is over one row.
run(softmax, { shape: [4, 8], folded: 1, inputs: { x: noise(4 * 8) } });
