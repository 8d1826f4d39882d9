import { cummax, cummin, cumprod, cumsum, permute } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 5 * 3);

/** Along the middle axis of `[2, 5, 3]`. */
function scanned(join: (a: number, b: number) => number, none: number, exclusive = false, reverse = false): number[] {
  const y = [...X];
  for (const i of [0, 1]) {
    for (const j of [0, 1, 2]) {
      let total = none;
      for (let step = 0; step < 5; step++) {
        const at = (i * 5 + (reverse ? 4 - step : step)) * 3 + j;
        const next = join(total, X[at] as number);
        y[at] = exclusive ? total : next;
        total = next;
      }
    }
  }
  return y;
}

const add = (a: number, b: number): number => a + b;

/** An inner axis, both directions, with and without the element; NaN; integers that wrap; narrow dtypes; a long row. */
export const scanCases: OpCases = {
  'an inner axis, each way': {
    run: (backend) => {
      const x = tensor(backend, X, [2, 5, 3]);
      return [
        cumsum(x, { axis: 1 }),
        cumsum(x, { axis: 1, exclusive: true }),
        cumsum(x, { axis: -2, reverse: true }),
        cumsum(x, { axis: 1, exclusive: true, reverse: true }),
        cummax(x, { axis: 1, reverse: true }),
        cummin(x, { axis: 1 }),
        cumprod(x, { axis: 1 }),
      ];
    },
    want: [
      scanned(add, 0),
      scanned(add, 0, true),
      scanned(add, 0, false, true),
      scanned(add, 0, true, true),
      scanned(Math.max, -Infinity, false, true),
      scanned(Math.min, Infinity),
      scanned((a, b) => a * b, 1),
    ],
    shape: [2, 5, 3],
  },
  'NaN, integers, of small ones wide sums; of a permuted view and in place': {
    run: (backend) => {
      const own = tensor(backend, [1, 2, 3, 4]);
      const view = permute(tensor(backend, [1, 2, 3, 4], [2, 2]), [1, 0]);
      return [
        cummax(tensor(backend, [1, NaN, 3])),
        cummin(tensor(backend, new Int32Array([3, -1, 2])), { exclusive: true }),
        cumprod(tensor(backend, new Uint32Array([65536, 65536, 3]))),
        cumsum(tensor(backend, new Uint8Array([200, 100, 1]))),
        cumsum(tensor(backend, [1, 2, 0.5], [3], { dtype: 'f16' })),
        cumsum(own, { out: own }),
        cumsum(view),
        cumsum(tensor(backend, [], [0])),
      ];
    },
    want: [
      [1, NaN, NaN],
      [2 ** 31 - 1, 3, -1],
      [65536, 0, 0],
      [200, 300, 301],
      [1, 3, 3.5],
      [1, 3, 6, 10],
      [1, 4, 2, 6],
      [],
    ],
    tolerance: 0,
  },
  'a long row': {
    run: (backend) => [cumsum(tensor(backend, new Uint32Array(70_000).fill(3)), { reverse: true })],
    want: [Array.from({ length: 70_000 }, (_, at) => 3 * (70_000 - at))],
    tolerance: 0,
  },
};
