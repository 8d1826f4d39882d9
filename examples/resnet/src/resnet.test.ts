import { CpuBackend } from '@concord/backend-cpu';
import { memory } from '@concord/ops';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Architecture, blocksOf, parametersOf, RESNET_18 } from './architecture.ts';
import { compare } from './check.ts';
import { classify, noiseImages, untrainedWeights } from './resnet.ts';
import { seededNumbers } from './seeded-numbers.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const TINY: Architecture = { name: 'tiny', channels: [4, 6], blocks: 2, classes: 5 };

/** Channels of one image, each a row-major square. */
interface Planes {
  readonly values: readonly number[];
  readonly size: number;
}

interface Layer {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
  /** Width of the filters. */
  readonly width: number;
}

function convolve({ values, size }: Planes, { weight, bias, width }: Layer, stride: number, padding: number): Planes {
  const channels = values.length / size ** 2;
  const places = Math.floor((size + 2 * padding - width) / stride) + 1;
  const result: number[] = [];
  for (const [filter, start] of bias.entries())
    for (let row = 0; row < places; row++)
      for (let column = 0; column < places; column++) {
        let sum = start;
        for (let channel = 0; channel < channels; channel++)
          for (let i = 0; i < width; i++)
            for (let j = 0; j < width; j++) {
              const [y, x] = [row * stride + i - padding, column * stride + j - padding];
              if (y < 0 || x < 0 || y >= size || x >= size) continue;
              const at = ((filter * channels + channel) * width + i) * width + j;
              sum += (values[(channel * size + y) * size + x] as number) * (weight[at] as number);
            }
        result.push(sum);
      }
  return { values: result, size: places };
}

function pooled({ values, size }: Planes): Planes {
  const places = Math.floor((size - 1) / 2) + 1;
  const result: number[] = [];
  for (let channel = 0; channel < values.length / size ** 2; channel++)
    for (let row = 0; row < places; row++)
      for (let column = 0; column < places; column++) {
        let max = -Infinity;
        for (let y = Math.max(0, 2 * row - 1); y <= Math.min(size - 1, 2 * row + 1); y++)
          for (let x = Math.max(0, 2 * column - 1); x <= Math.min(size - 1, 2 * column + 1); x++)
            max = Math.max(max, values[(channel * size + y) * size + x] as number);
        result.push(max);
      }
  return { values: result, size: places };
}

const relu = ({ values, size }: Planes): Planes => ({ values: values.map((x) => Math.max(0, x)), size });

/** The network by plain loops in float64. */
function byLoops(architecture: Architecture, image: Planes): number[] {
  const made = new Map(
    parametersOf(architecture).map(({ name, shape, bound }, index) => {
      const length = shape.reduce((product, each) => product * each, 1);
      return [name, { shape, values: seededNumbers(length, { seed: index + 1, bound }) }];
    }),
  );
  const layer = (name: string): Layer => {
    const { shape = [], values = new Float32Array() } = made.get(`${name}.weight`) ?? {};
    return { weight: values, bias: made.get(`${name}.bias`)?.values ?? new Float32Array(), width: shape[3] ?? 1 };
  };
  let y = pooled(relu(convolve(image, layer('conv1'), 2, 3)));
  for (const { name, stride } of blocksOf(architecture)) {
    const shortcut = stride === 1 ? y : convolve(y, layer(`${name}.downsample`), stride, 0);
    const first = relu(convolve(y, layer(`${name}.conv1`), stride, 1));
    const { values, size } = convolve(first, layer(`${name}.conv2`), 1, 1);
    y = relu({ values: values.map((x, i) => x + (shortcut.values[i] as number)), size });
  }
  const area = y.size ** 2;
  const means = Array.from({ length: y.values.length / area }, (_, channel) =>
    y.values.slice(channel * area, (channel + 1) * area).reduce((sum, x) => sum + x / area, 0),
  );
  return convolve({ values: means, size: 1 }, layer('fc'), 1, 0).values.slice();
}

test('a tiny network gives what plain loops give, and leaves nothing behind', async () => {
  const before = memory();
  const size = 21;
  const weights = untrainedWeights(backend, TINY);
  using images = noiseImages(backend, 2, size);
  using scores = classify(TINY, weights, images);
  expect(scores.shape).toEqual([2, 5]);
  const got = await scores.toArray();
  const pixels = [...(await images.toArray())];
  const length = 3 * size ** 2;
  const want = [0, 1].flatMap((n) => byLoops(TINY, { values: pixels.slice(n * length, (n + 1) * length), size }));
  expect(compare(got, want)).toMatchObject({ passed: true, scores: 10 });
  for (const each of [...Object.values(weights), images, scores]) each.dispose();
  expect(memory()).toEqual(before);
  expect(backend.memory().liveAllocations).toBe(0);
});

test("ResNet-18 has as many weights as the paper's, with a bias for each BatchNorm", () => {
  const parameters = parametersOf(RESNET_18);
  const count = (names: RegExp): number =>
    parameters
      .filter(({ name }) => names.test(name))
      .reduce((sum, { shape }) => sum + shape.reduce((product, length) => product * length, 1), 0);
  expect(count(/weight$/)).toBe(11_678_912);
  expect(count(/bias$/)).toBe(5_800);
  expect(parameters.length).toBe(2 * 21);
});

test('a score that is off fails the check, and so does one that is missing or no number', () => {
  expect(compare([1, -4], [1, -4])).toEqual({ passed: true, scores: 2, difference: 0 });
  expect(compare([1.001, -4], [1, -4]).passed).toBe(false);
  expect(compare([1], [1, -4]).passed).toBe(false);
  expect(compare([1, -4, 0], [1, -4]).passed).toBe(false);
  expect(compare([Number.NaN, -4], [1, -4]).passed).toBe(false);
});
