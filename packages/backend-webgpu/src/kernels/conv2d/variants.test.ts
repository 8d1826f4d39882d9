import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { conv2dReference } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Conv, shapeOf } from '../../../test/support/conv2d-shape.ts';
import { download, integers, pretending, upload } from '../../../test/support/device-values.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import { bindingSlack } from '../operands.ts';
import type { DeviceTraits, StorageBuffer } from '../recorder.ts';
import { conv2dTables, planConv2d } from './plan.ts';
import type { Conv2dShape, Variant } from './table.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

let client: WebGpuClient;
beforeAll(async () => {
  client = await WebGpuClient.open();
});
afterAll(() => client.dispose());

function product(shape: readonly number[]): number {
  return shape.reduce((x, y) => x * y, 1);
}

/** A variant by id, from what a GPU, or a software device, has for a shape. */
function variantOf(id: string, shape: Conv2dShape, traits: DeviceTraits): Variant | undefined {
  return [false, true]
    .flatMap((isSoftware) => conv2dTables.question(shape, { ...traits, isSoftware }).candidates)
    .find((variant) => variant.id === id);
}

/** A convolution by one variant, where it is a candidate, compared with the oracle; how many windows it took. */
async function check(
  id: string,
  conv: Conv,
  { splits = 1, ...changed }: Partial<DeviceTraits> & { readonly splits?: number } = {},
): Promise<number> {
  const shape = shapeOf(conv);
  const { inputShape, filterShape, outputShape } = shape;
  const values = [integers(product(inputShape), 1), integers(product(filterShape), 4)] as const;
  const operands = {
    input: upload(client, values[0]),
    filter: upload(client, values[1]),
    output: upload(client, integers(product(outputShape), 2)),
  };
  const rest = { opName: 'conv2dForward', dtype: 'f32', operands: [], epilogue: undefined } as const;
  const call: ResolvedConv2d<StorageBuffer> = { ...rest, ...shape, ...operands };
  let windows = 0;
  client.record('conv2d', (recorder) => {
    planConv2d(call, pretending(recorder, changed), (of) => {
      windows++;
      const variant = variantOf(id, of, recorder.traits);
      if (variant === undefined) throw new Error(`${id} is no candidate`);
      return { ...variant, splits };
    });
  });
  const got = await download(client, operands.output);
  for (const { buffer } of Object.values(operands)) client.deallocate(buffer.id);

  const { value } = conv2dReference(shape, ...values);
  const wrong = got.flatMap((x, i) => (x === value[i] ? [] : [{ index: i, got: x, want: value[i] }]));
  expect(wrong.slice(0, 3)).toEqual([]);
  return windows;
}

describe.each(conv2dTables.ids.filter((id) => id.startsWith('conv2d/implicit-gemm')))('%s', (id) => {
  it('whole tiles', async () => {
    await check(id, { input: [2, 16, 16, 16], filter: [128, 1, 1] });
  });

  it('padding, a whole number of steps', async () => {
    await check(id, { input: [2, 16, 9, 9], filter: [70, 3, 3], padding: [1, 1] });
  });

  it('no padding, a whole number of steps, strides and dilations', async () => {
    const conv: Conv = { input: [2, 32, 9, 11], filter: [9, 3, 3] };
    await check(id, conv);
    for (const pair of [
      [1, 2],
      [2, 1],
    ] as const) {
      await check(id, { ...conv, stride: pair });
      await check(id, { ...conv, dilation: pair });
      await check(id, { ...conv, groups: 2, filter: [10, 3, 2], dilation: pair });
    }
  });

  it('padding, and odd sizes', async () => {
    await check(id, { input: [3, 5, 7, 9], filter: [67, 3, 3], padding: [1, 2] });
    await check(id, { input: [1, 1, 2, 3], filter: [2, 4, 4], padding: [3, 4] });
  });

  it('strides and dilations', async () => {
    await check(id, { input: [2, 9, 17, 13], filter: [9, 3, 2], stride: [2, 3], padding: [1, 1] });
    await check(id, { input: [1, 3, 15, 15], filter: [70, 3, 3], dilation: [2, 3], padding: [2, 4] });
    await check(id, { input: [2, 40, 8, 8], filter: [33, 1, 1], stride: [2, 2] });
  });

  it('groups', async () => {
    await check(id, { input: [2, 15, 6, 7], filter: [27, 3, 3], padding: [1, 1], groups: 3 });
  });

  it('filters larger than the sets of rows and columns', async () => {
    await check(id, { input: [1, 2, 18, 20], filter: [5, 15, 16], padding: [3, 3] });
    await check(id, { input: [1, 2, 18, 20], filter: [5, 16, 3], padding: [3, 1] });
    await check(id, { input: [1, 1, 9, 20], filter: [5, 2, 17], padding: [0, 9] });
  });

  it('without a read beyond a binding', async () => {
    const traits = { checksBounds: false };
    await check(id, { input: [3, 5, 7, 9], filter: [67, 3, 3], padding: [1, 2] }, traits);
    await check(id, { input: [2, 16, 16, 16], filter: [128, 1, 1] }, traits);
    await check(id, { input: [1, 2, 18, 20], filter: [5, 16, 3], padding: [3, 1] }, traits);
  });

  it('split along the taps', async () => {
    await check(id, { input: [2, 24, 6, 7], filter: [40, 3, 3], padding: [1, 1] }, { splits: 3 });
    await check(id, { input: [2, 96, 5, 5], filter: [20, 1, 1], stride: [2, 1] }, { splits: 3 });
    await check(id, { input: [1, 14, 6, 7], filter: [20, 3, 3], groups: 2 }, { splits: 4 });
  });

  it('windows, with sums that go on', async () => {
    const maxBindingBytes = 2048 + bindingSlack(client.traits.storageAlignment);
    const conv: Conv = { input: [2, 40, 9, 9], filter: [6, 3, 3], padding: [1, 1] };
    expect(await check(id, conv, { maxBindingBytes })).toBeGreaterThan(2);
    expect(await check(id, conv, { maxBindingBytes: 4 * maxBindingBytes, splits: 2 })).toBeGreaterThan(2);
  });
});

describe.each(conv2dTables.ids.filter((id) => id.startsWith('conv2d/direct')))('%s', (id) => {
  // Which block is a candidate depends on the number of filters of a group, and on the width.
  const filters = id.includes('direct-1x') ? 1 : 4;
  const width = id.endsWith('x1') ? 1 : 7;

  it('padding, strides and dilations', async () => {
    await check(id, { input: [2, 3, 9, width], filter: [filters, 3, 1], padding: [2, 0], dilation: [2, 1] });
    await check(id, { input: [1, 2, 9, width], filter: [filters, 3, 1], stride: [2, 1] });
    if (width > 1) {
      await check(id, { input: [2, 3, 9, width], filter: [filters, 3, 3], padding: [1, 1] });
      await check(id, { input: [2, 3, 9, width], filter: [filters, 2, 3], padding: [0, 2], stride: [1, 2] });
    }
  });

  it('groups', async () => {
    await check(id, { input: [2, 6, 5, width], filter: [3 * filters, 2, 1], groups: 3 });
  });
});
