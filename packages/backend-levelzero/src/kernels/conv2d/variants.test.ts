import { describe, expect, it } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { checkConv2d, conv2dCall, type Conv2dCase } from '../../../../backend-cpu/test/op-memory.ts';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { memoryOf } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceTraits } from '../recorder.ts';
import { conv2dTables, planConv2d } from './plan.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

const client = opened(() => LevelZeroClient.open());

type Choose = NonNullable<Parameters<typeof planConv2d>[2]>;
type Options = { readonly specials?: boolean; readonly traits?: Partial<DeviceTraits> };

/** A convolution by one variant, one element into its memory. */
const check = (conv: Conv2dCase, choose?: Choose, { specials = false, traits = {} }: Options = {}): Promise<void> =>
  checkConv2d(
    memoryOf(client),
    conv,
    (call) => client.record('conv2d', (recorder) => planConv2d(call, withTraits(recorder, traits), choose)),
    { specials, lead: 1 },
  );

/** Odd sizes, windows of all kinds, and more than one tile of everything. */
const SHAPES: readonly Conv2dCase[] = [
  { input: [1, 1, 1, 1], filter: [1, 1, 1] },
  { input: [2, 3, 7, 9], filter: [4, 3, 3], padding: [1, 1] },
  { input: [1, 2, 12, 9], filter: [3, 3, 3], stride: [3, 1] },
  { input: [2, 2, 13, 14], filter: [4, 3, 2], dilation: [3, 2], padding: [3, 1], stride: [2, 3] },
  { input: [1, 9, 5, 4], filter: [3, 2, 2], groups: 3, dilation: [2, 1], padding: [1, 1] },
  { input: [3, 1, 2, 2], filter: [2, 3, 3], padding: [3, 3] },
  { input: [2, 8, 20, 70], filter: [17, 3, 3] },
  { input: [2, 12, 20, 21], filter: [27, 2, 3], padding: [1, 2], groups: 3, stride: [1, 2] },
  { input: [1, 3, 32, 33], filter: [24, 8, 8], stride: [8, 8], padding: [0, 4] },
  { input: [1, 20, 9, 9], filter: [130, 3, 3], padding: [1, 1] },
  { input: [5, 4, 30, 31], filter: [8, 3, 3], groups: 4, padding: [1, 1], dilation: [2, 2] },
];

describe.each(conv2dTables.ids)('%s', (id) => {
  const choose: Choose = () => ({ id });

  it.each(SHAPES)('%j', (conv) => check(conv, choose));
  it('NaN and infinities of the input reach the outputs whose window holds them, and no other', async () => {
    for (const conv of SHAPES.slice(1, 8)) await check(conv, choose, { specials: true });
  });
});

describe('wide, in pieces', () => {
  const cpu = { isCpuLike: true };

  it.each([
    ['some images', { input: [5, 4, 12, 12], filter: [8, 3, 3], padding: [1, 1] }, 2 * 4 * 4 * 14 * 14],
    [
      'one group of channels',
      { input: [2, 6, 12, 12], filter: [12, 3, 3], padding: [1, 1], groups: 3 },
      4 * 2 * 14 * 14,
    ],
    ['some rows', { input: [2, 3, 40, 17], filter: [9, 3, 3], padding: [1, 1], stride: [2, 1] }, 6000],
    ['one row', { input: [2, 3, 9, 40], filter: [9, 3, 3], padding: [1, 1] }, 4 * 3 * 3 * 42],
  ] as const)('of %s', async (_, conv, bytes) => {
    const traits = { ...cpu, maxAllocationBytes: bytes + 4 * 64 };
    const { preferred } = conv2dTables.question(conv2dCall(conv), { ...client.traits, ...traits });
    expect(preferred.id).toMatch(/wide/);
    await check(conv, undefined, { traits });
  });

  it('the input where it lies, without reading beyond it', () =>
    check({ input: [3, 5, 14, 14], filter: [9, 1, 1] }, undefined, { traits: cpu }));
});

it.each(conv2dTables.ids)('%s in grids of few columns', async (id) => {
  for (const conv of SHAPES.slice(1, 8)) await check(conv, () => ({ id }), { traits: { maxGroups: [7, 65_535, 1] } });
});
