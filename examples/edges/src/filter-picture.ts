import { type ComputeBackend, download, type WaitOptions, withBuffers } from '@concord/backend-core';
import { CHANNELS, type FilterStep } from './filter-steps.ts';
import type { Picture } from './png-file.ts';

/** Runs the steps on the device, one after the other without a wait between, and gives the last output back. */
export async function runSteps(
  backend: ComputeBackend,
  steps: readonly FilterStep[],
  planes: Float32Array,
  wait: WaitOptions = {},
): Promise<Float32Array> {
  const length = lengthOf(steps.at(-1)?.shape.outputShape ?? [planes.length]);
  return withBuffers(backend, (scope) => {
    let input = scope.upload(planes, { label: 'picture' });
    for (const { shape, filter } of steps) {
      const output = scope.alloc(4 * lengthOf(shape.outputShape), { label: 'filtered' });
      backend.conv2dForward({ ...shape, input, filter: scope.upload(filter, { label: 'filter' }), output });
      input = output;
    }
    return download(backend, input, length, wait);
  });
}

/** The channels of a picture as planes, with `margin` pixels more on each side that repeat the outermost ones. */
export function planesOf({ width, height, channels, pixels }: Picture, margin: number): Float32Array {
  const [columns, rows] = [width + 2 * margin, height + 2 * margin];
  const planes = new Float32Array(channels * rows * columns);
  let at = 0;
  for (let channel = 0; channel < channels; channel++) {
    for (let row = 0; row < rows; row++) {
      const y = Math.min(Math.max(row - margin, 0), height - 1);
      for (let column = 0; column < columns; column++, at++) {
        const x = Math.min(Math.max(column - margin, 0), width - 1);
        planes[at] = pixels[(y * width + x) * channels + channel] as number;
      }
    }
  }
  return planes;
}

/** The planes of a blurred picture as pixels. */
export function picturePixels(planes: Float32Array, width: number, height: number): Picture {
  const pixels = new Uint8Array(CHANNELS * width * height);
  for (let i = 0; i < width * height; i++) {
    for (let channel = 0; channel < CHANNELS; channel++) {
      pixels[i * CHANNELS + channel] = Math.round(planes[channel * width * height + i] as number);
    }
  }
  return { width, height, channels: CHANNELS, pixels };
}

/** Grey: the steepest slope of the three channels at each pixel, white where the channel goes from 0 to 255. */
export function edgePixels(slopes: Float32Array, width: number, height: number): Picture {
  const size = width * height;
  const pixels = new Uint8Array(size);
  for (let i = 0; i < size; i++) {
    let steepest = 0;
    for (let channel = 0; channel < CHANNELS; channel++) {
      const right = slopes[2 * channel * size + i] as number;
      const down = slopes[(2 * channel + 1) * size + i] as number;
      // In float64: exact up to the root, which is rounded the same way everywhere.
      steepest = Math.max(steepest, Math.sqrt(right * right + down * down));
    }
    pixels[i] = Math.min(255, Math.round(steepest * EDGE_GAIN));
  }
  return { width, height, channels: 1, pixels };
}

/** The Sobel operator gives 4 times the difference that it finds, and few edges are from black to white. */
const EDGE_GAIN = 0.75;

function lengthOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
