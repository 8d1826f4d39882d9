import { defineKernel } from '@concord/backend-core/kernel';
import { EXACT, type KernelCase, kernelCase } from './kernel-case.ts';

/** Square images `[n, c, hw, hw]`. */
export interface Image {
  readonly n: number;
  readonly c: number;
  readonly hw: number;
}

/** The name of a case on images. */
export const imageName = ({ n, c, hw }: Image): string => `n${n}c${c}hw${hw}`;

/** A channel's scale and shift, then relu. */
export function batchNorm(image: Image): KernelCase {
  const vector = { strides: [0, 1, 0] };
  return kernelCase('batch_norm_relu', imageName(image), {
    kernel: defineKernel('batchNormRelu', { inputs: { x: 'f32', s: 'f32', t: 'f32' } }, ({ x, s, t }, k) => ({
      y: k.max(k.add(k.mul(x, s), t), 0),
    })),
    ...{ shape: [image.n, image.c, image.hw ** 2], inputs: { s: vector, t: vector } },
    expected: ({ at }) => Math.max(at('x') * at('s') + at('t'), 0),
    absolute: 1e-6,
  });
}

/** 3 x 3, stride 2, padding 1. */
export function maxPool(image: Image): KernelCase {
  const { n, c, hw } = image;
  return kernelCase('max_pool_3x3s2p1', imageName(image), {
    kernel: defineKernel('maxPool', { inputs: { x: { type: 'f32', access: 'gather', rank: 3 } } }, ({ x }, k) => {
      const at = (axis: number, tap: number) => k.add(k.mul(k.toI32(k.index(axis)), 2), tap - 1);
      const taps = [0, 1, 2].flatMap((i) =>
        [0, 1, 2].map((j) => k.gather(x, [k.index(0), at(1, i), at(2, j)], Number.NEGATIVE_INFINITY)),
      );
      return { y: taps.reduce((most, tap) => k.max(most, tap)) };
    }),
    ...{ shape: [n * c, hw / 2, hw / 2], inputs: { x: { shape: [n * c, hw, hw] } }, flops: 9 },
    expected({ read, point }) {
      const [plane, row, column] = point as [number, number, number];
      const around = (at: number): number[] => [2 * at - 1, 2 * at, 2 * at + 1].filter((place) => place >= 0);
      const taps = around(row).flatMap((i) => around(column).map((j) => read('x', (plane * hw + i) * hw + j)));
      return Math.max(...taps);
    },
    ...EXACT,
  });
}

const BILINEAR = defineKernel(
  'bilinear',
  { inputs: { x: { type: 'f32', access: 'gather', rank: 3 } }, params: { height: 'f32', width: 'f32' } },
  ({ x, height, width }, k) => {
    const place = (axis: number, size: typeof height) => {
      const at = k.clamp(k.sub(k.mul(k.toF32(k.index(axis)), 0.5), 0.25), 0, k.sub(size, 1));
      const low = k.floor(at);
      return { low: k.toU32(low), high: k.toU32(k.min(k.add(low, 1), k.sub(size, 1))), part: k.sub(at, low) };
    };
    const [row, column] = [place(1, height), place(2, width)];
    const pixel = (y: typeof row.low, c: typeof row.low) => k.gather(x, [k.index(0), y, c], 0);
    const mix = (a: typeof row.part, b: typeof row.part, part: typeof row.part) => k.add(a, k.mul(k.sub(b, a), part));
    const upper = mix(pixel(row.low, column.low), pixel(row.low, column.high), column.part);
    const lower = mix(pixel(row.high, column.low), pixel(row.high, column.high), column.part);
    return { y: mix(upper, lower, row.part) };
  },
);

/** Twice as large. */
export function bilinear(image: Image): KernelCase {
  const { n, c, hw } = image;
  return kernelCase('upsample_bilinear_2x', imageName(image), {
    kernel: BILINEAR,
    ...{ shape: [n * c, 2 * hw, 2 * hw], inputs: { x: { shape: [n * c, hw, hw] } } },
    ...{ params: { height: hw, width: hw }, flops: 8 },
    expected({ read, point }) {
      const [plane, ...place] = point as [number, number, number];
      const [y, x] = place.map((at) => Math.min(Math.max(at / 2 - 0.25, 0), hw - 1)) as [number, number];
      const [y0, x0] = [Math.floor(y), Math.floor(x)];
      const pixel = (i: number, j: number) => read('x', (plane * hw + Math.min(i, hw - 1)) * hw + Math.min(j, hw - 1));
      const line = (i: number) => pixel(i, x0) + (pixel(i, x0 + 1) - pixel(i, x0)) * (x - x0);
      return line(y0) + (line(y0 + 1) - line(y0)) * (y - y0);
    },
    absolute: 1e-5,
  });
}
