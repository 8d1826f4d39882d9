import { kernelsFor } from '@concord/variants';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conv2dCall, type Conv2dCase } from '../../../../backend-cpu/test/op-memory.ts';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits } from '../recorder.ts';
import { conv2dFamily, planConv2d } from './plan.ts';

function planned(traits: DeviceTraits, conv: Conv2dCase): PlanRecorder {
  const shape = conv2dCall(conv);
  const recorder = new PlanRecorder(traits);
  const [input, filter, output] = [shape.inputs, shape.weights, shape.outputs].map((size) => fakeSpan(4 * size, 4));
  if (input === undefined || filter === undefined || output === undefined) throw new Error('three operands');
  planConv2d({ ...shape, input, filter, output, opName: 'conv2dForward' }, recorder);
  return recorder;
}

const kernels = (traits: DeviceTraits, conv: Conv2dCase): readonly string[] =>
  planned(traits, conv).kernelNames.map((name) => name.replace('conv2d/', ''));

const RESNET: Conv2dCase = { input: [1, 64, 56, 56], filter: [64, 3, 3], padding: [1, 1] };

describe('on a CPU', () => {
  it.each([
    ['padding', RESNET, ['offsets', 'pack dense', 'wide 8x48']],
    ['stride', { ...RESNET, stride: [2, 2] }, ['offsets', 'pack', 'wide 8x48']],
    ['no padding: the input as it is', { ...RESNET, padding: [0, 0] }, ['offsets', 'wide 8x48']],
    ['few places', { input: [1, 64, 4, 4], filter: [64, 1, 1] }, ['offsets', 'wide 16x16']],
    ['fewer than a block', { input: [1, 64, 3, 3], filter: [64, 1, 1] }, ['offsets', 'pack dense', 'wide 16x16']],
    ['depthwise', { ...RESNET, groups: 64 }, ['offsets', 'pack dense', 'wide 1x64']],
    ['few filters per group', { ...RESNET, groups: 16 }, ['offsets', 'pack dense', 'wide 4x64']],
    ['one place', { input: [4, 64, 7, 7], filter: [64, 7, 7] }, ['direct 8']],
    ['one place, depthwise', { input: [4, 64, 7, 7], filter: [64, 7, 7], groups: 64 }, ['direct 1']],
    [
      'images that would grow too much',
      { input: [1, 1, 2, 2], filter: [8, 10, 10], padding: [50, 50], stride: [10, 10] },
      ['direct 8'],
    ],
    ['a stride beyond 32 bits', { ...RESNET, stride: [2 ** 40, 2 ** 40] }, ['direct 8']],
  ] as const)('%s', (_, conv, names) => {
    expect(kernels(TEST_DEVICES.cpu, conv)).toEqual(names);
  });

  it('as many images at a time as 64 MiB hold, and rows of one that is larger', () => {
    const images = planned(TEST_DEVICES.cpu, { ...RESNET, input: [200, 64, 56, 56] });
    const packed = images.launches.filter(({ kernel }) => kernel.name.startsWith('conv2d/pack'));
    expect(packed.map(({ args }) => args['lines'])).toEqual([77, 77, 46].map((count) => count * 64 * 58));
    const rows = planned(TEST_DEVICES.cpu, { input: [2, 64, 600, 600], filter: [8, 3, 3], padding: [1, 1] });
    const wide = rows.launches.filter(({ kernel }) => kernel.name.startsWith('conv2d/wide'));
    expect(wide.map(({ args }) => (args['places'] as number) + 2)).toEqual(
      [433, 167, 433, 167].map((count) => count * 602),
    );
    for (const recorder of [images, rows]) {
      for (const { byteLength } of recorder.scratches) expect(byteLength).toBeLessThanOrEqual(2 ** 26 + 256);
    }
  });
});

describe('on a GPU', () => {
  it.each([
    ['many filters', { input: [16, 256, 28, 28], filter: [512, 1, 1] }, 'implicit-gemm 128x128x16'],
    ['one block of 64 filters', { ...RESNET, input: [16, 64, 56, 56] }, 'implicit-gemm 64x64x16'],
    ['little work', { input: [1, 512, 7, 7], filter: [512, 3, 3], padding: [1, 1] }, 'implicit-gemm 32x32x16'],
    ['depthwise', { ...RESNET, groups: 64 }, 'direct 1'],
    ['coordinates beyond 32 bits', { ...RESNET, padding: [2 ** 31, 1], stride: [2 ** 31, 1] }, 'direct 8'],
  ] as const)('%s', (_, conv, name) => {
    expect(kernels(TEST_DEVICES.gpu, conv)).toEqual([name]);
  });

  it('with little workgroup memory or small groups, smaller tiles', () => {
    const conv: Conv2dCase = { input: [16, 256, 28, 28], filter: [512, 1, 1] };
    expect(kernels({ ...TEST_DEVICES.gpu, maxLocalBytes: 16_384 }, conv)).toEqual(['implicit-gemm 64x64x16']);
    expect(kernels({ ...TEST_DEVICES.gpu, maxGroupSize: 128 }, conv)).toEqual(['implicit-gemm 32x32x16']);
  });
});

const convolutions: fc.Arbitrary<Conv2dCase> = fc
  .record({
    groups: fc.integer({ min: 1, max: 3 }),
    sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 5, maxLength: 5 }),
    more: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 2, maxLength: 2 }),
    window: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 6, maxLength: 6 }),
  })
  .map(({ groups, sizes, more, window }) => {
    const [n, c, k, r, s] = sizes as [number, number, number, number, number];
    const [strideH, strideW, dilationH, dilationW, padH, padW] = window as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const [height, width] = [dilationH * (r - 1) + 1 + (more[0] ?? 0), dilationW * (s - 1) + 1 + (more[1] ?? 0)];
    return {
      input: [n, c * groups, height, width],
      filter: [k * groups, r, s],
      stride: [strideH, strideW],
      dilation: [dilationH, dilationW],
      padding: [padH - 1, padW - 1],
      groups,
    };
  });

it.each(Object.entries({ ...TEST_DEVICES, tiny: { ...TEST_DEVICES.cpu, maxAllocationBytes: 4096 } }))(
  'any shape on %s: only kernels that are listed, in complete launches',
  (_, traits) => {
    const listed = new Set(kernelsFor({ conv2dForward: conv2dFamily }, traits));
    fc.assert(
      fc.property(convolutions, (conv) => {
        for (const { kernel } of planned(traits, conv).launches) expect(listed.has(kernel)).toBe(true);
      }),
      { seed: 5 },
    );
  },
);
