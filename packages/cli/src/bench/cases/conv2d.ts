import type { Conv2dShape } from '@concord/backend-core';
import { conv2dReference } from '@concord/backend-cpu/reference';
import type { BenchCase, ExpectedEntry } from '../bench-case.ts';
import { elements, type Operand, operand } from '../operand.ts';
import { SUM_TOLERANCE } from './gemm.ts';

/** A layer on square images, with a square window. */
export interface Conv2dLayer {
  readonly batch?: number;
  readonly channels: number;
  /** Height and width of the image. */
  readonly size: number;
  readonly filters: number;
  readonly window: number;
  readonly stride?: number;
  readonly padding?: number;
}

/** A convolution layer; the title tells its sizes. */
export function conv2dCase(origin: string, text: string, layer: Conv2dLayer): BenchCase {
  const { batch = 1, channels, size, filters, window, stride = 1, padding = 0 } = layer;
  const outputSize = Math.floor((size + 2 * padding - window) / stride) + 1;
  const shape: Conv2dShape = {
    inputShape: [batch, channels, size, size],
    filterShape: [filters, channels, window, window],
    outputShape: [batch, filters, outputSize, outputSize],
    stride: [stride, stride],
    padding: [padding, padding],
  };
  const lengths = [shape.inputShape, shape.filterShape, shape.outputShape].map((sizes) =>
    sizes.reduce((x, y) => x * y, 1),
  ) as [number, number, number];
  const step = stride === 1 ? '' : `s${stride}`;
  return {
    id: `conv2dForward/${origin}/n${batch}c${channels}x${size}-k${filters}-${window}x${window}${step}`,
    op: 'conv2dForward',
    title: text,
    unit: 'GFLOP/s',
    flops: 2 * lengths[2] * channels * window ** 2,
    bytes: 4 * (lengths[0] + lengths[1] + lengths[2]),
    prepare() {
      const [input, filter] = [operand(lengths[0], 1), operand(lengths[1], 2)];
      return {
        inputs: [input, filter],
        outputLength: lengths[2],
        outputDtype: 'f32',
        plan: { op: 'conv2dForward', call: shape },
        call: (backend, at, output) => backend.conv2dForward({ ...shape, input: at(0), filter: at(1), output }),
        expected: (index) => entryOf(layer, outputSize, input, filter, index),
      };
    },
  };
}

/** One entry of the output: the oracle on the part of the image that it comes from. */
function entryOf(
  { channels, size, filters, window, stride = 1, padding = 0 }: Conv2dLayer,
  outputSize: number,
  input: Operand,
  filter: Operand,
  index: number,
): ExpectedEntry {
  const [x, y] = [index % outputSize, Math.floor(index / outputSize) % outputSize];
  const plane = Math.floor(index / outputSize ** 2);
  const [image, k] = [Math.floor(plane / filters), plane % filters];
  const part = new Float32Array(channels * window ** 2);
  for (let at = 0; at < part.length; at++) {
    const column = x * stride - padding + (at % window);
    const row = y * stride - padding + (Math.floor(at / window) % window);
    const channel = image * channels + Math.floor(at / window ** 2);
    const isInside = column >= 0 && column < size && row >= 0 && row < size;
    part[at] = isInside ? input.at((channel * size + row) * size + column) : 0;
  }
  const sizes = [1, channels, window, window] as const;
  const one = { inputShape: sizes, filterShape: sizes, outputShape: [1, 1, 1, 1] } as const;
  const { value, magnitude } = conv2dReference(one, part, elements(filter, k * part.length, part.length));
  return { want: value[0] as number, tolerance: SUM_TOLERANCE * (magnitude[0] as number) };
}
