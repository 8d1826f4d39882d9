import { fromBf16Array, toBf16Array } from '@concord/backend-core';
import * as ops from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import { casesOf, type OpCases } from '../support/op-case.ts';

type Entry = (i: number, j: number) => number;

const A = numbers(2 * 3 * 5, 3);
const B = numbers(2 * 5 * 4, 4);
const at = (list: readonly number[], index: number): number => list[index] as number;
/** The entries of a matrix that is stored by rows of a length from a place on, or by columns. */
const rows = (list: readonly number[], length: number, from = 0): Entry => {
  return (i, j) => at(list, from + i * length + j);
};
const columns = (list: readonly number[], length: number): Entry => {
  return (i, j) => at(list, j * length + i);
};

function product(m: number, n: number, k: number, a: Entry, b: Entry): number[] {
  return Array.from({ length: m * n }, (_, index) => {
    let sum = 0;
    for (let each = 0; each < k; each++) sum += a(Math.floor(index / n), each) * b(each, index % n);
    return sum;
  });
}

const first = product(3, 4, 5, rows(A, 5), rows(B, 4));
const second = product(3, 4, 5, rows(A, 5, 15), rows(B, 4, 20));
const secondByFirst = product(3, 4, 5, rows(A, 5, 15), rows(B, 4));
const bias = numbers(4, 5);
const residual = numbers(12, 6);
const gelu = (x: number): number => (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2;

/** Numbers that bf16 holds. */
const whole = (length: number): number[] => Array.from({ length }, (_, index) => ((index * 7) % 11) - 5);
const W = whole(20);
/** The nearest number that bf16 holds. */
const bfloat = (x: number): number => fromBf16Array(toBf16Array([x]))[0] as number;
/** W and 5, two of a row in each of three bytes. */
const nibble = (byte: number, half: number): number => {
  const [row, column] = [Math.floor(byte / 3), (byte % 3) * 2 + half];
  return column < 5 ? at(W, row * 5 + column) + 5 : 0;
};
const narrowed = product(6, 4, 5, rows(A, 5), columns(W, 5));
const wholes = product(6, 4, 5, rows(whole(30), 5), columns(W, 5));

/** Products of matrices, vectors, batches, views. */
export const productCases: OpCases = {
  'linear of weights of 4 bits with zeros and of 8 bits with offsets, in blocks, and bias': {
    run: (b) => {
      const [x, own] = [tensor(b, A, [6, 5]), tensor(b, bias)];
      const shape = [4, 5];
      const nibbles = new Uint8Array(Array.from({ length: 12 }, (_, at) => nibble(at, 0) | (nibble(at, 1) << 4)));
      const scales = [1, 1, 1, 1, 1, 1, 1, 1];
      const zeros = new Uint8Array([0x55, 0x55, 0x55, 0x55]);
      const u4 = ops.quantizedTensor(b, { shape, dtype: 'u4', block: 3, data: nibbles, scales, zeros });
      const data = Int8Array.from(W, (w) => 2 * w - 6);
      const [halves, offsets] = [scales.map(() => 0.5), scales.map(() => 3)];
      const i8 = ops.quantizedTensor(b, {
        shape,
        dtype: 'i8',
        block: 4,
        data,
        scales: halves,
        offsets,
        dtypeScales: 'f16',
      });
      return [ops.linear(x, u4, { bias: own }), ops.linear(x, i8, { bias: own, activation: 'relu' })];
    },
    want: [
      narrowed.map((sum, index) => sum + at(bias, index % 4)),
      narrowed.map((sum, index) => Math.max(0, sum + at(bias, index % 4))),
    ],
    shape: [6, 4],
  },
  'matmul of batches': {
    run: (b) => ops.matmul(tensor(b, A, [2, 3, 5]), tensor(b, B, [2, 5, 4])),
    want: [...first, ...second],
    shape: [2, 3, 4],
  },
  'linear of f16 with a weight of f32': {
    run: (b) => ops.linear(ops.cast(tensor(b, whole(30), [6, 5]), 'f16'), tensor(b, W, [4, 5])),
    want: wholes,
    shape: [6, 4],
  },
  'linear and matmul of bf16, rounded once': {
    run: (b) => {
      const [x, weight] = [ops.cast(tensor(b, whole(30), [6, 5]), 'bf16'), ops.cast(tensor(b, W, [4, 5]), 'bf16')];
      const own = ops.cast(tensor(b, [256, 0, 0, 0]), 'bf16');
      return [ops.linear(x, weight), ops.matmul(x, ops.transpose(weight)), ops.linear(x, weight, { bias: own })];
    },
    want: [wholes, wholes, wholes.map((sum, index) => (index % 4 === 0 ? bfloat(256 + sum) : sum))],
    shape: [6, 4],
    tolerance: 0,
  },
  ...casesOf(
    (['f16', 'bf16'] as const).map((dtype) => ({
      [`linear of f32 with a weight of ${dtype}, and bias`]: {
        run: (b) =>
          ops.linear(tensor(b, A, [2, 3, 5]), ops.cast(tensor(b, W, [4, 5]), dtype), { bias: tensor(b, bias, [4]) }),
        want: narrowed.map((sum, index) => sum + at(bias, index % 4)),
        shape: [2, 3, 4],
      },
      [`matmul of f32 with ${dtype}, stored by rows`]: {
        run: (b) => ops.matmul(tensor(b, A, [2, 3, 5]), ops.pack(ops.transpose(ops.cast(tensor(b, W, [4, 5]), dtype)))),
        want: narrowed,
        shape: [2, 3, 4],
      },
      [`matmul of batches of f32 with slices of ${dtype}`]: {
        run: (b) =>
          ops.matmul(
            tensor(b, A, [2, 3, 5]),
            ops.transpose(ops.slice(ops.cast(tensor(b, [...whole(5), ...W], [5, 5]), dtype), [[1, 5]])),
          ),
        want: narrowed,
        shape: [2, 3, 4],
      },
    })),
  ),
  'matmul of a batch with one matrix, transposed': {
    run: (b) =>
      ops.matmul(tensor(b, A, [2, 3, 5]), ops.transpose(ops.permute(tensor(b, B.slice(0, 20), [5, 4]), [1, 0]))),
    want: [...first, ...secondByFirst],
  },
  'matmul over batch axes that do not lie evenly': {
    run: (b) => ops.matmul(tensor(b, A, [2, 1, 3, 5]), tensor(b, B, [1, 2, 5, 4])),
    want: [...first, ...product(3, 4, 5, rows(A, 5), rows(B, 4, 20)), ...secondByFirst, ...second],
    shape: [2, 2, 3, 4],
  },
  'matmul of vectors': { run: (b) => ops.matmul(tensor(b, [1, 2, 3]), tensor(b, [4, 5, 6])), want: [32], shape: [] },
  'matmul of every second column, which is copied': {
    run: (b) =>
      ops.matmul(ops.slice(tensor(b, [1, 9, 2, 3, 9, 4], [2, 3]), [null, [null, null, 2]]), tensor(b, [1, 10])),
    want: [21, 43],
    shape: [2],
  },
  'matmul of no columns': {
    run: (b) => ops.matmul(ops.zeros(b, [2, 0]), ops.zeros(b, [0, 3])),
    want: [0, 0, 0, 0, 0, 0],
  },
  'linear with bias, activation, residual': {
    run: (b) =>
      ops.linear(tensor(b, A.slice(0, 15), [3, 5]), ops.transpose(tensor(b, B.slice(0, 20), [5, 4])), {
        bias: tensor(b, bias),
        activation: 'geluTanh',
        residual: tensor(b, residual, [3, 4]),
      }),
    want: first.map((sum, index) => gelu(sum + at(bias, index % 4)) + at(residual, index)),
  },
  'linear and layerNorm with a function of the kernel language': {
    run: (b) => {
      const twice: ops.Activation = (k, x) => k.max(k.mul(x, 2), -0.5);
      const x = tensor(b, A.slice(0, 15), [3, 5]);
      const w = ops.transpose(tensor(b, B.slice(0, 20), [5, 4]));
      return [
        ops.linear(x, w, { activation: twice }),
        // Another one of the same name is not taken for it.
        ops.linear(x, w, { activation: (k, y) => k.mul(y, 0.5) }),
        ops.layerNorm(tensor(b, [1, 3, 1, 3], [2, 2]), { activation: twice, eps: 0 }),
      ];
    },
    want: [first.map((sum) => Math.max(2 * sum, -0.5)), first.map((sum) => sum / 2), [-0.5, 2, -0.5, 2]],
  },
  'linear into rows of a wider tensor, batch by batch': {
    run: (b) => {
      const wide = ops.zeros(b, [2, 4, 4]);
      const out = ops.slice(wide, [null, [1, 4]]);
      ops.linear(tensor(b, A, [2, 3, 5]), ops.transpose(tensor(b, B.slice(0, 20), [5, 4])), {
        bias: tensor(b, bias),
        out,
      });
      return wide;
    },
    want: [first, secondByFirst].flatMap((sums) => [0, 0, 0, 0, ...sums.map((sum, i) => sum + at(bias, i % 4))]),
  },
  'linear with a residual that is the same for each batch, part of a table': {
    run: (b) => {
      const table = tensor(b, [10, 20, 30, 40], [4, 1]);
      const weight = tensor(b, [[1]]);
      return ops.linear(ops.zeros(b, [2, 2, 1]), weight, { residual: ops.unsqueeze(ops.slice(table, [[0, 2]]), 0) });
    },
    want: [10, 20, 10, 20],
  },
  'linear of the same row for each batch': {
    run: (b) => [
      ops.linear(ops.expand(tensor(b, [1, 2]), [2, 1, 2]), tensor(b, [[1, 10]])),
      ops.linear(ops.expand(tensor(b, [1, 2]), [3, 2]), tensor(b, [[1, 10]])),
    ],
    want: [
      [21, 21],
      [21, 21, 21],
    ],
    shape: [2, 1, 1],
  },
  'linear into its own residual': {
    run: (b) => {
      const x = tensor(b, residual, [3, 4]);
      const weight = ops.transpose(tensor(b, B.slice(0, 20), [5, 4]));
      return ops.linear(tensor(b, A.slice(0, 15), [3, 5]), weight, { residual: x, out: x });
    },
    want: first.map((sum, index) => sum + at(residual, index)),
  },
  'linear of f16 with an epilogue': {
    run: (b) =>
      ops.linear(
        tensor(b, Float32Array.from(A), [6, 5], { dtype: 'f16' }),
        ops.transpose(tensor(b, Float32Array.from(B.slice(0, 20)), [5, 4], { dtype: 'f16' })),
        {
          bias: tensor(b, Float32Array.from(bias), [4], { dtype: 'f16' }),
          activation: 'relu',
        },
      ),
    want: [...first, ...secondByFirst].map((sum, index) => Math.max(0, sum + at(bias, index % 4))),
    tolerance: 3e-3,
  },
};
