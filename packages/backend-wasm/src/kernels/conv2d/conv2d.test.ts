import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { conv2dReference } from '@concord/backend-cpu/reference';
import { describe, expect, test } from 'vitest';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import { conv2dKernel } from './conv2d.ts';

interface Shape {
  /** Images, channels, height, width. */
  input: [number, number, number, number];
  /** Filters, height, width. */
  filter: [number, number, number];
  stride?: [number, number];
  dilation?: [number, number];
  padding?: [number, number, number, number];
  groups?: number;
}

const SHAPES: readonly Shape[] = [
  { input: [2, 3, 5, 9], filter: [4, 3, 3] },
  { input: [1, 3, 12, 21], filter: [7, 3, 3], padding: [1, 1, 1, 1] },
  { input: [2, 4, 11, 10], filter: [6, 3, 2], padding: [2, 0, 1, 3], stride: [2, 3], groups: 2 },
  { input: [1, 2, 13, 17], filter: [3, 3, 3], dilation: [2, 3], padding: [0, 1, 2, 0] },
  { input: [3, 6, 7, 7], filter: [6, 3, 3], padding: [1, 1, 1, 1], groups: 6 },
  { input: [2, 3, 9, 14], filter: [6, 3, 2], stride: [2, 2], dilation: [1, 2], padding: [1, 0, 2, 1], groups: 3 },
  { input: [1, 2, 90, 70], filter: [2, 2, 5], groups: 2 },
  { input: [2, 2, 9, 20], filter: [2, 2, 5], stride: [1, 3], groups: 2 },
  { input: [1, 2, 9, 9], filter: [2, 8, 8], padding: [1, 1, 1, 1], groups: 2 },
  { input: [2, 20, 4, 5], filter: [9, 1, 1] },
  { input: [1, 5, 8, 9], filter: [3, 1, 1], stride: [2, 2] },
  { input: [1, 70, 6, 30], filter: [100, 2, 2] },
  { input: [1, 3, 9, 41], filter: [5, 3, 3], stride: [1, 2], padding: [0, 1, 0, 1] },
  { input: [2, 1, 3, 3], filter: [2, 3, 3] },
];

for (const traits of TRAITS) {
  describe(`conv2d ${traits.hasFma ? 'with' : 'without'} multiply-add`, () => {
    const launcher = new KernelLauncher(traits);
    const kernel = conv2dKernel(launcher);
    for (const dtype of ['f32', 'f16'] as const) {
      test.each(SHAPES.map((shape) => [JSON.stringify(shape), shape] as const))(`${dtype} %s`, (_name, shape) => {
        const { input, filter, stride = [1, 1], dilation = [1, 1], padding = [0, 0, 0, 0], groups = 1 } = shape;
        const [images, channels, height, width] = input;
        const [filters, filterHeight, filterWidth] = filter;
        const length = (size: number, axis: 0 | 1, reach: number) =>
          Math.floor((size + padding[axis] + padding[axis + 2]! - dilation[axis] * (reach - 1) - 1) / stride[axis]) + 1;
        const filterShape = [filters, channels / groups, filterHeight, filterWidth] as const;
        const outputShape = [images, filters, length(height, 0, filterHeight), length(width, 1, filterWidth)] as const;
        const checked = { inputShape: input, filterShape, outputShape, stride, dilation, padding, groups, dtype };
        // Small integers: any order of summation gives the same bits.
        const count = (sizes: readonly number[]) => sizes.reduce((x, y) => x * y);
        const values = (sizes: readonly number[], seed: number) =>
          Float32Array.from({ length: count(sizes) }, (_, i) => ((i * 7919 + seed * 104_729) % 9) - 4);
        const [x, f] = [values(input, 1), values(filterShape, 2)];
        const stored = (from: Float32Array) => (dtype === 'f32' ? from : Uint16Array.from(from, f32ToF16Bits));
        const output = launcher.operand(stored(new Float32Array(count(outputShape)).fill(Number.NaN)));
        const operands = { input: launcher.operand(stored(x)), filter: launcher.operand(stored(f)), output };
        launcher.reset(() => kernel.run({ ...checked, ...operands, operands: [], opName: 'conv2dForward' }));
        const bytes = launcher.bytes(output).slice().buffer;
        const got =
          dtype === 'f32'
            ? new Float32Array(bytes)
            : Float32Array.from(new Uint16Array(bytes), (half) => f16BitsToF32(half));
        expect(got).toEqual(Float32Array.from(conv2dReference(checked, x, f).value));
      });
    }
  });
}
