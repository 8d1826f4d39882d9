import type { Conv2dShape } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { conv2dReference } from './conv2d.ts';

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

describe('conv2dReference: transposed', () => {
  it('each input adds the filter, a stride apart; terms are counted', () => {
    const shape: Conv2dShape = {
      inputShape: [1, 1, 1, 3],
      filterShape: [1, 1, 1, 3],
      outputShape: [1, 1, 1, 7],
      stride: [1, 2],
      padding: [0, 1, 0, 0],
      outputPadding: [0, 1],
      transposed: true,
    };
    // 1 10 100 and 2 20 200 and 3 30 300, each two further right; the first is left out.
    const { value, magnitude, terms } = conv2dReference(shape, [1, 2, 3], [1, 10, 100]);
    expect([...value]).toEqual([10, 102, 20, 203, 30, 300, 0]);
    expect([...magnitude]).toEqual([...value]);
    expect([...(terms as Uint32Array)]).toEqual([1, 2, 1, 2, 1, 1, 0]);
  });

  it('filters of a group are neighbours, channels the outer axis', () => {
    const shape: Conv2dShape = {
      inputShape: [1, 4, 1, 1],
      filterShape: [4, 2, 1, 1],
      outputShape: [1, 4, 1, 1],
      groups: 2,
      transposed: true,
    };
    expect(conv(shape, [1, 10, 100, 1000], ramp(8))).toEqual([31, 42, 7500, 8600]);
  });
});
