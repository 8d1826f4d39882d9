import type { BackendKernels, ResolvedGemm, RunKernel } from '@concord/backend-core/implement';
import { decodeStep, WEIGHT_FEATURES } from '@concord/kernel';
import type { WasmBuffer } from '../../wasm-buffer.ts';
import { bitsOf, operandAddress } from '../common/arguments.ts';
import { CodeCache } from '../common/code-cache.ts';
import { tileEpilogue } from '../epilogue/epilogue-tile.ts';
import type { Launcher } from '../kernel.ts';
import { launchProduct, MATRIX_FORMS } from './product.ts';
import { launchVector } from './vector.ts';

/** gemm, gemmF16 and batchedGemm: `C = alpha op(A) op(B) + beta C`, summed in float32 and rounded once. */
export function gemmKernel(
  launcher: Launcher,
  run: RunKernel<WasmBuffer>['run'],
): NonNullable<BackendKernels<WasmBuffer>['gemm']> {
  const codes = new CodeCache(launcher.traits);
  return {
    dtypes: ['f32', 'f16'],
    features: ['epilogues', ...WEIGHT_FEATURES],
    run: (given) => {
      const call = given.dtypeB === undefined ? given : withPlainB(launcher, run, given);
      if (call.k > 0 && (call.n === 1 || call.m === 1)) multiplyVector(launcher, codes, call);
      else multiplyMatrices(launcher, codes, call);
    },
  };
}

/** The same product of a B in the dtype of A and C, which is written to temporary memory first. */
function withPlainB(
  launcher: Launcher,
  run: RunKernel<WasmBuffer>['run'],
  call: ResolvedGemm<WasmBuffer>,
): ResolvedGemm<WasmBuffer> {
  const { geometry, inputs, bytes, call: plain } = decodeStep(call);
  const b = { buffer: { address: launcher.temporary(bytes), bytes }, byteOffset: 0, byteLength: bytes };
  const operands = inputs.map((name) => call[name]);
  run({ geometry, inputs: operands, outputs: [b], params: [], inPlace: [false], opName: call.opName });
  return { ...call, ...plain, b };
}

/** Distances between the rows, and between the columns, of an operand as the product sees it. */
const strides = (isTransposed: boolean, stride: number): readonly [row: number, column: number] =>
  isTransposed ? [1, stride] : [stride, 1];

function multiplyMatrices(launcher: Launcher, codes: CodeCache, call: ResolvedGemm<WasmBuffer>): void {
  const { m, n, k, dtype, batchCount } = call;
  const [rowStrideA, depthStrideA] = strides(call.transA, call.lda);
  const [depthStrideB, columnStrideB] = strides(call.transB, call.ldb);
  launchProduct(launcher, codes, MATRIX_FORMS[dtype], tileEpilogue(call), batchCount, {
    a: operandAddress(call.a),
    b: operandAddress(call.b),
    c: operandAddress(call.c),
    m,
    n,
    k,
    rowStrideA,
    depthStrideA,
    strideA: call.strideA,
    periodA: batchCount,
    columnStrideB,
    depthStrideB,
    strideB: call.strideB,
    rowStrideC: call.ldc,
    strideC: call.strideC,
    alpha: bitsOf(call.alpha),
    beta: bitsOf(call.beta),
    planeBatches: 1,
  });
}

/** One column: A times a vector; one row: the same of the transposed product. */
function multiplyVector(launcher: Launcher, codes: CodeCache, call: ResolvedGemm<WasmBuffer>): void {
  const { m, n, k, dtype, batchCount, strideC } = call;
  const [rowA, columnA] = strides(call.transA, call.lda);
  const [rowB, columnB] = strides(call.transB, call.ldb);
  const [a, b] = [operandAddress(call.a), operandAddress(call.b)];
  const sides =
    n === 1
      ? {
          matrix: a,
          matrixStride: call.strideA,
          countStride: rowA,
          depthStride: columnA,
          x: b,
          xBatchStride: call.strideB,
          xStride: rowB,
        }
      : {
          matrix: b,
          matrixStride: call.strideB,
          countStride: columnB,
          depthStride: rowB,
          x: a,
          xBatchStride: call.strideA,
          xStride: columnA,
        };
  const given = {
    ...sides,
    count: n === 1 ? m : n,
    depth: k,
    to: operandAddress(call.c),
    toStride: n === 1 ? call.ldc : 1,
    isRow: n === 1 ? 0 : 1,
    toBatchStride: strideC,
    alpha: bitsOf(call.alpha),
    beta: bitsOf(call.beta),
  };
  launchVector(launcher, codes, dtype, batchCount, given, tileEpilogue(call));
}
