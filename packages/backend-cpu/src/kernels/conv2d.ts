/**
 * conv2dForward as an implicit matrix product, per image and group: `output[k, pixel] = sum over taps of
 * filter[k, tap] * patch[tap, pixel]`, a tap being one (channel, r, s).
 *
 * The patch matrix never exists: the packer of B gathers 256 pixels x 256 taps of it straight into the tile kernel's
 * planes. Padding stays out of its loops, because it gathers from a window: the input rows that these pixels need,
 * copied once with their border of zeros. There a pixel and a tap each have one offset, and their sum is the place.
 * Groups of very few filters (depthwise) would leave most of a tile empty and go row by row instead, conv2d-rows.ts.
 */

import type { CheckedConv2d } from '@concord/backend-core/implement';
import { multiplyBlocked } from './blocks.ts';
import { convolveRows } from './conv2d-rows.ts';
import { fillWindow, type WindowShape } from './conv2d-window.ts';
import { hasNonFinite } from './finite.ts';
import { packPanels, panelStart } from './pack.ts';
import { storeRow } from './store.ts';
import { BLOCK_COLUMNS, BLOCK_DEPTH, planesA, planesB, TILE_COLUMNS } from './tile.ts';

/** Filters per group from which tiles pay. */
const TILED_FILTERS = 3;
/** Output rows longer than this are computed one by one. */
const WIDE = 1024;

/** Elements of a window beyond which copying it costs more than tiles save: huge strides, dilations or padding. */
const MAX_WINDOW = 2 ** 20;

const pixelOffsets = new Int32Array(BLOCK_COLUMNS);
const tapOffsets = new Int32Array(BLOCK_DEPTH);

/** `output = conv2d(input, filter)`, packed NCHW x KCRS -> NKPQ. */
export function conv2d(call: CheckedConv2d, input: Float32Array, filter: Float32Array, output: Float32Array): void {
  const filtersPerGroup = call.filterShape[0] / call.groups;
  const padded = call.padding.some((size) => size > 0);
  // Padding is left out of the sum, but the tiled path multiplies it: 0 * Infinity would give NaN.
  const tiled =
    filtersPerGroup >= TILED_FILTERS &&
    largestWindow(call) <= MAX_WINDOW &&
    !(padded && hasNonFinite(filter, 0, filter.length));
  const convolve = tiled ? convolveTiled : convolveRows;
  for (let image = 0; image < call.inputShape[0]; image++) {
    for (let group = 0; group < call.groups; group++) convolve(call, image, group, input, filter, output);
  }
}

/** Elements of the largest window that a block of pixels and taps can need. */
function largestWindow({ filterShape, outputShape, stride, dilation }: CheckedConv2d): number {
  const [, groupChannels, filterHeight, filterWidth] = filterShape;
  const [, , outputHeight, outputWidth] = outputShape;
  const isWide = outputWidth > WIDE;
  const pixelRows = isWide ? 1 : Math.min(outputHeight, Math.ceil(BLOCK_COLUMNS / outputWidth) + 1);
  const pixelColumns = isWide ? BLOCK_COLUMNS : outputWidth;
  const channels = Math.min(groupChannels, Math.ceil(BLOCK_DEPTH / (filterHeight * filterWidth)) + 1);
  const rows = (pixelRows - 1) * stride[0] + (filterHeight - 1) * dilation[0] + 1;
  const columns = (pixelColumns - 1) * stride[1] + (filterWidth - 1) * dilation[1] + 1;
  return channels * rows * columns;
}

function convolveTiled(
  call: CheckedConv2d,
  image: number,
  group: number,
  input: Float32Array,
  filter: Float32Array,
  output: Float32Array,
): void {
  const [, channels, height, width] = call.inputShape;
  const [filters, groupChannels, filterHeight, filterWidth] = call.filterShape;
  const [, , outputHeight, outputWidth] = call.outputShape;
  const [strideHeight, strideWidth] = call.stride;
  const [dilationHeight, dilationWidth] = call.dilation;
  const m = filters / call.groups;
  const tapsPerChannel = filterHeight * filterWidth;
  const k = groupChannels * tapsPerChannel;
  const firstFilter = group * m;
  const firstChannel = image * channels + group * groupChannels;
  const outputStart = (image * filters + firstFilter) * outputHeight * outputWidth;

  // Wide rows are separate products, so that a block of pixels never needs two whole rows of a wide image.
  const rowsAtOnce = outputWidth > WIDE ? 1 : outputHeight;
  for (let y0 = 0; y0 < outputHeight; y0 += rowsAtOnce) {
    multiplyBlocked({
      m,
      n: rowsAtOnce * outputWidth,
      k,
      packA(row, rows, p, depth) {
        packPanels(planesA, filter, (firstFilter + row) * k + p, k, 1, rows, depth);
      },
      packB(column, columns, p, depth) {
        const channel = Math.floor(p / tapsPerChannel);
        const firstRow = Math.floor(column / outputWidth);
        const lastRow = Math.floor((column + columns - 1) / outputWidth);
        const [firstX, spanX] = firstRow === lastRow ? [column - firstRow * outputWidth, columns] : [0, outputWidth];
        const shape: WindowShape = {
          channels: Math.floor((p + depth - 1) / tapsPerChannel) - channel + 1,
          rows: (lastRow - firstRow) * strideHeight + (filterHeight - 1) * dilationHeight + 1,
          columns: (spanX - 1) * strideWidth + (filterWidth - 1) * dilationWidth + 1,
        };
        const top = (y0 + firstRow) * strideHeight - call.padding[0];
        const left = firstX * strideWidth - call.padding[1];
        const window = fillWindow(input, (firstChannel + channel) * height * width, height, width, shape, top, left);
        for (let i = 0; i < columns; i++) {
          const y = Math.floor((column + i) / outputWidth);
          const x = column + i - y * outputWidth;
          pixelOffsets[i] = (y - firstRow) * strideHeight * shape.columns + (x - firstX) * strideWidth;
        }
        for (let i = 0; i < depth; i++) {
          const tap = p + i - channel * tapsPerChannel;
          const c = Math.floor(tap / tapsPerChannel);
          const r = Math.floor((tap - c * tapsPerChannel) / filterWidth);
          const s = tap - c * tapsPerChannel - r * filterWidth;
          tapOffsets[i] = (c * shape.rows + r * dilationHeight) * shape.columns + s * dilationWidth;
        }
        gather(window, columns, depth);
      },
      store(row, rows, column, columns, block, stride) {
        for (let r = 0; r < rows; r++) {
          const to = outputStart + ((row + r) * outputHeight + y0) * outputWidth + column;
          storeRow(block, r * stride, output, to, columns, 1, 0);
        }
      },
    });
  }
}

/** Packs `window[pixelOffset + tapOffset]` as B: pixels are columns, taps the depth. */
function gather(window: Float64Array, columns: number, depth: number): void {
  for (let i = 0; i < columns; i++) {
    const plane = planesB[i % TILE_COLUMNS] as Float64Array;
    const to = panelStart(i, TILE_COLUMNS, depth);
    const pixel = pixelOffsets[i] as number;
    for (let p = 0; p < depth; p++) plane[to + p] = window[pixel + (tapOffsets[p] as number)] as number;
  }
}
