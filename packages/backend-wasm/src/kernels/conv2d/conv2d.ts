import type { CheckedConv2d, EpilogueKernel, ResolvedConv2d } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../../wasm-buffer.ts';
import { bitsOf } from '../common/arguments.ts';
import { CodeCache } from '../common/code-cache.ts';
import { operandAddress } from '../common/operand-address.ts';
import { launchProduct, MATRIX_FORMS } from '../gemm/product.ts';
import { tileEpilogue } from '../epilogue/epilogue-tile.ts';
import type { Launcher } from '../kernel.ts';
import { PAD, padCode } from './pad-code.ts';
import { windowColumns } from './window-columns.ts';

/** Memory that padded images may take at a time. */
const MAX_PADDED_BYTES = 2 ** 26;

/**
 * conv2dForward as a product: filters times a matrix that has a column for each place of the output and a row for each element
 * of the filter. The matrix is never stored: panels of it are packed from the image, which is padded beforehand.
 */
export function conv2dKernel(launcher: Launcher): EpilogueKernel<CheckedConv2d, ResolvedConv2d<WasmBuffer>> {
  const codes = new CodeCache(launcher.traits);
  return {
    dtypes: ['f32', 'f16'],
    hasEpilogues: true,
    run: (call) => (isPointwise(call) ? multiplyPoints(launcher, codes, call) : multiplyWindows(launcher, codes, call)),
  };
}

/** Whether each element of the output is a product over the channels of one place. */
function isPointwise({ filterShape, stride, padding }: CheckedConv2d): boolean {
  const [, , filterHeight, filterWidth] = filterShape;
  return (
    filterHeight === 1 && filterWidth === 1 && stride[0] === 1 && stride[1] === 1 && padding.every((side) => side === 0)
  );
}

/** What a product is told of the filters and the output. */
function filtersAndOutput(call: ResolvedConv2d<WasmBuffer>) {
  const { filterShape, outputShape, groups } = call;
  const [filters, channels, filterHeight, filterWidth] = filterShape;
  const [, , height, width] = outputShape;
  const k = channels * filterHeight * filterWidth;
  const m = filters / groups;
  const n = height * width;
  return {
    ...{ m, n, k, a: operandAddress(call.filter), c: operandAddress(call.output), rowStrideA: k, depthStrideA: 1 },
    ...{
      strideA: m * k,
      periodA: groups,
      planeBatches: groups,
      rowStrideC: n,
      strideC: m * n,
      alpha: bitsOf(1),
      beta: 0,
    },
  };
}

function multiplyPoints(launcher: Launcher, codes: CodeCache, call: ResolvedConv2d<WasmBuffer>): void {
  const { inputShape, groups, dtype } = call;
  const given = filtersAndOutput(call);
  const strideB = given.k * given.n;
  const matrix = { b: operandAddress(call.input), columnStrideB: 1, depthStrideB: given.n, strideB };
  launchProduct(launcher, codes, MATRIX_FORMS[dtype], tileEpilogue(call), inputShape[0] * groups, {
    ...given,
    ...matrix,
  });
}

function multiplyWindows(launcher: Launcher, codes: CodeCache, call: ResolvedConv2d<WasmBuffer>): void {
  const { inputShape, filterShape, outputShape, groups, dtype, stride, dilation, padding } = call;
  const [images, channels, imageHeight, imageWidth] = inputShape;
  const [, , filterHeight, filterWidth] = filterShape;
  const [top, left, bottom, right] = padding;
  const [height, width] = [imageHeight + top + bottom, imageWidth + left + right];
  const given = filtersAndOutput(call);
  const window = {
    outputWidth: outputShape[3],
    rowStep: stride[0] * width,
    columnStep: stride[1],
    filterHeight,
    filterWidth,
    nextColumn: dilation[1],
    nextRow: dilation[0] * width - (filterWidth - 1) * dilation[1],
    nextPlane: height * width - filterHeight * dilation[0] * width,
    strideB: (channels / groups) * height * width,
  };
  const elementBytes = dtype === 'f16' ? 2 : 4;
  const form = { a: dtype, c: dtype, source: 'window', packer: windowColumns };
  const epilogue = tileEpilogue(call);
  const multiply = (b: number, firstImage: number, count: number): void => {
    const c = given.c + elementBytes * firstImage * groups * given.strideC;
    launchProduct(launcher, codes, form, epilogue, count * groups, {
      ...given,
      ...window,
      b,
      c,
      firstPlane: firstImage,
      columnStrideB: 0,
      depthStrideB: 0,
    });
  };
  const input = operandAddress(call.input);
  if (dtype === 'f32' && padding.every((side) => side === 0)) return multiply(input, 0, images);

  const imageBytes = 4 * channels * height * width;
  const together = Math.max(1, Math.min(images, Math.floor(MAX_PADDED_BYTES / imageBytes)));
  const padded = launcher.temporary(together * imageBytes);
  const code = codes.get(`pad ${dtype}`, (traits) => padCode(traits, dtype));
  for (let first = 0; first < images; first += together) {
    const count = Math.min(together, images - first);
    const from = input + elementBytes * first * channels * imageHeight * imageWidth;
    const words = PAD.words({ from, to: padded, imageHeight, imageWidth, height, width, top, left }, {});
    launcher.launch({ code, words, tiles: count * channels });
    multiply(padded, first, count);
  }
}
