import { describe, expect, it } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { checkConv2d, type Conv2dCase } from '../../../../backend-cpu/test/op-memory.ts';
import { memoryOf, pretending } from '../../../test/support/device-values.ts';
import { emulatingUnits } from '../../../test/support/emulated-units.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import { bindingSlack } from '../operands.ts';
import type { DeviceTraits } from '../recorder.ts';
import { conv2dTables, halvesTables, planConv2d } from './plan.ts';
import type { Conv2dShape, Variant } from './windows.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

const client = opened(() => WebGpuClient.open());

/** A variant by id, from what a GPU, or a software device, has for a shape. */
function variantOf(id: string, shape: Conv2dShape, traits: DeviceTraits): Variant | undefined {
  return [false, true]
    .flatMap((isSoftware) => conv2dTables.question(shape, { ...traits, isSoftware }).candidates)
    .find((variant) => variant.id === id);
}

/** A convolution by one variant, where it is a candidate; how many windows it took. */
async function check(
  id: string,
  conv: Conv2dCase,
  { splits = 1, ...changed }: Partial<DeviceTraits> & { readonly splits?: number } = {},
): Promise<number> {
  let windows = 0;
  await checkConv2d(memoryOf(client), conv, (call) =>
    client.record('conv2d', (recorder) =>
      planConv2d(call, pretending(recorder, changed), (of) => {
        windows++;
        const variant = variantOf(id, of, recorder.traits);
        if (variant === undefined) throw new Error(`${id} is no candidate`);
        return { ...variant, splits };
      }),
    ),
  );
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
    const conv: Conv2dCase = { input: [2, 32, 9, 11], filter: [9, 3, 3] };
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
    const conv: Conv2dCase = { input: [2, 40, 9, 9], filter: [6, 3, 3], padding: [1, 1] };
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

describe.each(conv2dTables.ids.filter((id) => id.startsWith('conv2d/depthwise')))('%s', (id) => {
  it.each([3, 5])('each channel by itself, filters of %i', async (extent) => {
    const filter = [6, extent, extent] as const;
    await check(id, { input: [2, 6, 19, 11], filter, groups: 6, padding: [1, 1] });
    await check(id, { input: [2, 6, 12, 9], filter, groups: 6, padding: [extent, 0, 1, 2], stride: [2, 2] });
    await check(id, { input: [1, 6, extent, 40], filter, groups: 6 });
  });

  it('in windows', async () => {
    const maxBindingBytes = 1024 + bindingSlack(client.traits.storageAlignment);
    const conv: Conv2dCase = { input: [2, 5, 9, 9], filter: [5, 3, 3], groups: 5, padding: [1, 1] };
    expect(await check(id, conv, { maxBindingBytes })).toBeGreaterThan(2);
  });
});

describe.each(halvesTables.ids)('%s, emulated', (id) => {
  /** A convolution of f16 by one variant: the names of its kernels. */
  async function check(conv: Conv2dCase, traits: Partial<DeviceTraits> = {}, lead = 0): Promise<string> {
    const names: string[] = [];
    const preferences = { forced: [id], tuned: {} };
    await checkConv2d(
      memoryOf(client),
      { ...conv, dtype: 'f16' },
      (call) =>
        client.record('conv2d', (recorder) => {
          const emulating = emulatingUnits(recorder, { preferences, ...traits });
          const launch: typeof emulating.launch = (given) => {
            names.push(given.kernel.name);
            emulating.launch(given);
          };
          planConv2d(call, { ...emulating, launch });
        }),
      { lead },
    );
    expect(names[0]).toMatch(/^conv2d\/matrix /);
    return names.join();
  }

  it('whole tiles, without padding', async () => {
    expect(await check({ input: [2, 32, 6, 6], filter: [128, 1, 1] })).toMatch(/full vectors wide inside/);
  });

  it('padding, strides, dilations, odd sizes', async () => {
    const padded: Conv2dCase = { input: [2, 8, 9, 7], filter: [70, 3, 3], padding: [1, 1] };
    expect(await check(padded)).toMatch(/edges vectors( clamped)?$/);
    const odd: Conv2dCase = { input: [1, 3, 17, 13], filter: [9, 3, 2], stride: [2, 3], padding: [2, 1, 0, 1] };
    expect(await check(odd, {}, 1)).toMatch(/edges( clamped)?$/);
    await check({ ...odd, stride: [1, 1], dilation: [2, 3] }, {}, 1);
  });

  // Large ones take software devices seconds to compile.
  if (id.includes('128x128')) return;

  it('groups, taps split into ranges', async () => {
    const groups: Conv2dCase = { input: [2, 48, 6, 8], filter: [40, 3, 3], padding: [1, 1], groups: 2 };
    expect(await check(groups)).toMatch(/edges vectors wide$/);
    const deep: Conv2dCase = { input: [1, 64, 5, 5], filter: [16, 3, 3], padding: [1, 1] };
    expect(await check(deep, {}, 2)).toMatch(/f32 .*,gemm\/finish f16/);
  });

  it('without a read beyond a binding', async () => {
    const few: Conv2dCase = { input: [1, 32, 5, 5], filter: [16, 1, 1], stride: [2, 2] };
    expect(await check(few, { checksBounds: false })).toMatch(/edges vectors inside clamped$/);
  });
});
