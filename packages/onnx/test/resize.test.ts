import { it } from 'vitest';
import type { HostTensor } from '../src/graph/host-tensor.ts';
import { expectAsRuntime, expectRefused, Numbers, type OneNode } from './support/against-runtime.ts';
import { onBackends } from './support/backends.ts';
import { f32, type Given, i64 } from './support/write-model.ts';

const numbers = new Numbers(9);
const x = (dims: readonly number[]): HostTensor => numbers.tensor(dims);

type More = Readonly<Record<string, Given>>;

function toSize(dims: readonly number[], sizes: readonly number[], attributes: More, opset = 18): OneNode {
  const inputs = [x(dims), undefined, undefined, i64([sizes.length], sizes)];
  return { op: 'Resize', inputs, constant: [3], attributes, opset };
}

function byScales(dims: readonly number[], scales: readonly number[], attributes: More, opset = 13): OneNode {
  const list = f32([scales.length], scales);
  return opset < 11
    ? { op: 'Resize', inputs: [x(dims), list], constant: [1], attributes, opset }
    : { op: 'Resize', inputs: [x(dims), undefined, list], constant: [2], attributes, opset };
}

const HOW = [
  ...['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric', 'half_pixel_symmetric'],
  'tf_half_pixel_for_nn',
];
const NEAREST = ['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'];
const SIZES: readonly (readonly number[])[] = [
  [1, 2, 9, 4],
  [1, 2, 3, 11],
];

const ALL: readonly (readonly [string, OneNode])[] = HOW.flatMap((how) => {
  const attributes = { coordinate_transformation_mode: how };
  const opset = how === 'tf_half_pixel_for_nn' ? 11 : how === 'half_pixel_symmetric' ? 19 : 13;
  const of = (mode: string, more: More = {}): OneNode[] =>
    SIZES.map((sizes) => {
      const old = opset === 11 ? [f32([0], [])] : [undefined];
      const one = toSize([1, 2, 6, 7], sizes, { ...attributes, mode, ...more }, opset);
      return {
        ...one,
        inputs: [one.inputs[0], ...(opset === 11 ? [f32([0], []), ...old] : [undefined, undefined]), one.inputs[3]],
      };
    });
  return [
    ...NEAREST.flatMap((nearest) =>
      of('nearest', { nearest_mode: nearest }).map((one, i) => [`nearest ${how} ${nearest} ${i}`, one] as const),
    ),
    ...of('linear').map((one, i) => [`linear ${how} ${i}`, one] as const),
    ...of('cubic').map((one, i) => [`cubic ${how} ${i}`, one] as const),
    ...of('cubic', { cubic_coeff_a: -0.5, exclude_outside: 1 }).map(
      (one, i) => [`cubic ${how} -0.5 ${i}`, one] as const,
    ),
  ];
});

const OTHERS: Readonly<Record<string, OneNode>> = {
  'by scales, linear': byScales([2, 1, 5, 6], [1, 1, 1.7, 0.6], { mode: 'linear' }),
  'by scales, nearest, in 3 axes': byScales([1, 2, 3, 4, 2], [1, 1, 2, 2, 3], {
    mode: 'nearest',
    nearest_mode: 'floor',
  }),
  'by scales, linear, in 3 axes': byScales([1, 2, 3, 4, 2], [1, 1, 2, 2, 3], { mode: 'linear' }),
  'by scales, linear, in one axis': byScales([2, 3, 8], [1, 1, 2.5], { mode: 'linear' }),
  'by whole scales, nearest': byScales([1, 2, 3, 4], [1, 1, 2, 3], {
    ...{ mode: 'nearest', nearest_mode: 'floor', coordinate_transformation_mode: 'asymmetric' },
  }),
  'a part, all outside': {
    op: 'Resize',
    inputs: [x([1, 1, 4, 4]), f32([8], [0, 0, 1.5, 0, 1, 1, 1.8, 1]), undefined, i64([4], [1, 1, 3, 3])],
    constant: [1, 3],
    attributes: { mode: 'linear', coordinate_transformation_mode: 'tf_crop_and_resize', extrapolation_value: { f: 7 } },
    opset: 13,
  },
  'of named axes': toSize([1, 2, 5, 6], [10, 4], { mode: 'linear', axes: [2, 3] }),
  'not larger': toSize([1, 2, 5, 6], [10, 9], { mode: 'linear', axes: [2, 3], keep_aspect_ratio_policy: 'not_larger' }),
  'not smaller': toSize([1, 2, 5, 6], [10, 9], {
    mode: 'linear',
    axes: [2, 3],
    keep_aspect_ratio_policy: 'not_smaller',
  }),
  'of operator set 10, longer': byScales([1, 2, 5, 6], [1, 1, 2.3, 1.5], { mode: 'nearest' }, 10),
  'of operator set 10, shorter': byScales([1, 2, 5, 6], [1, 1, 0.6, 0.5], { mode: 'nearest' }, 10),
  'of operator set 10, linear': byScales([1, 2, 5, 6], [1, 1, 2, 1.5], { mode: 'linear' }, 10),
  'a part, linear': {
    op: 'Resize',
    inputs: [x([1, 1, 6, 7]), f32([8], [0, 0, 0.3, -0.2, 1, 1, 0.8, 1.3]), undefined, i64([4], [1, 1, 5, 6])],
    constant: [1, 3],
    attributes: { mode: 'linear', coordinate_transformation_mode: 'tf_crop_and_resize', extrapolation_value: { f: 7 } },
    opset: 13,
  },
  'a part, nearest': {
    op: 'Resize',
    inputs: [x([1, 1, 6, 7]), f32([8], [0, 0, 0.3, -0.2, 1, 1, 0.8, 1.3]), undefined, i64([4], [1, 1, 5, 6])],
    constant: [1, 3],
    attributes: {
      mode: 'nearest',
      coordinate_transformation_mode: 'tf_crop_and_resize',
      extrapolation_value: { f: 7 },
    },
    opset: 13,
  },
  'linear, antialias': toSize([1, 2, 9, 13], [1, 2, 4, 5], { mode: 'linear', antialias: 1 }),
  'linear, antialias, far': toSize([1, 1, 64, 9], [1, 1, 5, 9], { mode: 'linear', antialias: 1 }),
  'cubic, antialias': toSize([1, 2, 9, 13], [1, 2, 4, 5], { mode: 'cubic', antialias: 1 }),
  'linear, antialias, one axis longer': toSize([1, 2, 9, 5], [1, 2, 4, 12], { mode: 'linear', antialias: 1 }),
};

const grid = (dims: readonly number[]): HostTensor => numbers.tensor(dims, 'float32', -1.6, 1.6);
const ROW: OneNode = {
  op: 'GridSample',
  inputs: [x([1, 2, 1, 3]), grid([1, 2, 3, 2])],
  attributes: { mode: 'linear', padding_mode: 'reflection', align_corners: 1 },
  opset: 20,
};
const SAMPLES = ['linear', 'nearest', 'cubic'].flatMap((mode) =>
  ['zeros', 'border', 'reflection'].flatMap((padding) =>
    [0, 1].map((corners): readonly [string, OneNode] => [
      `${mode} ${padding} ${corners}`,
      {
        op: 'GridSample',
        inputs: [x([2, 3, 5, 4]), grid([2, 6, 3, 2])],
        attributes: { mode, padding_mode: padding, align_corners: corners },
        opset: 20,
      },
    ]),
  ),
);

onBackends('Resize', (backend) => {
  it.each(ALL)('%s', (_, given) => expectAsRuntime(backend(), given));
  it.each(Object.entries(OTHERS))('%s', (_, given) => expectAsRuntime(backend(), given));
  it.each([...SAMPLES, ['of one row', ROW] as const])('GridSample %s', (_, given) => expectAsRuntime(backend(), given));

  it('refuses a grid of 3 axes', () => {
    const inputs = [x([1, 1, 2, 2, 2]), grid([1, 2, 2, 2, 3])];
    return expectRefused(backend(), { op: 'GridSample', inputs, opset: 20 }, 'UNSUPPORTED', /GridSample/);
  });
});
