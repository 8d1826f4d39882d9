import { crossEntropy, empty, slice, transpose } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const N = 6;
const C = 5;
const X = numbers(N * C).map((x) => 3 * x);
const TARGETS = [0, 4, 2, -100, 1, 4];
const LOSSES = TARGETS.map((target, i) => {
  const row = X.slice(i * C, (i + 1) * C);
  return Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0)) - (row[target] ?? NaN);
});
const IGNORED = LOSSES.map((loss, i) => (TARGETS[i] === -100 ? 0 : loss));
const total = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);

/** Each reduction, ignored targets, targets outside, views. */
export const crossEntropyCases: OpCases = {
  'losses as they are; a target outside is NaN unless it is ignored': {
    run: (backend) => {
      const [logits, targets] = [tensor(backend, X, [N, C]), tensor(backend, new Int32Array(TARGETS))];
      return [
        crossEntropy(logits, targets, { reduction: 'none' }),
        crossEntropy(logits, targets, { reduction: 'none', ignoreIndex: -100 }),
        crossEntropy(logits, targets),
      ];
    },
    want: [LOSSES, IGNORED, [NaN]],
    shape: [N],
  },
  'the mean and the sum of those that are not ignored; the mean of none': {
    run: (backend) => {
      const [logits, targets] = [tensor(backend, X, [N, C]), tensor(backend, new Int32Array(TARGETS))];
      const fourth = (x: typeof logits) => slice(x, [[3, 4]]);
      return [
        crossEntropy(logits, targets, { ignoreIndex: -100 }),
        crossEntropy(logits, targets, { ignoreIndex: -100, reduction: 'sum', out: empty(backend, []) }),
        crossEntropy(fourth(logits), fourth(targets), { ignoreIndex: -100 }),
      ];
    },
    want: [[total(IGNORED) / 5], [total(IGNORED)], [NaN]],
    shape: [],
  },
  'u32 targets, transposed logits, every second row': {
    run: (backend) => {
      const columns = Array.from({ length: C }, (_, c) => Array.from({ length: N }, (_, i) => X[i * C + c] as number));
      const logits = slice(transpose(tensor(backend, columns)), [[0, null, 2]]);
      return crossEntropy(logits, tensor(backend, new Uint32Array([0, 2, 1])));
    },
    want: [total([0, 2, 4].map((i) => LOSSES[i] as number)) / 3],
  },
  'f16 logits far apart': {
    run: (backend) => {
      const logits = tensor(backend, [60000, -60000, 0, 0], [2, 2], { dtype: 'f16' });
      return crossEntropy(logits, tensor(backend, new Int32Array([0, 1])));
    },
    want: [Math.LN2 / 2],
    tolerance: 2 ** -11,
  },
  'f16 logits one of whose losses is beyond f16, which their mean is not': {
    run: (backend) => {
      const logits = tensor(backend, [60000, -60000, 9, -60000, 9, -60000, 9, -60000], [4, 2], { dtype: 'f16' });
      const targets = tensor(backend, new Int32Array([1, 0, 0, 0]));
      return [crossEntropy(logits, targets), crossEntropy(logits, targets, { out: empty(backend, []) })];
    },
    want: [[30000], [30000]],
    tolerance: 2 ** -11,
  },
};
