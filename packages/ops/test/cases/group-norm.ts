import { groupNorm, instanceNorm, permute } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { farNumbers, normalized, numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const [N, C, H, W] = [2, 4, 3, 5];
const X = numbers(N * C * H * W);
const [WEIGHT, BIAS] = [numbers(C, 2), numbers(C, 3)];

function wanted(groups: number, { isWeighted = false, eps = 1e-5 } = {}): number[] {
  const length = (C / groups) * H * W;
  return X.map((x, place) => {
    const first = Math.floor(place / length) * length;
    const row = X.slice(first, first + length);
    const mean = row.reduce((sum, each) => sum + each, 0) / length;
    const variance = row.reduce((sum, each) => sum + (each - mean) ** 2, 0) / length;
    const normal = (x - mean) / Math.sqrt(variance + eps);
    const c = Math.floor(place / (H * W)) % C;
    return isWeighted ? normal * (WEIGHT[c] as number) + (BIAS[c] as number) : normal;
  });
}

const FAR = farNumbers(2 ** 20);

/** Each number of groups, weights, views, no further axes. */
export const groupNormCases: OpCases = {
  'one group, two, one for each channel': {
    run: (backend) => {
      const x = tensor(backend, X, [N, C, H, W]);
      return [groupNorm(x, 1), groupNorm(x, 2, { eps: 0.1 }), groupNorm(x, C), instanceNorm(x)];
    },
    want: [wanted(1), wanted(2, { eps: 0.1 }), wanted(C), wanted(C)],
    shape: [N, C, H, W],
  },
  'weight and bias; a view of other strides, in place': {
    run: (backend) => {
      const transposed = tensor(backend, X, [N, C, H, W]);
      const x = permute(transposed, [0, 1, 3, 2]);
      const own = { weight: tensor(backend, WEIGHT), bias: tensor(backend, BIAS) };
      return [instanceNorm(transposed, own), permute(groupNorm(x, 2, { ...own, out: x }), [0, 1, 3, 2])];
    },
    want: [wanted(C, { isWeighted: true }), wanted(2, { isWeighted: true })],
  },
  'an activation at the end': {
    run: (backend) => {
      const x = tensor(backend, X, [N, C, H, W]);
      const own = { weight: tensor(backend, WEIGHT), bias: tensor(backend, BIAS) };
      return [groupNorm(x, 2, { ...own, activation: 'silu' }), instanceNorm(x, { activation: 'relu' })];
    },
    want: [wanted(2, { isWeighted: true }).map((x) => x / (1 + Math.exp(-x))), wanted(C).map((x) => Math.max(0, x))],
  },
  'two axes; no channel; nothing': {
    run: (backend) => [
      groupNorm(tensor(backend, [[1, 3, 0, 8]]), 2, { eps: 0 }),
      instanceNorm(tensor(backend, [], [2, 0, 3])),
      groupNorm(tensor(backend, [], [0, 4]), 2),
    ],
    want: [[-1, 1, -1, 1], [], []],
  },
  'a million numbers that are far from 0': {
    run: (backend) => groupNorm(tensor(backend, FAR, [1, 2, 2 ** 19]), 1),
    want: normalized(FAR),
  },
};
