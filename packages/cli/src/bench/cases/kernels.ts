import { defineKernel, type UnaryKernel } from '@concord/backend-core/kernel';
import type { BenchCase } from '../bench-case.ts';
import { noiseInput } from '../noise.ts';

const SOFTMAX: UnaryKernel = defineKernel('softmax', { inputs: { input: 'f32' } }, ({ input }, k) => {
  const e = k.exp(k.sub(input, k.fold('max', input)));
  return { output: k.div(e, k.fold('sum', e)) };
});

/** A kernel of two folds that depend on each other, over rows. */
export function softmaxCase(origin: string, text: string, rows: number, columns: number): BenchCase {
  const length = rows * columns;
  const domain = { shape: [rows, columns], folded: 1 };
  const [id, flops, bytes] = [`run/${origin}/softmax-${rows}x${columns}`, 5 * length, 8 * length];
  return {
    ...{ id, op: 'run', title: text, unit: 'GB/s', flops, bytes },
    prepare() {
      const input = noiseInput(length, 12);
      return {
        ...{ inputs: [input], outputLength: length, outputDtype: 'f32' },
        plan: { op: 'run', call: { kernel: SOFTMAX, ...domain } },
        call: (backend, operand, output) =>
          backend.run(SOFTMAX, { ...domain, inputs: { input: operand(0) }, outputs: { output } }),
        expected(index) {
          const start = index - (index % columns);
          const row = input.values.subarray(start, start + columns);
          const sum = row.reduce((total, x) => total + Math.exp(x), 0);
          const want = Math.exp(input.values[index] as number) / sum;
          return { want, tolerance: 1e-4 * want };
        },
      };
    },
  };
}

/** The greatest `k` of each row. */
export function topKCase(origin: string, text: string, rows: number, columns: number, k: number): BenchCase {
  const call = { rows, columns, k };
  const [length, outputLength] = [rows * columns, rows * k];
  const id = `topK/${origin}/${rows}x${columns}-k${k}`;
  return {
    ...{ id, op: 'topK', title: text, unit: 'GB/s', flops: length, bytes: 4 * (length + 2 * outputLength) },
    prepare() {
      const input = noiseInput(length, 13);
      // The places have to go somewhere too.
      const places = { values: new Float32Array(outputLength), dtype: 'f32' } as const;
      return {
        ...{ inputs: [input, places], outputLength, outputDtype: 'f32', plan: { op: 'topK', call } },
        call: (backend, operand, output) =>
          backend.topK({ ...call, input: operand(0), values: output, indices: operand(1) }),
        expected(index) {
          const start = Math.floor(index / k) * columns;
          const sorted = input.values.slice(start, start + columns).sort((a, b) => b - a);
          return { want: sorted[index % k] as number, tolerance: 0 };
        },
      };
    },
  };
}
