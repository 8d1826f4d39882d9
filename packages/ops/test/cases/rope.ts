import { permute, rope } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const SEQ = 3;
const DIM = 6;
const X = numbers(2 * 4 * SEQ * DIM, 51);

/** Each row times the matrix of its rotations, as formula 15 of the paper. */
function rotated(
  x: readonly number[],
  positionOf: (row: number) => number,
  interleaved: boolean,
  frequencyOf = (pair: number): number => 10000 ** ((-2 * pair) / DIM),
): number[] {
  const half = DIM / 2;
  return x.map((own, at) => {
    const [row, i] = [Math.floor(at / DIM), at % DIM];
    const pair = interleaved ? Math.floor(i / 2) : i % half;
    const isFirst = interleaved ? i % 2 === 0 : i < half;
    const other = x[row * DIM + (interleaved ? i + (isFirst ? 1 : -1) : (i + half) % DIM)] as number;
    const angle = positionOf(row) * frequencyOf(pair);
    return own * Math.cos(angle) + (isFirst ? -other : other) * Math.sin(angle);
  });
}

/** rope by its definition, at positions where an error of the frequencies would show. */
export const ropeCases: OpCases = {
  'halves, of queries by heads': {
    run: (b) => rope(tensor(b, X, [2, 4, SEQ, DIM])),
    want: rotated(X, (row) => row % SEQ, false),
    shape: [2, 4, SEQ, DIM],
  },
  'interleaved pairs, far from the start, in place': {
    run: (b) => {
      const x = tensor(b, X, [2, 4, SEQ, DIM]);
      return rope(x, { interleaved: true, offset: 3000, out: x });
    },
    want: rotated(X, (row) => (row % SEQ) + 3000, true),
    tolerance: 2e-4,
  },
  'an offset on the device, with positions too; frequencies of a large base, far from the start': {
    run: (b) => {
      const x = tensor(b, X, [2, 4, SEQ, DIM]);
      const offset = tensor(b, new Int32Array([40]));
      return [
        rope(x, { offset }),
        rope(x, { offset: tensor(b, new Uint32Array([7]), []), positions: tensor(b, Int32Array.of(-7, 5, 2)) }),
        rope(x, { base: 500_000, offset: 100_000 }),
      ];
    },
    want: [
      rotated(X, (row) => (row % SEQ) + 40, false),
      rotated(X, (row) => [0, 12, 9][row % SEQ] as number, false),
      rotated(
        X,
        (row) => (row % SEQ) + 100_000,
        false,
        (pair) => 500_000 ** ((-2 * pair) / DIM),
      ),
    ],
    tolerance: 3e-4,
  },
  'halves in place in a view of heads not yet split, with positions of each text': {
    run: (b) => {
      const x = permute(tensor(b, X, [2, SEQ, 4, DIM]), [0, 2, 1, 3]);
      return rope(x, { positions: tensor(b, Int32Array.of(5, 0, 7, 1, 2, -3), [2, 1, SEQ]), out: x });
    },
    want: rotated(X, (row) => [5, 0, 7, 1, 2, -3][Math.floor(row / 4)] as number, false).map((_, at, all) => {
      const [text, head, row, i] = [
        Math.floor(at / 72),
        Math.floor(at / 18) % 4,
        Math.floor(at / DIM) % SEQ,
        at % DIM,
      ] as const;
      return all[((text * SEQ + row) * 4 + head) * DIM + i] as number;
    }),
    shape: [2, 4, SEQ, DIM],
  },
  'by frequencies and another base, in half precision': {
    run: (b) => {
      const x = tensor(b, Float32Array.from(X), [8, SEQ, DIM], { dtype: 'f16' });
      const positions = tensor(b, Uint32Array.of(4, 2, 9));
      return [
        rope(x, { positions, frequencies: tensor(b, [1, 0.5, 0.25]) }),
        rope(x, { positions, base: 100, offset: 1 }),
      ];
    },
    want: [
      rotated(
        X,
        (row) => [4, 2, 9][row % SEQ] as number,
        false,
        (pair) => 0.5 ** pair,
      ),
      rotated(
        X,
        (row) => ([4, 2, 9][row % SEQ] as number) + 1,
        false,
        (pair) => 100 ** ((-2 * pair) / DIM),
      ),
    ],
    tolerance: 1e-3,
  },
};
