import { acos, asin, atan, atan2 } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(40);
const Y = [...numbers(47).slice(7)];
const SINES = [-1, -0.9999999, -0.75, -0.5, -1e-3, 0, 1e-10, 0.3, 0.70710678, 0.99, 0.9999999, 1].map(Math.fround);
const { PI: pi } = Math;

/** Angles of points of each quarter, on the axes, far away; of sines up to the ends. */
export const trigonometryCases: OpCases = {
  'angles of points, and of slopes': {
    run: (backend) => [atan2(tensor(backend, Y), tensor(backend, X)), atan(tensor(backend, X))],
    want: [Y.map((y, i) => Math.atan2(y, X[i] as number)), X.map(Math.atan)],
    tolerance: 2e-6,
  },
  'angles on the axes, of infinity and of NaN, where points broadcast': {
    run: (backend) => {
      const x = tensor(backend, [-Infinity, -1, 1, Infinity]);
      return [
        atan2(0, x),
        atan2(2, tensor(backend, [0])),
        atan2(-Infinity, x),
        atan2(NaN, x),
        atan(tensor(backend, [-Infinity, 1e30])),
      ];
    },
    want: [
      [pi, pi, 0, 0],
      [pi / 2],
      [-0.75, -0.5, -0.5, -0.25].map((turns) => turns * pi),
      [NaN, NaN, NaN, NaN],
      [-pi / 2, pi / 2],
    ],
    tolerance: 1e-6,
  },
  'angles of sines and cosines, NaN beyond 1': {
    run: (backend) => [
      asin(tensor(backend, SINES)),
      acos(tensor(backend, SINES)),
      asin(tensor(backend, [1.0001, -2, NaN])),
      acos(tensor(backend, [1.0001, -2, NaN])),
    ],
    want: [SINES.map(Math.asin), SINES.map(Math.acos), [NaN, NaN, NaN], [NaN, NaN, NaN]],
    tolerance: 2e-6,
  },
};
