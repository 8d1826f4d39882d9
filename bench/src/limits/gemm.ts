import type { ComputeBackend, DType } from '@concord/backend-core';
import type { Expected, LimitCase, Trial } from './limit-case.ts';
import { type NoiseOperand, Workspace } from './workspace.ts';

/** `C = A B`, packed. */
export function gemm(m: number, n: number, k: number, dtype: DType = 'f32'): LimitCase {
  const place = (backend: ComputeBackend): Trial => {
    const workspace = new Workspace(backend);
    const [a, b] = [workspace.input(m * k, 1, dtype), workspace.input(k * n, 2, dtype)];
    const output = workspace.output(m * n, dtype);
    const call = { m, n, k, a: a.ptr, b: b.ptr, c: output, dtype };
    return {
      run: () => backend.gemm(call),
      output,
      dtype,
      length: m * n,
      expected: (index) => entry({ a, b, n, k, row: Math.floor(index / n), column: index % n }),
      free: () => workspace.free(),
    };
  };
  const name = m === n && n === k ? `${n}` : `${m}x${n}x${k}`;
  return { op: dtype === 'f16' ? 'gemm_f16' : 'gemm', name, flops: 2 * m * n * k, place };
}

/** `batch` products of one shape, one behind the other. */
export function batchedGemm(batch: number, m: number, n: number, k: number): LimitCase {
  const place = (backend: ComputeBackend): Trial => {
    const workspace = new Workspace(backend);
    const [a, b] = [workspace.input(batch * m * k, 1), workspace.input(batch * k * n, 2)];
    const output = workspace.output(batch * m * n);
    const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
    const call = { m, n, k, a: a.ptr, b: b.ptr, c: output, ...strides, batchCount: batch };
    const expected = (index: number): Expected => {
      const [which, at] = [Math.floor(index / (m * n)), index % (m * n)];
      const [aOffset, bOffset] = [which * m * k, which * k * n];
      return entry({ a, b, n, k, row: Math.floor(at / n), column: at % n, aOffset, bOffset });
    };
    return {
      run: () => backend.batchedGemm(call),
      output,
      dtype: 'f32',
      length: batch * m * n,
      expected,
      free: () => workspace.free(),
    };
  };
  return { op: 'batched_gemm', name: `${batch}x${m}x${n}x${k}`, flops: 2 * batch * m * n * k, place };
}

interface Entry {
  readonly a: NoiseOperand;
  readonly b: NoiseOperand;
  readonly n: number;
  readonly k: number;
  readonly row: number;
  readonly column: number;
  readonly aOffset?: number;
  readonly bOffset?: number;
}

function entry({ a, b, n, k, row, column, aOffset = 0, bOffset = 0 }: Entry): Expected {
  let value = 0;
  let magnitude = 0;
  for (let p = 0; p < k; p++) {
    const term = a.at(aOffset + row * k + p) * b.at(bOffset + p * n + column);
    value += term;
    magnitude += Math.abs(term);
  }
  return { value, magnitude };
}
