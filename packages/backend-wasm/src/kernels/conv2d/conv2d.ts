import {
  type BackendKernels,
  BYTES_OF,
  type CheckedConv2d,
  type Operand,
  type ResolvedConv2d,
} from '@concord/backend-core/implement';
import { FloatResults } from '@concord/variants';
import type { Launcher, WasmBuffer } from '../kernel.ts';
import { bitsOf, operandAddress } from '../common/arguments.ts';
import { CodeCache } from '../common/code-cache.ts';
import { launchProduct, matrixForm } from '../gemm/product.ts';
import { tileEpilogue } from '../epilogue/epilogue-tile.ts';
import { runKernel } from '../run/run.ts';
import { convolveDepthwise, isDepthwise } from './depthwise.ts';
import { eachPadded, paddedSize } from './padded-images.ts';
import { windowColumns } from './window-columns.ts';

/**
 * conv2dForward as a product: filters times a matrix that has a column for each place of the output and a row for each element
 * of the filter. The matrix is never stored: panels of it are packed from the image, which is padded beforehand. Where
 * groups have one channel the sums are too short for that, and computed one by one. Transposed ones become several of these.
 */
export function conv2dKernel(launcher: Launcher): NonNullable<BackendKernels<WasmBuffer>['conv2dForward']> {
  const codes = new CodeCache(launcher.traits);
  const convolve = (call: ResolvedConv2d<WasmBuffer>): void => {
    if (isDepthwise(call)) convolveDepthwise(launcher, codes, call);
    else if (isPointwise(call)) multiplyPoints(launcher, codes, call);
    else multiplyWindows(launcher, codes, call);
  };
  const runs = runKernel(launcher);
  const results = new FloatResults<WasmBuffer, typeof memory>((geometry, inputs, output, params) => {
    const inPlace = [inputs.some((input) => input !== undefined && operandAddress(input) === operandAddress(output))];
    runs.run({ geometry, inputs, outputs: [output], params, inPlace });
  });
  const memory = {
    scratch: (bytes: number): Operand<WasmBuffer> => {
      const buffer = { address: launcher.temporary(bytes), bytes };
      return { buffer, byteOffset: 0, byteLength: bytes };
    },
  };
  return {
    dtypes: ['f32', 'f16'],
    features: ['epilogues', 'transposed', 'dtypeFilter f16', 'dtypeFilter bf16'],
    run: (given) => {
      const call = results.withFloatFilter(given, memory);
      if (!call.transposed) convolve(call);
      else
        results.convolution(call, memory, (part) => {
          convolve({ ...part, epilogue: undefined });
          return false;
        });
    },
  };
}

/** True if each element of the output is a product over the channels of one place. */
function isPointwise({ filterShape, stride, padding }: CheckedConv2d): boolean {
  const [, , filterHeight, filterWidth] = filterShape;
  return (
    filterHeight === 1 && filterWidth === 1 && stride[0] === 1 && stride[1] === 1 && padding.every((side) => side === 0)
  );
}

/** The filters and the output, as arguments of a product. */
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
  launchProduct(launcher, codes, matrixForm(dtype), tileEpilogue(call), inputShape[0] * groups, {
    ...given,
    ...matrix,
  });
}

function multiplyWindows(launcher: Launcher, codes: CodeCache, call: ResolvedConv2d<WasmBuffer>): void {
  const { inputShape, filterShape, outputShape, groups, dtype, stride, dilation } = call;
  const [, , filterHeight, filterWidth] = filterShape;
  const { height, width } = paddedSize(call);
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
    strideB: (inputShape[1] / groups) * height * width,
  };
  const elementBytes = BYTES_OF[dtype];
  const form = { a: dtype, c: dtype, source: 'window', packer: windowColumns };
  const epilogue = tileEpilogue(call);
  // The first turn has the maximum of images; each turn is done before the next one writes.
  let packed: number | undefined;
  const packedOnce = (bytes: number): number => (packed ??= launcher.temporary(bytes));
  eachPadded(launcher, codes, call, (b, firstImage, count) => {
    const c = given.c + elementBytes * firstImage * groups * given.strideC;
    const place = { b, c, firstPlane: firstImage, columnStrideB: 0, depthStrideB: 0 };
    launchProduct(launcher, codes, form, epilogue, count * groups, { ...given, ...window, ...place }, packedOnce);
  });
}
