import type { BackendKernels, ResolvedGemm } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../../wasm-buffer.ts';
import { bitsOf, operandAddress } from '../common/arguments.ts';
import { CodeCache } from '../common/code-cache.ts';
import { tileEpilogue } from '../epilogue/epilogue-tile.ts';
import type { Launcher } from '../kernel.ts';
import { launchProduct, MATRIX_FORMS } from './product.ts';
import { launchVector } from './vector.ts';

/** gemm, gemmF16 and batchedGemm: `C = alpha op(A) op(B) + beta C`, summed in float32 and rounded once. */
export function gemmKernel(launcher: Launcher): NonNullable<BackendKernels<WasmBuffer>['gemm']> {
  const codes = new CodeCache(launcher.traits);
  return {
    dtypes: ['f32', 'f16'],
    features: ['epilogues'],
    run: (call) => {
      if (call.k > 0 && (call.n === 1 || call.m === 1)) multiplyVector(launcher, codes, call);
      else multiplyMatrices(launcher, codes, call);
    },
  };
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
