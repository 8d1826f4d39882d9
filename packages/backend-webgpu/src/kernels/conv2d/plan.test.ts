import { isBackendError } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { type Conv2dCase, conv2dShape } from '../../../../backend-cpu/test/op-memory.ts';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits } from '../recorder.ts';
import { planConv2d } from './plan.ts';

function planned(traits: DeviceTraits, conv: Conv2dCase, isTogether = false): PlanRecorder {
  const shape = conv2dShape(conv);
  const bytes = [shape.inputShape, shape.filterShape, shape.outputShape].map((each) => each.reduce((x, y) => x * y, 4));
  const [inputBytes, filterBytes, outputBytes] = bytes as [number, number, number];
  const { buffer } = fakeSpan(inputBytes + filterBytes + outputBytes);
  const spans = isTogether
    ? {
        input: { buffer, byteOffset: 0, byteLength: inputBytes },
        filter: { buffer, byteOffset: inputBytes, byteLength: filterBytes },
        output: { buffer, byteOffset: inputBytes + filterBytes, byteLength: outputBytes },
      }
    : { input: fakeSpan(inputBytes), filter: fakeSpan(filterBytes), output: fakeSpan(outputBytes) };
  const recorder = new PlanRecorder({ ...traits, maxBufferBytes: 2 ** 40 });
  planConv2d(
    {
      ...spans,
      ...shape,
      dtype: conv.dtype ?? 'f32',
      operands: [],
      opName: 'conv2dForward',
      transposed: false,
      epilogue: undefined,
    },
    recorder,
  );
  return recorder;
}

const kernelOf = (traits: DeviceTraits, conv: Conv2dCase): string => planned(traits, conv).kernelNames.join();

describe('the variant', () => {
  const resnet: Conv2dCase = { input: [16, 64, 56, 56], filter: [64, 3, 3], padding: [1, 1] };

  it.each([
    ['one filter block of 64', resnet, 'implicit-gemm 64x128x8 8x8 sets whole'],
    ['many filters', { input: [16, 256, 28, 28], filter: [512, 1, 1] }, 'implicit-gemm 128x128x8 8x8 none whole'],
    ['odd sizes', { input: [16, 3, 224, 224], filter: [64, 7, 7], padding: [3, 3] }, 'implicit-gemm 64x128x8 8x8 sets'],
    [
      'a large filter',
      { input: [16, 64, 56, 56], filter: [64, 17, 3], padding: [8, 1] },
      'implicit-gemm 64x128x8 8x8 coordinates',
    ],
    ['depthwise', { input: [1, 96, 56, 56], filter: [96, 3, 3], groups: 96 }, 'depthwise 8 3x3 stride 1'],
    ['depthwise, few rows', { input: [1, 96, 9, 9], filter: [96, 5, 5], groups: 96 }, 'depthwise 4 5x5 stride 1'],
    [
      'depthwise, stride 2',
      { input: [1, 96, 56, 56], filter: [96, 3, 3], groups: 96, stride: [2, 2] },
      'depthwise 4 3x3 stride 2',
    ],
    ['depthwise, dilated', { input: [1, 96, 56, 56], filter: [96, 3, 3], groups: 96, dilation: [2, 2] }, 'direct 1x4'],
    [
      'padding at the bottom alone',
      { input: [16, 64, 57, 58], filter: [64, 3, 3], padding: [0, 0, 1, 0] },
      'implicit-gemm 64x128x8 8x8 sets whole',
    ],
    [
      'padding at the right alone',
      { input: [16, 64, 58, 57], filter: [64, 3, 3], padding: [0, 0, 0, 1] },
      'implicit-gemm 64x128x8 8x8 sets whole',
    ],
    ['no padding', { input: [16, 64, 58, 58], filter: [64, 3, 3] }, 'implicit-gemm 64x128x8 8x8 none whole'],
    ['few filters per group', { input: [1, 96, 56, 56], filter: [192, 3, 3], groups: 48 }, 'direct 4x4 sliding'],
  ] as const)('of a GPU: %s', (_, conv, name) => {
    expect(kernelOf(TEST_DEVICES.gpu, conv)).toBe(`conv2d/${name}`);
  });

  it.each([
    ['equal stride and dilation', resnet, 'direct 8x8 sliding'],
    ['different ones', { ...resnet, stride: [1, 2] }, 'direct 8x8'],
    ['one tap in a row', { input: [1, 64, 56, 56], filter: [64, 1, 1] }, 'direct 8x8'],
    ['one column', { input: [4, 64, 7, 7], filter: [64, 7, 7] }, 'direct 8x1'],
    ['depthwise', { input: [1, 96, 56, 56], filter: [96, 3, 3], groups: 96 }, 'direct 1x8 sliding'],
  ] as const)('of a software device: %s', (_, conv, name) => {
    expect(kernelOf(TEST_DEVICES.swiftshader, conv)).toBe(`conv2d/${name}`);
  });
});

it('little work is split along the taps, on a GPU', () => {
  const few: Conv2dCase = { input: [16, 256, 14, 14], filter: [256, 3, 3], padding: [1, 1] };
  const { kernelNames, launches, scratches } = planned(TEST_DEVICES.gpu, few);
  expect(kernelNames).toEqual(['conv2d/implicit-gemm 128x64x8 8x8 sets whole', 'conv2d/add-splits']);
  // 2 x 49 tiles, four times.
  expect(launches[0]).toMatchObject({ groups: 392, variant: 'conv2d/implicit-gemm-128x64x8' });
  expect(launches[0]?.uniforms).toMatchObject({ depth: 576, output_split: 802_816, accumulate: 0 });
  expect(launches[1]?.uniforms).toMatchObject({ splits: 4, entries: 802_816 });
  expect(scratches.map(({ byteLength }) => byteLength)).toEqual([4 * 4 * 802_816]);
});

it('inputs in the buffer of the output are copied', () => {
  const { copies } = planned(TEST_DEVICES.gpu, { input: [1, 3, 9, 9], filter: [4, 3, 3] }, true);
  expect(copies).toHaveLength(2);
});

it('a software device gets no more channels than its loops have iterations for', () => {
  const { launches } = planned(TEST_DEVICES.lavapipe, { input: [1, 8000, 3, 3], filter: [8, 3, 3] });
  // 3 + 3 (3 + 2) iterations a channel.
  expect(launches.map(({ uniforms }) => uniforms['channels'])).toEqual([3640, 3640, 720]);
  expect(launches.map(({ uniforms }) => uniforms['accumulate'])).toEqual([0, 1, 1]);
  expect(planned(TEST_DEVICES.gpu, { input: [1, 8000, 3, 3], filter: [8, 3, 3] }).launches).toHaveLength(1);
});

describe('refuses', () => {
  const refusal = (traits: DeviceTraits, conv: Conv2dCase): string => {
    try {
      planned(traits, conv);
    } catch (error) {
      if (isBackendError(error, 'UNSUPPORTED')) return error.detail;
      throw error;
    }
    return 'nothing';
  };

  it('coordinates that are not told apart modulo 2^32, and no others', () => {
    const conv = (pad: number): Conv2dCase => ({
      input: [1, 1, 8, 8],
      filter: [9, 1, 1],
      stride: [2 ** 31, 1],
      padding: [pad, 0],
    });
    expect(refusal(TEST_DEVICES.gpu, conv(2 ** 32 - 8))).toBe('nothing');
    expect(refusal(TEST_DEVICES.gpu, conv(2 ** 32 - 7))).toBe(
      'height 8 with padding 4294967289 exceeds 2^32, the range of coordinates',
    );
    const [launch] = planned(TEST_DEVICES.gpu, {
      ...conv(0),
      stride: [2 ** 33 + 5, 1],
      dilation: [2 ** 40, 1],
    }).launches;
    expect(launch?.uniforms).toMatchObject({ stride_h: 5, dilation_h: 0 });
  });

  it('a plane that does not fit a binding, and a filter of too many taps for a software device', () => {
    const plane: Conv2dCase = { input: [1, 1, 20, 20], filter: [1, 3, 3] };
    expect(refusal(TEST_DEVICES.tiny, plane)).toMatch(
      /^an input plane needs a binding of 1600 bytes, this device binds/,
    );
    const large: Conv2dCase = { input: [1, 1, 300, 300], filter: [9, 256, 256] };
    expect(refusal(TEST_DEVICES.lavapipe, large)).toBe('a 256 x 256 filter is too large for a software device');
    expect(refusal(TEST_DEVICES.gpu, large)).toBe('nothing');
  });
});

describe('f16', () => {
  const plain: Conv2dCase = { input: [16, 64, 56, 56], filter: [64, 3, 3], padding: [1, 1], dtype: 'f16' };

  it.each([
    ['filters of one tap', { ...plain, filter: [256, 1, 1], padding: [0, 0] }, /^gemm\/matrix f16 NN 64x64x32 /],
    [
      'one tap, rows that are no vectors',
      { ...plain, input: [16, 64, 7, 7], filter: [64, 1, 1], padding: [0, 0] },
      /^conv2d\/matrix f16 [^,]* vectors inside$/,
    ],
    ['many taps', plain, /^conv2d\/matrix f16 64x64x32 32x32 full vectors wide$/],
    [
      'many taps and little work',
      { ...plain, input: [16, 256, 14, 14], filter: [256, 3, 3] },
      /^conv2d\/matrix f32 128x128x32 64x64 full vectors wide,gemm\/finish f16$/,
    ],
    [
      'filters that are no vectors',
      { ...plain, input: [16, 3, 224, 224], filter: [64, 7, 7], padding: [3, 3], stride: [2, 2] },
      /^conv2d\/matrix f16 64x128x32 32x32 edges wide$/,
    ],
    ['few filters', { ...plain, filter: [8, 3, 3] }, /conv2d\/direct/],
    ['large filters', { ...plain, filter: [64, 17, 3], padding: [8, 1] }, /implicit-gemm/],
  ] as const)('on matrix units: %s', (_, conv, names) => {
    expect(kernelOf(TEST_DEVICES.gpu, conv)).toMatch(names);
  });

  it('by float32 copies on other devices, and in pieces', () => {
    expect(kernelOf({ ...TEST_DEVICES.gpu, matrixUnits: [] }, plain)).toMatch(/^map .*implicit-gemm/);
    expect(kernelOf({ ...TEST_DEVICES.gpu, maxBindingBytes: 2 ** 23 }, plain)).toMatch(/^map .*implicit-gemm/);
  });

  it('copies an input in the memory of the output', () => {
    expect(planned(TEST_DEVICES.gpu, plain, true).copies).toHaveLength(2);
  });
});
