import { defineKernel } from '@concord/backend-core/kernel';
import { picture, run } from 'playground';

// Red, green and blue become lighter, and alpha, channel 3, stays as it is.
const brightness = defineKernel(
  'brightness',
  { inputs: { x: 'f32' }, params: { gain: 'f32', offset: 'f32' } },
  ({ x, gain, offset }, k) => {
    const lighter = k.clamp(k.add(k.mul(x, gain), offset), 0, 1);
    return { y: k.select(k.eq(k.index(-1), 3), x, lighter) };
  },
);

// A picture is an array of height x width x 4 numbers from 0 to 1.
const { values, shape } = picture();
run(brightness, { shape, inputs: { x: values }, params: { gain: 1.3, offset: 0.1 } });
