import type { Conv2dShape } from '@concord/backend-core';
import { type Conv2dWork, outputSize } from '../work.ts';
import { defineCase, type LimitCase } from './limit-case.ts';

/** Square images and filters. */
export function conv2d(work: Conv2dWork): LimitCase {
  const { n, c, hw, k, f, stride, padding } = work;
  const out = outputSize(work);
  const shapes = {
    inputShape: [n, c, hw, hw],
    filterShape: [k, c, f, f],
    outputShape: [n, k, out, out],
    stride: [stride, stride],
    padding: [padding, padding],
  } satisfies Conv2dShape;
  return defineCase({
    work,
    name: `n${n}c${c}hw${hw}k${k}f${f}s${stride}p${padding}`,
    flops: 2 * n * k * out * out * c * f * f,
    inputs: [n * c * hw * hw, k * c * f * f],
    length: n * k * out * out,
    expected: ([input, filter], index) => {
      const [image, which] = [Math.floor(index / (k * out * out)), Math.floor(index / (out * out)) % k];
      const top = (Math.floor(index / out) % out) * stride - padding;
      const left = (index % out) * stride - padding;
      let value = 0;
      let magnitude = 0;
      for (let channel = 0; channel < c; channel++) {
        for (let r = 0; r < f; r++) {
          for (let s = 0; s < f; s++) {
            const [y, x] = [top + r, left + s];
            if (y < 0 || y >= hw || x < 0 || x >= hw) continue;
            const weight = filter.at(((which * c + channel) * f + r) * f + s);
            const term = weight * input.at(((image * c + channel) * hw + y) * hw + x);
            value += term;
            magnitude += Math.abs(term);
          }
        }
      }
      return { value, magnitude };
    },
    call: (backend, [input, filter], output) => backend.conv2dForward({ ...shapes, input, filter, output }),
  });
}
