import { BackendError, BYTES_OF, type GemmCall, offsetPtr } from '@concord/backend-core';

/** The cut of a gemm. */
export interface GemmSplit {
  /** Number of parts that are wanted; small products give fewer. */
  readonly parts: number;
  /** The parts that are shared out: rows of C, with those of op(A), or columns of C, with those of op(B). Default: the longer side. */
  readonly axis?: 'rows' | 'columns' | undefined;
  /** Parts start at multiples of this, so that tiles stay whole. Default 64. */
  readonly granularity?: number | undefined;
}

/** A part of a gemm. */
export interface GemmPart {
  readonly axis: 'rows' | 'columns';
  /** First row or column of C that is in it. */
  readonly start: number;
  /** Number of rows or columns. */
  readonly count: number;
  /** The gemm of the part: its pointers are inside of the whole's operands, whose leading dimensions it keeps. */
  readonly call: GemmCall;
}

/**
 * Cuts a gemm into gemms of disjoint blocks of C, which together write what the whole would. On a device with several
 * tiles, each tile can compute a part: open a backend for each `subDevice`, give it the operands that its part reads, and
 * call `gemm` with the part's sizes; pointers of one backend mean nothing to another, so copy between them through the host.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function splitGemm(call: GemmCall, split: GemmSplit): GemmPart[] {
  const { m, n, k } = call;
  const { parts, granularity = 64 } = split;
  for (const [name, value] of Object.entries({ parts, granularity })) {
    if (!(Number.isSafeInteger(value) && value > 0)) throw invalid(`${name} must be a positive integer, got ${value}`);
  }
  for (const [name, value] of Object.entries({ m, n, k })) {
    if (!(Number.isSafeInteger(value) && value >= 0)) throw invalid(`${name} must be an integer, got ${value}`);
  }
  const axis = split.axis ?? (m >= n ? 'rows' : 'columns');
  if (axis !== 'rows' && axis !== 'columns') throw invalid(`axis must be rows or columns, got ${String(axis)}`);
  // The defaults follow from the sizes, which the parts change.
  const isTransposed = (trans: GemmCall['transA']): boolean => trans !== undefined && trans !== 'N';
  const lda = call.lda ?? (isTransposed(call.transA) ? m : k);
  const ldb = call.ldb ?? (isTransposed(call.transB) ? k : n);
  const ldc = call.ldc ?? n;
  const elementBytes = BYTES_OF[call.dtype ?? 'f32'];
  const strideA = isTransposed(call.transA) ? 1 : lda;
  const strideB = isTransposed(call.transB) ? ldb : 1;
  return ranges(axis === 'rows' ? m : n, parts, granularity).map(({ start, count }) => {
    const at = (ptr: GemmCall['a'], stride: number): GemmCall['a'] => offsetPtr(ptr, start * stride * elementBytes);
    const part =
      axis === 'rows'
        ? { m: count, a: at(call.a, strideA), c: at(call.c, ldc) }
        : { n: count, b: at(call.b, strideB), c: at(call.c, 1) };
    return { axis, start, count, call: { ...call, lda, ldb, ldc, ...part } };
  });
}

/** Shares `size` out in multiples of `granularity` that differ by at most one; the last may be cut short. */
function ranges(size: number, parts: number, granularity: number): { start: number; count: number }[] {
  const units = Math.ceil(size / granularity);
  const used = Math.min(parts, units);
  return Array.from({ length: used }, (_, index) => {
    const start = Math.floor((index * units) / used) * granularity;
    const end = Math.min(size, Math.floor(((index + 1) * units) / used) * granularity);
    return { start, count: end - start };
  });
}

function invalid(message: string): BackendError {
  return new BackendError('INVALID_ARGUMENT', message);
}
