import { batchNorm, permute, slice } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const [N, C, S] = [2, 3, 5];
const X = numbers(N * C * S);
const [MEAN, WEIGHT, BIAS] = [2, 3, 4].map((seed) => numbers(C, seed)) as [number[], number[], number[]];
const VARIANCE = numbers(C, 5).map((x) => x * x);
const normal = (x: number, place: number, eps: number): number => {
  const c = Math.floor(place / S) % C;
  return (x - (MEAN[c] as number)) / Math.sqrt((VARIANCE[c] as number) + eps);
};
const weighted = (x: number, place: number): number =>
  normal(x, place, 1e-5) * (WEIGHT[Math.floor(place / S) % C] as number);

const silu = (x: number): number => x / (1 + Math.exp(-x));

/** With and without weight and bias, of views, of two axes, of f16. */
export const batchNormCases: OpCases = {
  'with and without weight and bias; another eps': {
    run: (backend) => {
      const x = tensor(backend, X, [N, C, S]);
      const known = { mean: tensor(backend, MEAN), variance: tensor(backend, VARIANCE) };
      const [weight, bias] = [tensor(backend, WEIGHT), tensor(backend, BIAS)];
      return [
        batchNorm(x, { ...known, weight, bias }),
        batchNorm(x, { ...known, weight }),
        batchNorm(x, { ...known, eps: 0.5 }),
        batchNorm(x, { ...known, weight, activation: 'silu' }),
      ];
    },
    want: [
      X.map((x, i) => weighted(x, i) + (BIAS[Math.floor(i / S) % C] as number)),
      X.map(weighted),
      X.map((x, i) => normal(x, i, 0.5)),
      X.map((x, i) => silu(weighted(x, i))),
    ],
    shape: [N, C, S],
  },
  'channels along other axes': {
    run: (backend) => {
      const x = tensor(backend, X, [N, C, S]);
      const known = {
        mean: tensor(backend, MEAN),
        variance: tensor(backend, VARIANCE),
        weight: tensor(backend, WEIGHT),
      };
      return [
        permute(batchNorm(permute(x, [0, 2, 1]), { ...known, axis: -1 }), [0, 2, 1]),
        permute(batchNorm(permute(x, [1, 0, 2]), { ...known, axis: 0 }), [1, 0, 2]),
        batchNorm(tensor(backend, MEAN), { ...known, axis: 0 }),
      ];
    },
    want: [X.map(weighted), X.map(weighted), MEAN.map(() => 0)],
  },
  'channels last by a view, in place; every second number of a list': {
    run: (backend) => {
      const lasts = Array.from(
        { length: N * S * C },
        (_, i) => X[(Math.floor(i / (S * C)) * C + (i % C)) * S + (Math.floor(i / C) % S)] as number,
      );
      const x = permute(tensor(backend, lasts, [N, S, C]), [0, 2, 1]);
      const mean = slice(
        tensor(
          backend,
          MEAN.flatMap((m) => [m, 9]),
        ),
        [[0, null, 2]],
      );
      return batchNorm(x, { mean, variance: tensor(backend, VARIANCE), weight: tensor(backend, WEIGHT), out: x });
    },
    want: X.map(weighted),
  },
  'two axes, f16 with float32 numbers of the channels': {
    run: (backend) => {
      const x = tensor(backend, [1, 1000, 3, 3000], [2, 2], { dtype: 'f16' });
      return batchNorm(x, { mean: tensor(backend, [2, 2000]), variance: tensor(backend, [1, 1e6]), eps: 0 });
    },
    want: [-1, -1, 1, 1],
    tolerance: 2 ** -11,
  },
};
