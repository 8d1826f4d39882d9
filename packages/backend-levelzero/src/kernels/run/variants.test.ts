import { checkedRun, defineKernel, type Kernel, type RunLayout, type RunShape } from '@concord/backend-core/kernel';
import type { StoredElements } from '@concord/backend-cpu/reference';
import { describe, expect, it } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { elements, runOnDevice } from '../../../test/support/run-on-device.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceTraits } from '../recorder.ts';

// Which kernels run depends on the device, the shape and how operands lie. Here each runs on the device at hand.

const client = opened(() => LevelZeroClient.open());

const DEVICES: readonly (readonly [string, Partial<DeviceTraits>])[] = [
  ['a CPU', { isCpuLike: true, computeUnits: 2 }],
  ['a large CPU', { isCpuLike: true, computeUnits: 64 }],
  ['a small GPU', { isCpuLike: false, computeUnits: 1 }],
  ['a large GPU', { isCpuLike: false, computeUnits: 64 }],
  ['a GPU without sub-groups', { isCpuLike: false, computeUnits: 4, subgroupSizes: [] }],
  ['a GPU with short grids', { isCpuLike: false, computeUnits: 4, maxGroups: [3, 65_535, 65_535] }],
  ['a GPU so slow that it has work in pieces', { isCpuLike: false, computeUnits: 1e-6 }],
];

const normalize = defineKernel(
  'normalize',
  { inputs: { x: 'f32', weight: 'f32', shift: { type: 'f32', level: 'row' } }, params: { eps: 'f32' } },
  ({ x, weight, shift, eps }, k) => {
    const centred = k.sub(x, k.fold('mean', x));
    const variance = k.fold('mean', k.mul(centred, centred));
    const y = k.add(k.mul(k.mul(centred, k.rsqrt(k.add(variance, eps))), weight), shift);
    return { y, variance, positive: k.fold('count', k.gt(x, 0)) };
  },
) as unknown as Kernel;

const places = defineKernel('places', { inputs: { x: 'f32', n: 'i32' } }, ({ x, n }, k) => ({
  most: k.fold('argmax', x),
  least: k.fold('argmin', x),
  sum: k.fold('sum', n),
  product: k.fold('product', n),
  each: k.add(n, k.toI32(k.add(k.mul(k.index(0), 1000), k.index(-1)))),
})) as unknown as Kernel;

/** Scans after a fold, beside one and alone, of both kinds. */
const scanning = (reverse: boolean): Kernel =>
  defineKernel(reverse ? 'from the end' : 'running', { inputs: { x: 'f32', n: 'i32' } }, ({ x, n }, k) => ({
    y: k.scan('sum', k.sub(x, k.fold('max', x)), { reverse }),
    each: k.sub(k.scan('sum', n, { exclusive: true, reverse }), k.toI32(k.index(-1))),
    least: k.scan('min', x, { reverse }),
    place: k.fold('argmin', x),
  }));
const [running, fromTheEnd] = [scanning(false), scanning(true)];

const points = defineKernel('points', { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({
  sum: k.add(a, b),
  less: k.select(k.lt(a, b), a, b),
})) as unknown as Kernel;

const rows = defineKernel('rows', { inputs: { x: 'f32', r: { type: 'f32', level: 'row' } } }, ({ x, r }, k) => ({
  y: k.mul(x, r),
  z: k.add(r, k.toF32(k.rowIndex(-1))),
})) as unknown as Kernel;

const table = defineKernel(
  'table',
  { inputs: { t: { type: 'f32', access: 'gather', rank: 2 }, ids: 'u32' } },
  ({ t, ids }, k) => ({
    along: k.gather(t, [ids, k.index(-1)], -7),
    across: k.gather(t, [k.sub(k.toI32(k.index(-1)), 2), k.toI32(ids)], 5),
  }),
) as unknown as Kernel;

type Call = Omit<RunShape, 'kernel'>;

/** Row-major strides of axes in another order, `gap` elements after each. */
function stridesBy(shape: readonly number[], order: readonly number[], gap = 0): readonly number[] {
  const strides = shape.map(() => 0);
  let step = 1;
  for (const axis of [...order].reverse()) {
    strides[axis] = step;
    step = step * (shape[axis] as number) + gap;
  }
  return strides;
}

const columns = (shape: readonly number[]): readonly number[] => stridesBy(shape, [1, 0]);

/** A call, and for each output the input that it is in the place of. */
type Case = readonly [Kernel, string, Call, inPlaceOf?: readonly number[]];

const CASES: readonly Case[] = [
  ...(
    [
      [3, 5],
      [2, 16],
      [33, 64],
      [7, 129],
      [5, 1000],
      [2, 5000],
      [1, 70_001],
      [70, 4],
      [4, 1],
    ] as const
  ).flatMap((shape): (readonly [Kernel, string, Call])[] => [
    [normalize, 'rows', { shape, folded: 1, inputs: { weight: { strides: [0, 1] } } }],
    [places, 'rows', { shape, folded: 1 }],
    ...[running, fromTheEnd].flatMap((kernel): (readonly [Kernel, string, Call])[] => {
      const strides = columns(shape);
      const across = { inputs: { x: { strides }, n: { strides } }, outputs: { y: { strides }, each: { strides } } };
      return [
        [kernel, 'rows', { shape, folded: 1 }],
        [kernel, 'columns', { shape, folded: 1, ...across }],
      ];
    }),
    [
      places,
      'columns',
      {
        shape,
        folded: 1,
        inputs: { x: { strides: columns(shape) }, n: { strides: columns(shape) } },
        outputs: { each: { strides: columns(shape) } },
      },
    ],
    [
      normalize,
      'narrow columns',
      {
        shape,
        folded: 1,
        inputs: { x: { strides: columns(shape), dtype: 'f16' }, weight: { strides: [0, 1], dtype: 'bf16' } },
        outputs: { y: { strides: columns(shape), dtype: 'bf16' } },
      },
    ],
  ]),
  ...[40, 1000, 70_001].map((length): Case => [
    normalize,
    'rows in place',
    { shape: [2, length], folded: 1, inputs: { weight: { strides: [0, 1] } } },
    [0],
  ]),
  [points, 'flat in place', { shape: [5003] }, [1, 0]],
  [normalize, 'two folded axes', { shape: [6, 5, 37], folded: 2, inputs: { x: { strides: [37, 222, 1] } } }],
  [fromTheEnd, 'two folded axes', { shape: [6, 9, 33], folded: 2, inputs: { x: { strides: [33, 198, 1] } } }],
  [places, 'two folded axes', { shape: [6, 9, 33], folded: 2, inputs: { x: { strides: [33, 198, 1] } } }],
  [places, 'an empty row', { shape: [5, 0], folded: 1 }],
  [points, 'flat', { shape: [20_011] }],
  [points, 'flat halves', { shape: [4099], inputs: { a: { dtype: 'f16' }, b: { dtype: 'bf16' } } }],
  [points, 'to halves', { shape: [5, 819], outputs: { sum: { dtype: 'f16' }, less: { dtype: 'bf16' } } }],
  [
    points,
    'five axes, permuted, with gaps',
    {
      shape: [3, 4, 2, 5, 17],
      inputs: { a: { strides: stridesBy([3, 4, 2, 5, 17], [4, 1, 0, 3, 2]) }, b: { strides: [0, 1, 0, 4, 20] } },
      outputs: { sum: { strides: stridesBy([3, 4, 2, 5, 17], [0, 1, 2, 3, 4], 3) } },
    },
  ],
  [
    points,
    'transposed',
    { shape: [70, 130], inputs: { a: { strides: [1, 70] } }, outputs: { less: { strides: [1, 70] } } },
  ],
  [rows, 'rows without folds', { shape: [3, 7, 33], folded: 1, inputs: { r: { strides: [0, 1] } } }],
  [table, 'gathers', { shape: [37, 33], inputs: { t: { shape: [16, 40] }, ids: { strides: [1, 0], dtype: 'u8' } } }],
  [
    table,
    'gathers beyond the end',
    { shape: [19, 50], inputs: { t: { shape: [9, 23], strides: [25, 1], dtype: 'bf16' }, ids: { strides: [1, 0] } } },
  ],
  [table, 'gathers of nothing', { shape: [3, 18], inputs: { t: { shape: [0, 4] } } }],
];

/** Small numbers, half of them whole. */
function data(dtype: RunLayout['dtype'], length: number, seed: number): StoredElements {
  const values = elements(dtype, length);
  for (let i = 0; i < length; i++) {
    const random = Math.imul(i + seed, 0x9e3779b1) >>> 16;
    if (dtype === 'f16') values[i] = 0x3800 + (random % 0x900) + (random & 0x8000);
    else if (dtype === 'bf16') values[i] = 0x3f00 + (random % 0x120) + (random & 0x8000);
    else if (dtype === 'f32') values[i] = random % 2 === 0 ? (random % 17) - 8 : random / 4096 - 8;
    else values[i] = dtype.startsWith('u') ? random % 20 : (random % 19) - 9;
  }
  return values;
}

describe.each(DEVICES)('as on %s', (_, traits) => {
  it.each(
    CASES.map(
      ([kernel, how, call, inPlaceOf]) => [kernel.name, how, call.shape.join('x'), kernel, call, inPlaceOf] as const,
    ),
  )('%s by %s, %s', async (_name, _how, _shape, kernel, { inputs = {}, outputs = {}, ...domain }, inPlaceOf) => {
    const geometry = checkedRun(kernel, { ...domain, inputs, outputs });
    const values = geometry.inputs.map(
      ({ name, dtype, extent }, index) => [name, data(dtype, extent, 7 * index + 1)] as const,
    );
    const params = Object.fromEntries(kernel.params.map(({ name }) => [name, Math.fround(1e-3)]));
    const given = { inputs: Object.fromEntries(values), params };
    expect(await runOnDevice(client, geometry, given, traits, inPlaceOf)).toEqual([]);
  });
});
