import type { BatchedGemmWork, GemmWork } from '../work.ts';
import { defineCase, type Expected, type LimitCase } from './limit-case.ts';
import type { NoiseArray } from './noise-array.ts';

/** A product of matrices, each row of which may be followed by a gap. The result is packed. */
export function gemm(work: GemmWork): LimitCase {
  const { op, m, n, k, layout = 'NN', padding = 0 } = work;
  const dtype = op === 'gemm_f16' ? 'f16' : 'f32';
  const [transA, transB] = layout.split('') as ['N' | 'T', 'N' | 'T'];
  const [lda, ldb] = [(transA === 'T' ? m : k) + padding, (transB === 'T' ? k : n) + padding];
  const size = m === n && n === k ? `${n}` : `${m}x${n}x${k}`;
  return defineCase({
    work,
    name: `${size}${layout === 'NN' ? '' : ` ${layout}`}${padding === 0 ? '' : ` ld+${padding}`}`,
    flops: 2 * m * n * k,
    dtype,
    inputs: [(transA === 'T' ? k : m) * lda, (transB === 'T' ? n : k) * ldb],
    length: m * n,
    expected: ([a, b], index) => {
      const [row, column] = [Math.floor(index / n), index % n];
      return dot(
        { array: a, first: transA === 'T' ? row : row * lda, step: transA === 'T' ? lda : 1 },
        { array: b, first: transB === 'T' ? column * ldb : column, step: transB === 'T' ? 1 : ldb },
        k,
      );
    },
    call: (backend, [a, b], c) => backend.gemm({ m, n, k, a, b, c, transA, transB, lda, ldb, dtype }),
  });
}

/** `batch` products of one shape, one behind the other. */
export function batchedGemm(work: BatchedGemmWork): LimitCase {
  const { batch, m, n, k } = work;
  const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
  return defineCase({
    work,
    name: `${batch}x${m}x${n}x${k}`,
    flops: 2 * batch * m * n * k,
    inputs: [batch * m * k, batch * k * n],
    length: batch * m * n,
    expected: ([a, b], index) => {
      const [which, row, column] = [Math.floor(index / (m * n)), Math.floor(index / n) % m, index % n];
      return dot(
        { array: a, first: which * m * k + row * k, step: 1 },
        { array: b, first: which * k * n + column, step: n },
        k,
      );
    },
    call: (backend, [a, b], c) => backend.batchedGemm({ m, n, k, a, b, c, ...strides, batchCount: batch }),
  });
}

/** Elements of an array at equal distances. */
interface Line {
  readonly array: NoiseArray;
  readonly first: number;
  readonly step: number;
}

function dot(a: Line, b: Line, k: number): Expected {
  let value = 0;
  let magnitude = 0;
  for (let p = 0; p < k; p++) {
    const term = a.array.at(a.first + p * a.step) * b.array.at(b.first + p * b.step);
    value += term;
    magnitude += Math.abs(term);
  }
  return { value, magnitude };
}
