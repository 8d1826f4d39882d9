import { describe, test } from 'vitest';
import { checkConv2d, type Conv2dCase } from '../../../../backend-cpu/test/op-memory.ts';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import { conv2dKernel } from './conv2d.ts';

const SHAPES: readonly Conv2dCase[] = [
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
      test.each(SHAPES)(`${dtype} %j`, (shape) =>
        checkConv2d(launcher.operands, { ...shape, dtype }, (call) => launcher.reset(() => kernel.run(call)), {
          lead: 1,
        }),
      );
    }
  });
}
