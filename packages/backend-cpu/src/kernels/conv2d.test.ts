import { describe, expect, it } from 'vitest';
import { conv2d } from './conv2d.ts';

const integers = (length: number, seed: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => ((i * 7919 + seed * 104729) % 15) - 7);

interface Shape {
  input: readonly [number, number, number, number];
  filters: number;
  window: readonly [number, number];
  stride?: readonly [number, number];
  padding?: readonly [number, number];
  dilation?: readonly [number, number];
  groups?: number;
  /** Replaces the first weight. */
  weight?: number;
}

function check(test: Shape): void {
  const { input: shape, filters, window, stride = [1, 1], padding = [0, 0], dilation = [1, 1], groups = 1 } = test;
  const [batch, channels, height, width] = shape;
  const [rows, columns] = window;
  const perGroup = channels / groups;
  const size = (axis: 0 | 1, length: number): number =>
    Math.floor((length + 2 * padding[axis] - dilation[axis] * (window[axis] - 1) - 1) / stride[axis]) + 1;
  const outputShape = [batch, filters, size(0, height), size(1, width)] as const;
  const [, , outputHeight, outputWidth] = outputShape;
  const input = integers(batch * channels * height * width, 1);
  const filter = integers(filters * perGroup * rows * columns, 2);
  filter[0] = test.weight ?? 3;
  const want = new Float32Array(batch * filters * outputHeight * outputWidth);
  let at = 0;
  for (let n = 0; n < batch; n++) {
    for (let k = 0; k < filters; k++) {
      const firstChannel = Math.floor(k / (filters / groups)) * perGroup;
      for (let p = 0; p < outputHeight; p++) {
        for (let q = 0; q < outputWidth; q++) {
          let sum = 0;
          for (let c = 0; c < perGroup; c++) {
            for (let r = 0; r < rows; r++) {
              for (let s = 0; s < columns; s++) {
                const y = p * stride[0] - padding[0] + r * dilation[0];
                const x = q * stride[1] - padding[1] + s * dilation[1];
                if (y < 0 || y >= height || x < 0 || x >= width) continue;
                const value = input[((n * channels + firstChannel + c) * height + y) * width + x] as number;
                sum += value * (filter[((k * perGroup + c) * rows + r) * columns + s] as number);
              }
            }
          }
          want[at++] = sum;
        }
      }
    }
  }
  const output = new Float32Array(want.length).fill(Number.NaN);
  const filterShape = [filters, perGroup, rows, columns] as const;
  conv2d(
    {
      inputShape: shape,
      filterShape,
      outputShape,
      stride,
      padding: [...padding, ...padding],
      dilation,
      groups,
      dtype: 'f32',
      operands: [],
    },
    input,
    filter,
    output,
  );
  expect(Array.from(output, (value) => value + 0)).toEqual(Array.from(want, (value) => value + 0));
}

describe('conv2d', () => {
  it('slides the usual filters', () => {
    check({ input: [2, 3, 7, 9], filters: 5, window: [3, 3], padding: [1, 1] });
    check({ input: [1, 4, 6, 5], filters: 4, window: [1, 1] });
    check({ input: [1, 1, 1, 1], filters: 3, window: [1, 1] });
  });

  it('treats height and width apart', () => {
    check({ input: [1, 2, 11, 6], filters: 4, window: [2, 3], stride: [3, 1], padding: [0, 2], dilation: [2, 1] });
    check({ input: [1, 2, 6, 11], filters: 4, window: [4, 2], stride: [1, 2], padding: [3, 0], dilation: [1, 3] });
  });

  it('pads by more than the filter and the image', () => {
    check({ input: [1, 2, 2, 1], filters: 3, window: [2, 2], padding: [5, 6] });
    check({ input: [1, 2, 2, 1], filters: 2, window: [2, 2], padding: [5, 6], groups: 2 });
  });

  it('keeps groups apart, tiled and depthwise', () => {
    for (const perGroup of [1, 2, 3, 5]) {
      check({ input: [2, 6, 5, 4], filters: 3 * perGroup, window: [3, 2], padding: [1, 1], groups: 3 });
    }
    check({ input: [1, 4, 9, 9], filters: 4, window: [3, 5], stride: [2, 2], padding: [1, 2], groups: 4 });
    check({ input: [1, 2, 2, 1030], filters: 2, window: [1, 7], groups: 2, stride: [1, 1] });
  });

  it('crosses the block boundaries of pixels, taps and filters', () => {
    check({ input: [1, 30, 17, 19], filters: 4, window: [3, 3], padding: [1, 1] });
    check({ input: [1, 1, 40, 40], filters: 3, window: [20, 17], padding: [2, 1] });
    check({ input: [1, 2, 3, 3], filters: 195, window: [2, 2] });
    check({ input: [1, 1, 2, 600], filters: 3, window: [1, 2] });
    check({ input: [2, 1, 3, 1030], filters: 3, window: [2, 3], padding: [1, 2], stride: [2, 1] });
    check({ input: [1, 2, 3, 2100], filters: 2, window: [2, 3], padding: [1, 2], stride: [1, 2], groups: 2 });
  });

  it('keeps an infinite weight away from the padding', () => {
    for (const window of [
      [3, 3],
      [2, 5],
    ] as const) {
      check({ input: [1, 2, 5, 6], filters: 4, window, padding: [2, 3], dilation: [1, 2], weight: Infinity });
    }
  });
});
