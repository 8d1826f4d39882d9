/**
 * Matrix times vector, `y[i] = sum over p of M[i, p] * x[p]`, the gemm with a single row or column.
 *
 * Each element of M is used once, so nothing is packed. The matrix is walked in blocks along its contiguous
 * direction: four rows at a time as dot products that share the loads of x, or four depths at a time added to a
 * float64 scratch of sums, which are then loaded and stored once for four multiplications. float16 is decoded by block.
 */

import { DECODE_LIMIT, decodeBlock, type Storage } from './half.ts';

/** Length of a block in the contiguous direction of M; the other one has {@link SHORT}. */
const LONG = 1024;
const SHORT = DECODE_LIMIT / LONG;

const x = new Float64Array(LONG);
const sums = new Float64Array(LONG);

/** Receives the sums of rows `i .. i + count - 1`. */
export type StoreSums = (i: number, sums: Float64Array, count: number) => void;

/**
 * Multiplies the `rows` x `depth` matrix `M[i, p] = matrix[start + i * rowStride + p * depthStride]`, one of whose
 * strides is 1, by the vector `x[p] = vector[startX + p * strideX]`.
 */
export function multiplyVector(
  matrix: Storage,
  start: number,
  rowStride: number,
  depthStride: number,
  rows: number,
  depth: number,
  vector: Storage,
  startX: number,
  strideX: number,
  store: StoreSums,
): void {
  const alongDepth = depthStride === 1;
  const blockRows = alongDepth ? SHORT : LONG;
  const blockDepth = alongDepth ? LONG : SHORT;
  for (let i = 0; i < rows; i += blockRows) {
    const rowCount = Math.min(blockRows, rows - i);
    sums.fill(0, 0, rowCount);
    for (let p = 0; p < depth; p += blockDepth) {
      const depthCount = Math.min(blockDepth, depth - p);
      loadVector(vector, startX + p * strideX, strideX, depthCount);
      let source = matrix;
      let from = start + i * rowStride + p * depthStride;
      let stride = alongDepth ? rowStride : depthStride;
      if (source instanceof Uint16Array) {
        const [outer, inner] = alongDepth ? [rowCount, depthCount] : [depthCount, rowCount];
        source = decodeBlock(source, from, stride, outer, inner);
        from = 0;
        stride = inner;
      }
      if (alongDepth) addDots(source, from, stride, rowCount, depthCount);
      else addScaledRows(source, from, stride, rowCount, depthCount);
    }
    store(i, sums, rowCount);
  }
}

function loadVector(vector: Storage, start: number, stride: number, count: number): void {
  const values = vector instanceof Uint16Array ? decodeBlock(vector, start, stride, count, 1) : vector;
  const [from, step] = vector instanceof Uint16Array ? [0, 1] : [start, stride];
  for (let p = 0; p < count; p++) x[p] = values[from + p * step] as number;
}

/** Rows of M lie contiguously: dot products, four rows side by side. */
function addDots(source: Float32Array, start: number, stride: number, rows: number, depth: number): void {
  let i = 0;
  for (; i + 4 <= rows; i += 4) {
    const row0 = start + i * stride;
    const row1 = row0 + stride;
    const row2 = row1 + stride;
    const row3 = row2 + stride;
    let sum0 = 0;
    let sum1 = 0;
    let sum2 = 0;
    let sum3 = 0;
    for (let p = 0; p < depth; p++) {
      const value = x[p] as number;
      sum0 += value * (source[row0 + p] as number);
      sum1 += value * (source[row1 + p] as number);
      sum2 += value * (source[row2 + p] as number);
      sum3 += value * (source[row3 + p] as number);
    }
    sums[i] = (sums[i] as number) + sum0;
    sums[i + 1] = (sums[i + 1] as number) + sum1;
    sums[i + 2] = (sums[i + 2] as number) + sum2;
    sums[i + 3] = (sums[i + 3] as number) + sum3;
  }
  for (; i < rows; i++) {
    const row = start + i * stride;
    let sum = 0;
    for (let p = 0; p < depth; p++) sum += (x[p] as number) * (source[row + p] as number);
    sums[i] = (sums[i] as number) + sum;
  }
}

/** Columns of M lie contiguously: four of them, scaled, are added to the sums at a time. */
function addScaledRows(source: Float32Array, start: number, stride: number, rows: number, depth: number): void {
  let p = 0;
  for (; p + 4 <= depth; p += 4) {
    const at0 = start + p * stride;
    const at1 = at0 + stride;
    const at2 = at1 + stride;
    const at3 = at2 + stride;
    const x0 = x[p] as number;
    const x1 = x[p + 1] as number;
    const x2 = x[p + 2] as number;
    const x3 = x[p + 3] as number;
    for (let i = 0; i < rows; i++) {
      sums[i] =
        (sums[i] as number) +
        x0 * (source[at0 + i] as number) +
        x1 * (source[at1 + i] as number) +
        x2 * (source[at2 + i] as number) +
        x3 * (source[at3 + i] as number);
    }
  }
  for (; p < depth; p++) {
    const at = start + p * stride;
    const scale = x[p] as number;
    for (let i = 0; i < rows; i++) sums[i] = (sums[i] as number) + scale * (source[at + i] as number);
  }
}
