import { defineKernel, type UnaryKernel } from '@concord/backend-core/kernel';
import type { BenchCase } from '../bench-case.ts';
import { elements, operand } from '../operand.ts';
import { runCase } from './run-case.ts';

const SOFTMAX: UnaryKernel = defineKernel('softmax', { inputs: { input: 'f32' } }, ({ input }, k) => {
  const e = k.exp(k.sub(input, k.fold('max', input)));
  return { output: k.div(e, k.fold('sum', e)) };
});

/** Softmax: a kernel of two folds that depend on each other, over rows, or down the columns of a matrix. */
export function softmaxCase(origin: string, text: string, rows: number, columns: number, isDown = false): BenchCase {
  const turned = { strides: [1, columns] };
  return runCase({
    ...{ id: `${origin}/softmax-${rows}x${columns}${isDown ? '-axis0' : ''}`, title: text, kernel: SOFTMAX, flops: 5 },
    ...{ shape: isDown ? [columns, rows] : [rows, columns], folded: 1 },
    ...(isDown && { inputs: { input: turned }, output: turned }),
    ofRow(visit) {
      let sum = 0;
      visit('input', (x) => (sum += Math.exp(x)));
      return sum;
    },
    expected: ({ at }, sum) => Math.exp(at('input')) / sum,
    ...{ relative: 1e-4, absolute: 0 },
  });
}

/** The greatest `k` of each row. */
export function topKCase(origin: string, text: string, rows: number, columns: number, k: number): BenchCase {
  const call = { rows, columns, k };
  const [length, outputLength] = [rows * columns, rows * k];
  const id = `topK/${origin}/${rows}x${columns}-k${k}`;
  return {
    ...{ id, op: 'topK', title: text, unit: 'GB/s', flops: length, bytes: 4 * (length + 2 * outputLength) },
    prepare() {
      // The places have to go somewhere too.
      const [input, places] = [operand(length, 1), operand(outputLength, 2)];
      return {
        ...{ inputs: [input, places], outputLength, outputDtype: 'f32', plan: { op: 'topK', call } },
        call: (backend, at, output) => backend.topK({ ...call, input: at(0), values: output, indices: at(1) }),
        expected(index) {
          const sorted = elements(input, Math.floor(index / k) * columns, columns).sort((a, b) => b - a);
          return { want: sorted[index % k] as number, tolerance: 0 };
        },
      };
    },
  };
}
