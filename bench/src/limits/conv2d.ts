import type { ComputeBackend } from '@concord/backend-core';
import type { Expected, LimitCase, Trial } from './limit-case.ts';
import { Workspace } from './workspace.ts';

/** Square images and filters. */
export interface Conv2dSizes {
  readonly n: number;
  readonly c: number;
  readonly hw: number;
  readonly k: number;
  readonly f: number;
  readonly stride: number;
  readonly padding: number;
}

/** `[n, c, hw, hw]` with filters `[k, c, f, f]`. */
export function conv2d({ n, c, hw, k, f, stride, padding }: Conv2dSizes): LimitCase {
  const out = Math.floor((hw + 2 * padding - f) / stride) + 1;
  const place = (backend: ComputeBackend): Trial => {
    const workspace = new Workspace(backend);
    const [input, filter] = [workspace.input(n * c * hw * hw, 1), workspace.input(k * c * f * f, 2)];
    const output = workspace.output(n * k * out * out);
    const call = {
      input: input.ptr,
      inputShape: [n, c, hw, hw],
      filter: filter.ptr,
      filterShape: [k, c, f, f],
      output,
      outputShape: [n, k, out, out],
      stride: [stride, stride],
      padding: [padding, padding],
    };
    const expected = (index: number): Expected => {
      const [image, which] = [Math.floor(index / (k * out * out)), Math.floor(index / (out * out)) % k];
      const [top, left] = [Math.floor(index / out) % out, index % out].map((at) => at * stride - padding) as [
        number,
        number,
      ];
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
    };
    return {
      run: () => backend.conv2dForward(call),
      output,
      dtype: 'f32',
      length: n * k * out * out,
      expected,
      free: () => workspace.free(),
    };
  };
  const name = `n${n}c${c}hw${hw}k${k}f${f}s${stride}p${padding}`;
  return { op: 'conv2d', name, flops: 2 * n * k * out * out * c * f * f, place };
}
