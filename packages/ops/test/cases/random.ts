import { dropout, empty, permute, randomNormal, randomUniform } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';
import { philoxWord } from '../support/philox.ts';

const SEED = 0xdeadbeef;
const over = <T>(length: number, each: (index: number) => T): T[] => Array.from({ length }, (_, index) => each(index));
const u = (index: number, stream: number): number => (philoxWord(SEED, index, stream) >>> 8) * 2 ** -24;
const normal = (index: number): number =>
  Math.sqrt(-2 * Math.log(u(index, 1) + 2 ** -24)) * Math.cos(2 * Math.PI * u(index, 2));
const X = numbers(3 * 7);
const dropped = (x: number, index: number, p: number): number =>
  philoxWord(SEED, index, 3) < p * 2 ** 32 ? 0 : x / (1 - p);

/** The documented streams, worked out from the paper. */
export const randomCases: OpCases = {
  'uniform, any odd size, of the stream 0': {
    run: (backend) => randomUniform(backend, [3, 7], { seed: SEED, low: -3, high: 2 }),
    want: over(21, (i) => -3 + 5 * u(i, 0)),
    shape: [3, 7],
    tolerance: 1e-6,
  },
  'normal, of the streams 1 and 2': {
    run: (backend) => randomNormal(backend, [37], { seed: SEED, mean: 1, std: 3 }),
    want: over(37, (i) => 1 + 3 * normal(i)),
  },
  'normal of bf16 is rounded': {
    run: (backend) => randomNormal(backend, [2, 5], { seed: SEED, dtype: 'bf16' }),
    want: over(10, normal),
    tolerance: 2 ** -8,
  },
  'nothing, and a number': {
    run: (backend) => [randomUniform(backend, [0, 3], { seed: 1 }), randomUniform(backend, [], { seed: SEED })],
    want: [[], [u(0, 0)]],
  },
  'dropout, from a place of the stream on': {
    run: (backend) => dropout(tensor(backend, X), 0.4, { seed: SEED, offset: 13 }),
    want: X.map((x, i) => dropped(x, i + 13, 0.4)),
  },
  'seeds, places of the stream and rates on the device': {
    run: (backend) => {
      const seed = tensor(backend, new Int32Array([SEED]), []);
      const offset = tensor(backend, new Uint32Array([5]));
      const x = tensor(backend, [...X, NaN]);
      const rate = (p: number) => dropout(x, tensor(backend, p), { seed, offset });
      return [
        randomUniform(backend, [2, 4], { seed: SEED, offset, low: 1, high: 3 }),
        randomNormal(backend, [8], { seed, offset: 5 }),
        ...[0.4, 0.25, 1, 2, 0, -3].map(rate),
        dropout(permute(tensor(backend, X, [3, 7]), [1, 0]), 0.25, { seed, offset }),
      ];
    },
    want: [
      over(8, (i) => 1 + 2 * u(i + 5, 0)),
      over(8, (i) => normal(i + 5)),
      ...[0.4, 0.25, 1, 1, 0, 0].map((p) => [...X, NaN].map((x, i) => (p === 1 ? 0 : dropped(x, i + 5, p)))),
      over(21, (i) => dropped(X[(i % 3) * 7 + Math.floor(i / 3)] as number, i + 5, 0.25)),
    ],
  },
  'from a place of the stream on': {
    run: (backend) => randomUniform(backend, [9], { seed: SEED, offset: 2 ** 32 - 4 }),
    want: over(9, (i) => u((i + 2 ** 32 - 4) % 2 ** 32, 0)),
    tolerance: 1e-6,
  },
  'dropout of a view, into the view itself: places count row-major in the view': {
    run: (backend) => {
      const view = permute(tensor(backend, X, [3, 7]), [1, 0]);
      return dropout(view, 0.25, { seed: SEED, out: view });
    },
    want: over(21, (i) => dropped(X[(i % 3) * 7 + Math.floor(i / 3)] as number, i, 0.25)),
    shape: [7, 3],
  },
  'dropout of nothing and of all, also of infinities': {
    run: (backend) => {
      const x = tensor(backend, [1, Infinity, -2]);
      return [dropout(x, 0, { seed: 1 }), dropout(x, 1, { seed: 1, out: empty(backend, [3]) })];
    },
    want: [
      [1, Infinity, -2],
      [0, 0, 0],
    ],
  },
};
