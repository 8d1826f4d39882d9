import type { AttentionWork, Conv2dWork, GemmWork, Work } from './work.ts';

/** Entry `index` of the result, computed alone and naively in float64. */
export function naiveEntry(work: Work, index: number): number {
  switch (work.op) {
    case 'gemm':
      return gemmEntry(work, index);
    case 'conv2d':
      return conv2dEntry(work, index);
    case 'attention':
      return attentionEntry(work, index);
    case 'add':
      return (work.a[index] as number) + (work.b[index] as number);
    case 'relu':
      return Math.max(0, work.x[index] as number);
    case 'sum':
      return sumOf(work.x);
    case 'sumRows':
      return sumOf(work.x.subarray(index * work.columns, (index + 1) * work.columns));
  }
}

/** Number of entries of the result. */
export function resultLength(work: Work): number {
  switch (work.op) {
    case 'gemm':
      return work.m * work.n;
    case 'conv2d':
      return work.filters * (work.size + 2 * work.padding - work.window + 1) ** 2;
    case 'attention':
      return work.q.length;
    case 'add':
    case 'relu':
      return work.n;
    case 'sum':
      return 1;
    case 'sumRows':
      return work.rows;
  }
}

/**
 * Compares about 200 entries, the first and the last among them.
 *
 * @returns what is wrong, or undefined
 */
export function findError(work: Work, result: ArrayLike<number>): string | undefined {
  const length = resultLength(work);
  if (result.length !== length) return `${result.length} entries instead of ${length}`;
  // A step without a common factor with the row length visits all columns.
  const step = Math.max(1, Math.floor(length / 199)) | 1;
  for (let at = 0; at < length + step; at += step) {
    const index = Math.min(at, length - 1);
    const want = naiveEntry(work, index);
    const got = result[index] as number;
    // Float32 sums of a few hundred products below 1 differ by less; a wrong index by far more.
    const most = 1e-6 * termsOf(work) + 1e-4 * Math.abs(want);
    if (!(Math.abs(got - want) <= most)) return `entry ${index} is ${got} instead of ${want}`;
  }
  return undefined;
}

function gemmEntry({ n, k, a, b }: GemmWork, index: number): number {
  const row = Math.floor(index / n);
  let sum = 0;
  for (let p = 0; p < k; p++) sum += (a[row * k + p] as number) * (b[p * n + (index % n)] as number);
  return sum;
}

function conv2dEntry(work: Conv2dWork, index: number): number {
  const { channels, size, window, padding, input, filter } = work;
  const outputSize = size + 2 * padding - window + 1;
  const k = Math.floor(index / outputSize ** 2);
  const y = Math.floor(index / outputSize) % outputSize;
  const x = index % outputSize;
  let sum = 0;
  for (let c = 0; c < channels; c++) {
    for (let r = 0; r < window; r++) {
      for (let s = 0; s < window; s++) {
        const [iy, ix] = [y - padding + r, x - padding + s];
        if (iy < 0 || iy >= size || ix < 0 || ix >= size) continue;
        const weight = filter[((k * channels + c) * window + r) * window + s] as number;
        sum += weight * (input[(c * size + iy) * size + ix] as number);
      }
    }
  }
  return sum;
}

function attentionEntry({ seq, headDim, q, k, v }: AttentionWork, index: number): number {
  const row = Math.floor(index / headDim);
  const firstKey = Math.floor(row / seq) * seq;
  const scores = Array.from({ length: seq }, (_, j) => {
    let dot = 0;
    for (let d = 0; d < headDim; d++) {
      dot += (q[row * headDim + d] as number) * (k[(firstKey + j) * headDim + d] as number);
    }
    return dot / Math.sqrt(headDim);
  });
  const largest = Math.max(...scores);
  let total = 0;
  let sum = 0;
  for (const [j, score] of scores.entries()) {
    const weight = Math.exp(score - largest);
    total += weight;
    sum += weight * (v[(firstKey + j) * headDim + (index % headDim)] as number);
  }
  return sum / total;
}

/** Values of about 1 that a sum is made of, as far as their rounding counts. */
function termsOf(work: Work): number {
  if (work.op === 'sum') return work.n;
  return work.op === 'sumRows' ? work.columns : 100;
}

function sumOf(x: Float32Array): number {
  let sum = 0;
  for (const value of x) sum += value;
  return sum;
}
