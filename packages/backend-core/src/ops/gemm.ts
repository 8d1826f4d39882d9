import { BYTES_OF, type StoredFloatDType, WEIGHT_BITS, type WeightDType } from '../contract/element-types.ts';
import { checkDType, checkedExtent, checkFloat32, checkOneOf, checkSize, matrixExtent } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { invalid } from '../errors/invalid.ts';
import { areDistinct } from '../kernel/check-run.ts';
import {
  type CheckedEpilogue,
  type Epilogue,
  type EpilogueField,
  epilogueOperands,
  placeEpilogue,
  checkEpilogue,
} from './epilogue.ts';
import type { CheckedCall, Feature, FieldKind, OpCost, OpDefinition } from './op-definition.ts';
import {
  type CheckedQuant,
  checkQuant,
  checkWholeBytes,
  isQuant,
  QUANT_FIELDS,
  type QuantB,
  quantBytes,
  quantOperands,
  type QuantShape,
  weightOperand,
  wholeBytes,
} from './quant-b.ts';

/** `'N'`: as stored. `'T'`: transposed. `'C'`: conjugate transposed, which for real data is `'T'`. */
export type Transpose = 'N' | 'T' | 'C';

/**
 * Shape of `C = alpha * op(A) * op(B) + beta * C`, row-major.
 *
 * op(A) is m x k, op(B) is k x n, C is m x n. Leading dimensions count elements between the starts of two stored rows.
 */
export interface GemmShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Default `'N'`. With `'T'` A is stored k x m. */
  readonly transA?: Transpose;
  /** Default `'N'`. With `'T'` B is stored n x k. */
  readonly transB?: Transpose;
  /** Default 1; rounded to float32 first. 0: A and B are not read. */
  readonly alpha?: number;
  /** Default 0; rounded to float32 first. 0: C is not read, so NaN in it does not matter. */
  readonly beta?: number;
  /** Default: the stored row of A (k, or m when transposed). */
  readonly lda?: number;
  /** Default: the stored row of B (n, or k when transposed); of `i4` and `u4` rounded up to an even number, as it has to be. */
  readonly ldb?: number;
  /** Default: n. */
  readonly ldc?: number;
  /** Storage of A and C. Default `'f32'`. `'f16'` and `'bf16'` accumulate in float32 and round once, to nearest even. */
  readonly dtype?: StoredFloatDType;
  /** Storage of B. Default: `dtype`. Integers need `quantB`, and transB `'T'`. */
  readonly dtypeB?: WeightDType;
  /** The numbers that integers of B stand for. */
  readonly quantB?: QuantShape;
}

/** Arguments of `gemm`: {@link GemmShape} and its operands. `k = 0` gives `C = beta * C`. */
export interface GemmCall extends GemmShape {
  readonly a: DevicePtr;
  readonly b: DevicePtr;
  readonly c: DevicePtr;
  readonly quantB?: QuantB;
  /** The kernel applied to each element before it is stored, over `[batch, m, n]`. */
  readonly epilogue?: Epilogue;
}

/** {@link GemmShape}, `batchCount` times, with a constant distance between the matrices of consecutive batches. */
export interface BatchedGemmShape extends GemmShape {
  /** Elements between the A of two batches; 0 broadcasts one A. */
  readonly strideA: number;
  /** Elements between the B of two batches; 0 broadcasts one B. Even for `i4` and `u4`. */
  readonly strideB: number;
  /** Elements between the C of two batches. They may interleave: sorted, each of it, ldc and 1 exceeds what the lesser ones reach. */
  readonly strideC: number;
  readonly batchCount: number;
}

/** Arguments of `batchedGemm`. */
export interface BatchedGemmCall extends BatchedGemmShape, Pick<GemmCall, 'a' | 'b' | 'c' | 'epilogue'> {
  readonly quantB?: QuantB;
}

/** A gemm with its defaults filled in. A plain gemm is a batch of one. */
export interface CheckedGemm extends CheckedCall {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly transA: boolean;
  readonly transB: boolean;
  /** float32 */
  readonly alpha: number;
  /** float32 */
  readonly beta: number;
  readonly lda: number;
  readonly ldb: number;
  readonly ldc: number;
  readonly strideA: number;
  readonly strideB: number;
  readonly strideC: number;
  readonly batchCount: number;
  readonly dtype: StoredFloatDType;
  /** The dtype of B; undefined if it is `dtype`. */
  readonly dtypeB?: WeightDType | undefined;
  /** There where B has integers. */
  readonly quantB?: CheckedQuant | undefined;
  readonly epilogue?: CheckedEpilogue | undefined;
}

const WEIGHT_DTYPES = Object.keys(WEIGHT_BITS) as readonly WeightDType[];
const PRODUCT_DTYPES = ['f32', 'f16', 'bf16'] as const satisfies readonly StoredFloatDType[];
const TRANSPOSES: readonly Transpose[] = ['N', 'T', 'C'];
/** The batch of a plain gemm. */
const SINGLE = { strideA: 0, strideB: 0, strideC: 0, batchCount: 1 };
const OPERANDS = ['a', 'b', 'c'];
const NO_NEEDS: readonly Feature[] = [];
const DOMAIN = ['batchCount', 'm', 'n'];
const FIELDS: Readonly<Record<keyof GemmShape | 'epilogue', FieldKind>> = {
  m: 'size',
  n: 'size',
  k: 'size',
  transA: 'word',
  transB: 'word',
  alpha: 'number',
  beta: 'number',
  lda: 'size',
  ldb: 'size',
  ldc: 'size',
  dtype: 'word',
  dtypeB: 'word',
  quantB: 'object',
  epilogue: 'object',
};
/** False for 0, which is not multiplied with, and for 1, which changes nothing. */
const isFactor = (value: number): boolean => value !== 0 && value !== 1;
const SCALARS = { alpha: isFactor, beta: isFactor };
const SAMPLE = { m: 3, n: 4, k: 5 };

/** `gemm`. */
export const gemm: OpDefinition<GemmShape & EpilogueField, CheckedGemm> = {
  kernel: 'gemm',
  operands: OPERANDS,
  output: 'c',
  fields: FIELDS,
  nested: QUANT_FIELDS,
  scalars: SCALARS,
  read: ({ m, n, k, transA, transB, alpha, beta, lda, ldb, ldc, dtype, dtypeB, quantB, epilogue, a, b, c }) =>
    // prettier-ignore
    [m, n, k, transA, transB, alpha, beta, lda, ldb, ldc, dtype, dtypeB, quantB, epilogue, a, b, c],
  dtypes: PRODUCT_DTYPES,
  check: (shape, outputIsNull) => checkBatch(shape, SINGLE, dtypeOf(shape), outputIsNull),
  cost,
  sample: { shape: SAMPLE, nothingToDo: [{ m: 0 }, { n: 0 }, { m: 0, k: 0, beta: 2 }] },
};

/** `gemmF16`: gemm with `dtype: 'f16'`. */
export const gemmF16: OpDefinition<GemmShape & EpilogueField, CheckedGemm> = {
  ...gemm,
  dtypes: ['f16'],
  check: (shape, outputIsNull) => {
    if (checkDType(shape.dtype, 'f16') !== 'f16') throw invalid(`gemmF16 has dtype f16, got ${shape.dtype}`);
    return checkBatch(shape, SINGLE, 'f16', outputIsNull);
  },
  sample: { shape: SAMPLE, nothingToDo: [{ m: 0 }, { n: 0 }] },
};

/** `batchedGemm`. */
export const batchedGemm: OpDefinition<BatchedGemmShape & EpilogueField, CheckedGemm> = {
  kernel: 'gemm',
  operands: OPERANDS,
  output: 'c',
  fields: { ...FIELDS, strideA: 'size', strideB: 'size', strideC: 'size', batchCount: 'size' },
  nested: QUANT_FIELDS,
  scalars: SCALARS,
  read: (call) => {
    const { m, n, k, transA, transB, alpha, beta, lda, ldb, ldc, dtype, dtypeB, quantB, epilogue } = call;
    const { strideA, strideB, strideC, batchCount, a, b, c } = call;
    const batch = [strideA, strideB, strideC, batchCount];
    return [m, n, k, transA, transB, alpha, beta, lda, ldb, ldc, dtype, dtypeB, quantB, epilogue, ...batch, a, b, c];
  },
  dtypes: PRODUCT_DTYPES,
  check: (shape, outputIsNull) => checkBatch(shape, shape, dtypeOf(shape), outputIsNull),
  cost,
  sample: {
    shape: { ...SAMPLE, batchCount: 2, strideA: 15, strideB: 20, strideC: 12 },
    nothingToDo: [{ m: 0 }, { n: 0 }, { batchCount: 0 }],
  },
};

function dtypeOf({ dtype }: GemmShape): StoredFloatDType {
  return dtype === undefined ? 'f32' : checkOneOf('dtype', dtype, PRODUCT_DTYPES);
}

function checkBatch(
  shape: GemmShape & EpilogueField,
  batch: Pick<BatchedGemmShape, 'strideA' | 'strideB' | 'strideC' | 'batchCount'>,
  dtype: StoredFloatDType,
  outputIsNull: boolean,
): CheckedGemm | null {
  const { m, n, k } = shape;
  const { strideA, strideB, strideC, batchCount } = batch;
  checkSize('m', m);
  checkSize('n', n);
  checkSize('k', k);
  checkSize('batchCount', batchCount);
  checkSize('strideA', strideA);
  checkSize('strideB', strideB);
  checkSize('strideC', strideC);
  const transA = checkOneOf('transA', shape.transA ?? 'N', TRANSPOSES) !== 'N';
  const transB = checkOneOf('transB', shape.transB ?? 'N', TRANSPOSES) !== 'N';
  const alpha = checkFloat32('alpha', shape.alpha ?? 1);
  const beta = checkFloat32('beta', shape.beta ?? 0);
  const rowsA = transA ? k : m;
  const columnsA = transA ? m : k;
  const rowsB = transB ? n : k;
  const columnsB = transB ? k : n;
  const dtypeB = shape.dtypeB === undefined ? dtype : checkOneOf('dtypeB', shape.dtypeB, WEIGHT_DTYPES);
  const lda = shape.lda ?? columnsA;
  const ldb = shape.ldb ?? wholeBytes(dtypeB, columnsB);
  const ldc = shape.ldc ?? n;
  checkSize('lda', lda);
  checkSize('ldb', ldb);
  checkSize('ldc', ldc);
  const quantB = quantOf(shape, { dtypeB, n, k, batchCount, strideB });
  const given = checkEpilogue(shape.epilogue);

  if (m === 0 || n === 0 || batchCount === 0) return null;
  if (k === 0 && outputIsNull) return null;

  checkLeadingDimension('lda', lda, columnsA);
  checkLeadingDimension('ldb', ldb, columnsB);
  checkLeadingDimension('ldc', ldc, n);
  checkWholeBytes('ldb', dtypeB, ldb);
  checkWholeBytes('strideB', dtypeB, strideB);
  const domain = [batchCount, m, n];
  const stridesC = [strideC, ldc, 1];
  if (!areDistinct(domain, stridesC)) {
    throw invalid(`strideC must keep the C of two batches apart, got ${strideC}: ldc is ${ldc}, one C ${m} x ${n}`);
  }
  const batched = (name: string, extent: number, stride: number): number =>
    extent === 0 ? 0 : checkedExtent(name, (batchCount - 1) * stride + extent);
  const elementsA = batched('a', matrixExtent('a', rowsA, columnsA, lda), strideA);
  const elementsB = batched('b', matrixExtent('b', rowsB, columnsB, ldb), strideB);
  const elementsC = batched('c', matrixExtent('c', m, n, ldc), strideC);
  const epilogue = placeEpilogue(given, DOMAIN, domain, stridesC, dtype);
  const operands = [
    { name: 'a', dtype, elements: elementsA },
    weightOperand('b', dtypeB, elementsB),
    ...(quantB === undefined ? [] : quantOperands(quantB, { n, batchCount })),
    ...epilogueOperands(epilogue),
    { name: 'c', dtype, elements: elementsC, output: true },
  ];
  return {
    m,
    n,
    k,
    transA,
    transB,
    alpha,
    beta,
    lda,
    ldb,
    ldc,
    strideA,
    strideB,
    strideC,
    batchCount,
    dtype,
    dtypeB: dtypeB === dtype ? undefined : dtypeB,
    quantB,
    epilogue,
    operands,
    needs: dtypeB === dtype ? NO_NEEDS : [`dtypeB ${dtypeB}`],
  };
}

/** The checked `quantB` of a call whose B has integers. */
function quantOf(
  { transB, quantB }: GemmShape,
  { dtypeB, ...sizes }: Omit<Parameters<typeof checkQuant>[1], 'dtypeB'> & { readonly dtypeB: WeightDType },
): CheckedQuant | undefined {
  if (!isQuant(dtypeB)) {
    if (quantB !== undefined) throw invalid(`quantB needs a dtypeB of integers, got ${dtypeB}`);
    return undefined;
  }
  if (transB !== 'T') throw invalid(`dtypeB ${dtypeB} needs transB 'T'`);
  if (quantB === undefined) throw invalid(`dtypeB ${dtypeB} needs quantB`);
  return checkQuant(quantB, { ...sizes, dtypeB });
}

function checkLeadingDimension(name: string, value: number, atLeast: number): void {
  if (value < atLeast) throw invalid(`${name} must be at least ${atLeast}, the length of a stored row, got ${value}`);
}

function cost(call: CheckedGemm): OpCost {
  const { m, n, k, batchCount, dtype, dtypeB = dtype, quantB, beta, strideA, strideB } = call;
  const bytesA = m * k * BYTES_OF[dtype];
  const bytesB = (k * n * WEIGHT_BITS[dtypeB]) / 8 + (quantB === undefined ? 0 : quantBytes(quantB, n));
  const bytesC = (beta === 0 ? 1 : 2) * m * n * BYTES_OF[dtype];
  // All batches may share one.
  const times = (stride: number): number => (stride === 0 ? 1 : batchCount);
  return {
    operations: 2 * batchCount * m * n * k,
    bytes: times(strideA) * bytesA + times(strideB) * bytesB + batchCount * bytesC,
  };
}
