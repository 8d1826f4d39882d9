import type { Conv2dShape } from '@concord/backend-core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conv2dReference } from './conv2d.ts';
import { gemmReference } from './gemm.ts';

const ramp = (length: number, start = 1) => Array.from({ length }, (_, i) => start + i);
const conv = (shape: Conv2dShape, input: number[], filter: number[]) => [
  ...conv2dReference(shape, input, filter).value,
];

// All by hand.
describe('conv2dReference: golden values', () => {
  const simple = (input: number, filter: number, output: number, padding: number): Conv2dShape => ({
    inputShape: [1, 1, input, input],
    filterShape: [1, 1, filter, filter],
    outputShape: [1, 1, output, output],
    stride: [1, 1],
    padding: [padding, padding],
  });
  const ones = ramp(9).map(() => 1);

  it('3x3 ones over a 4x4 ramp', () => {
    // The first window is 0 1 2 4 5 6 8 9 10; each step right adds 9, each step down 36.
    expect(conv(simple(4, 3, 2, 0), ramp(16, 0), ones)).toEqual([45, 54, 81, 90]);
  });

  it('padding', () => {
    expect(conv(simple(2, 3, 2, 1), [1, 2, 3, 4], ones)).toEqual([10, 10, 10, 10]);
    // corners 1+2+4+5, edges 21 and so on, centre 45
    expect(conv(simple(3, 3, 3, 1), ramp(9), ones)).toEqual([12, 21, 16, 27, 45, 33, 24, 39, 28]);
  });

  it('the filter is not flipped', () => {
    expect(conv(simple(2, 2, 1, 0), [1, 10, 100, 1000], [1, 2, 3, 4])).toEqual([4321]);
  });

  it('different strides, paddings, dilations, and groups', () => {
    const shape: Conv2dShape = {
      inputShape: [1, 2, 3, 3],
      filterShape: [2, 1, 2, 2],
      outputShape: [1, 2, 2, 1],
      stride: [2, 1],
      padding: [1, 0],
      dilation: [1, 2],
      groups: 2,
    };
    // Taps in columns 0 and 2. Rows -1, 0: 3*1 + 4*3 = 15; rows 1, 2: 1*4 + 2*6 + 3*7 + 4*9 = 73.
    // Second group, channel 10..18: 2*10 - 2*12 = -4; 13 - 15 + 2*16 - 2*18 = -6.
    expect(conv(shape, ramp(18), [1, 2, 3, 4, 1, -1, 2, -2])).toEqual([15, 73, -4, -6]);
  });

  it('magnitude is sum |input||filter|', () => {
    const { magnitude } = conv2dReference(simple(2, 2, 1, 0), [1, -2, 3, -4], [-1, -1, 1, 1]);
    expect([...magnitude]).toEqual([10]);
  });

  it('NaN reaches the windows that contain it, and no others', () => {
    const input = ramp(16);
    input[0] = Number.NaN;
    expect(conv(simple(4, 3, 2, 0), input, ones)).toEqual([Number.NaN, 63, 90, 99]);
  });
});

/** Another way to compute it: a padded copy of the image first, then every tap of it, scattered from input to output. */
function scattered(shape: Conv2dShape, input: readonly number[], filter: readonly number[]): number[] {
  const [n, c, h, w] = shape.inputShape;
  const [k, cg, r, s] = shape.filterShape;
  const [, , p, q] = shape.outputShape;
  const [sh, sw] = shape.stride ?? [1, 1];
  const [top, left, bottom = top, right = left] = shape.padding ?? [0, 0];
  const [dh, dw] = shape.dilation ?? [1, 1];
  const groups = shape.groups ?? 1;
  const [tall, wide] = [h + top + bottom, w + left + right];
  const padded = Array.from({ length: n * c * tall * wide }, () => 0);
  input.forEach((value, index) => {
    const [x, y, plane] = [index % w, Math.floor(index / w) % h, Math.floor(index / (w * h))];
    padded[(plane * tall + y + top) * wide + x + left] = value;
  });
  const output = Array.from({ length: n * k * p * q }, () => 0);
  filter.forEach((weight, index) => {
    const [tapX, tapY] = [index % s, Math.floor(index / s) % r];
    const channel = Math.floor(index / (s * r)) % cg;
    const out = Math.floor(index / (s * r * cg));
    const from = Math.floor(out / (k / groups)) * cg + channel;
    for (let batch = 0; batch < n; batch++) {
      for (let cell = 0; cell < p * q; cell++) {
        const y = Math.floor(cell / q) * sh + tapY * dh;
        const x = (cell % q) * sw + tapX * dw;
        const at = (batch * k + out) * p * q + cell;
        output[at] = (output[at] as number) + weight * (padded[((batch * c + from) * tall + y) * wide + x] as number);
      }
    }
  });
  return output;
}

describe('conv2dReference: properties', () => {
  const small = (min: number, max: number) => fc.integer({ min, max });
  const pair = (min: number, max: number) => fc.tuple(small(min, max), small(min, max));
  const values = (length: number) => fc.array(small(-9, 9), { minLength: length, maxLength: length });

  it('equals a scattered sum over a padded copy', () => {
    const problem = fc
      .record({
        n: small(1, 2),
        groups: small(1, 3),
        cg: small(1, 2),
        kg: small(1, 2),
        image: pair(3, 6),
        window: pair(1, 3),
        stride: pair(1, 3),
        padding: fc.oneof(pair(0, 2), fc.tuple(small(0, 2), small(0, 2), small(0, 2), small(0, 2))),
        dilation: pair(1, 2),
      })
      .map(({ n, groups, cg, kg, image, window, stride, padding, dilation }) => {
        const [top, left, bottom = top, right = left] = padding;
        const both = [top + bottom, left + right] as const;
        const size = (i: 0 | 1) => Math.floor((image[i] + both[i] - dilation[i] * (window[i] - 1) - 1) / stride[i]) + 1;
        const shape: Conv2dShape = {
          inputShape: [n, groups * cg, ...image],
          filterShape: [groups * kg, cg, ...window],
          outputShape: [n, groups * kg, size(0), size(1)],
          stride,
          padding,
          dilation,
          groups,
        };
        return shape;
      })
      .filter(({ outputShape }) => outputShape.every((length) => length > 0))
      .chain((shape) => {
        const count = (sizes: readonly number[]) => sizes.reduce((x, y) => x * y, 1);
        return fc.tuple(fc.constant(shape), values(count(shape.inputShape)), values(count(shape.filterShape)));
      });
    fc.assert(
      fc.property(problem, ([shape, input, filter]) => {
        expect(conv(shape, input, filter).map((x) => x + 0)).toEqual(scattered(shape, input, filter).map((x) => x + 0));
      }),
      { numRuns: 300 },
    );
  });

  it('a 1x1 filter is a gemm', () => {
    fc.assert(
      fc.property(small(1, 5), small(1, 5), pair(1, 4), values(80), values(25), (c, k, [h, w], image, weights) => {
        const input = image.slice(0, c * h * w);
        const shape: Conv2dShape = {
          inputShape: [1, c, h, w],
          filterShape: [k, c, 1, 1],
          outputShape: [1, k, h, w],
        };
        const product = gemmReference({ m: k, n: h * w, k: c }, weights, input);
        expect(conv(shape, input, weights.slice(0, k * c))).toEqual([...product.value]);
      }),
    );
  });
});
