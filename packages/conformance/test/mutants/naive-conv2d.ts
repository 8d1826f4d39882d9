import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { floats } from './mutant.ts';

type Conv = ResolvedConv2d<ArrayBuffer>;

/** One term of a sum: which input is read, and through which tap of the filter. */
export interface Term {
  n: number;
  readonly k: number;
  /** Channel of the whole input. */
  channel: number;
  /** Row and column of the input, outside of it in the padding. */
  y: number;
  x: number;
  /** Channel of the filter, row and column. */
  c: number;
  r: number;
  s: number;
}

/** Replaceable parts of the seven loops. */
export interface Parts {
  readonly change?: (term: Term, call: Conv) => void;
  /** The value that is read outside the image. */
  readonly outside?: (input: Float32Array, index: number) => number;
  readonly element?: (x: number) => number;
}

/** A convolution as seven loops, with replaceable parts: for float32. */
export function naiveConv(call: Conv, { change, outside, element = (x) => x }: Parts): void {
  const [input, filter, output] = [floats(call.input), floats(call.filter), floats(call.output)];
  const [, channels, height, width] = call.inputShape;
  const [, groupChannels, rows, columns] = call.filterShape;
  const [batch, filters, outRows, outColumns] = call.outputShape;
  let at = 0;
  for (let n = 0; n < batch; n++) {
    for (let k = 0; k < filters; k++) {
      const first = Math.floor(k / (filters / call.groups)) * groupChannels;
      for (let p = 0; p < outRows; p++) {
        for (let q = 0; q < outColumns; q++) {
          let sum = 0;
          for (let tap = 0; tap < groupChannels * rows * columns; tap++) {
            const s = tap % columns;
            const r = Math.floor(tap / columns) % rows;
            const c = Math.floor(tap / columns / rows);
            const y = p * call.stride[0] - call.padding[0] + r * call.dilation[0];
            const x = q * call.stride[1] - call.padding[1] + s * call.dilation[1];
            const term: Term = { n, k, channel: first + c, y, x, c, r, s };
            change?.(term, call);
            const plane = (term.n * channels + term.channel) * height;
            const index = (plane + term.y) * width + term.x;
            const weight = filter[((k * groupChannels + term.c) * rows + term.r) * columns + term.s] as number;
            const isInside = term.y >= 0 && term.y < height && term.x >= 0 && term.x < width;
            if (!isInside && outside === undefined) continue;
            const value = isInside ? (input[index] as number) : (outside?.(input, index) ?? 0);
            sum += element(value) * element(weight);
          }
          output[at++] = sum;
        }
      }
    }
  }
}
