import { WEIGHT_BITS } from '@concord/backend-core';
import type { BackendKernels, ResolvedGemm, RunKernel } from '@concord/backend-core/implement';
import { decodeStep, WEIGHT_FEATURES } from '@concord/kernel';
import { unsignedBias } from '@concord/variants';
import type { Launcher, WasmBuffer } from '../kernel.ts';
import { bitsOf, operandAddress } from '../common/arguments.ts';
import { CodeCache } from '../common/code-cache.ts';
import { tileEpilogue } from '../epilogue/epilogue-tile.ts';
import { launchProduct, matrixForm } from './product.ts';
import { launchVector, type MatrixForm, VECTOR_BLOCK } from './vector.ts';
import { BLOCKS, unitOf } from './weight-dots.ts';

/** gemm, gemmF16 and batchedGemm: `C = alpha op(A) op(B) + beta C`, summed in float32 and rounded once. */
export function gemmKernel(
  launcher: Launcher,
  run: RunKernel<WasmBuffer>['run'],
): NonNullable<BackendKernels<WasmBuffer>['gemm']> {
  const codes = new CodeCache(launcher.traits);
  return {
    dtypes: ['f32', 'f16', 'bf16'],
    features: ['epilogues', ...WEIGHT_FEATURES],
    run: (given) => {
      const form = formOfRow(given);
      if (form !== undefined) {
        multiplyVector(launcher, codes, given, form);
        return;
      }
      const call = given.dtypeB === undefined ? given : withPlainB(launcher, run, given);
      const isVector = call.k > 0 && (call.n === 1 || call.m === 1) && call.dtypeB === undefined;
      if (isVector) multiplyVector(launcher, codes, call);
      else multiplyMatrices(launcher, codes, call);
    },
  };
}

/** The most rows that B is decoded again for, rather than once for all. */
const MOST_ROWS = { floats: 4, integers: 16 };

/**
 * Returns the form in which the product of each row reads a B of a different type, if it can: 16 bytes of integers at a
 * time.
 */
function formOfRow(call: ResolvedGemm<WasmBuffer>): MatrixForm | undefined {
  const { m, k, batchCount, dtypeB, quantB, epilogue } = call;
  const most = MOST_ROWS[quantB === undefined ? 'floats' : 'integers'];
  const areRows = m === 1 || (m <= most && batchCount === 1 && epilogue === undefined);
  if (dtypeB === undefined || k === 0 || !areRows) return undefined;
  if (quantB === undefined) return dtypeB as MatrixForm;
  const { block, zeros, offsets, scales } = quantB;
  const bits = WEIGHT_BITS[dtypeB] as 4 | 8;
  const unit = unitOf({ bits });
  const areWhole = k % unit === 0 && (block >= k || (block % unit === 0 && VECTOR_BLOCK % block === 0));
  if (!areWhole || offsets !== undefined || (zeros !== undefined && zeros.dtype !== dtypeB)) return undefined;
  return { bits, isSigned: dtypeB.startsWith('i'), hasZeros: zeros !== undefined, scales: scales.dtype };
}

/** The arguments of the blocks of B. */
function blockArguments(call: ResolvedGemm<WasmBuffer>): readonly number[] {
  const { dtypeB, quantB, m } = call;
  if (quantB === undefined || dtypeB === undefined) return [];
  const [scaleBatch, scaleRow, scaleBlock] = quantB.scales.strides;
  const [zeroBatch, zeroRow, zeroBlock] = quantB.zeros?.strides ?? [0, 0, 0];
  // Several rows of A are as many products.
  const isShared = m > 1;
  const given = {
    scales: operandAddress(call['quantB.scales']),
    scaleBatch: isShared ? 0 : scaleBatch,
    scaleRow,
    scaleBlock,
    zeros: operandAddress(call['quantB.zeros']),
    zeroBatch: isShared ? 0 : zeroBatch,
    zeroRow,
    zeroBlock,
    block: Math.min(quantB.block, 2 ** 31),
    zero: quantB.zero + unsignedBias(dtypeB),
  };
  return BLOCKS.pack(given, {});
}

/** The same product of a B of floats, which is written to temporary memory first. */
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
  launchProduct(launcher, codes, matrixForm(dtype, call.dtypeB as 'f32' | undefined), tileEpilogue(call), batchCount, {
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

/**
 * One column: A times a vector; one row: the same of the transposed product.
 *
 * @param form - of B, of whose type it is: the product may have several rows then, each as a batch of its own
 */
function multiplyVector(launcher: Launcher, codes: CodeCache, call: ResolvedGemm<WasmBuffer>, form?: MatrixForm): void {
  const { m, n, k, dtype, batchCount, strideC } = call;
  const [rowA, columnA] = strides(call.transA, call.lda);
  const [rowB, columnB] = strides(call.transB, call.ldb);
  const [a, b] = [operandAddress(call.a), operandAddress(call.b)];
  const isColumn = n === 1 && form === undefined;
  const sides = isColumn
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
        matrixStride: m > 1 ? 0 : call.strideB,
        countStride: columnB,
        depthStride: rowB,
        x: a,
        xBatchStride: m > 1 ? rowA : call.strideA,
        xStride: columnA,
      };
  const given = {
    ...sides,
    count: isColumn ? m : n,
    depth: k,
    to: operandAddress(call.c),
    toStride: isColumn ? call.ldc : 1,
    isRow: isColumn ? 0 : 1,
    toBatchStride: !isColumn && m > 1 ? call.ldc : strideC,
    alpha: bitsOf(call.alpha),
    beta: bitsOf(call.beta),
  };
  const batches = isColumn ? batchCount : batchCount * m;
  launchVector(launcher, codes, dtype, batches, given, {
    epilogue: tileEpilogue(call),
    ...(form === undefined ? {} : { form, blocks: blockArguments(call) }),
  });
}
