import type { ComputeBackend } from '@concord/backend-core';
import { abs, add, clamp, div, maximum, minimum, mul, neg, rem, sub, type Tensor } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import type { OpCase, OpCases } from '../support/op-case.ts';

type NamedCase = readonly [string, OpCase];

const KINDS = [
  { dtype: 'u8', List: Uint8Array, low: 0, high: 255 },
  { dtype: 'i8', List: Int8Array, low: -128, high: 127 },
] as const;

const PAIRS = {
  add: [add, (a, b) => a + b],
  sub: [sub, (a, b) => a - b],
  mul: [mul, (a, b) => a * b],
  div: [div, (a, b) => (b === 0 ? 0 : Math.trunc(a / b))],
  rem: [rem, (a, b) => (b === 0 ? 0 : a % b)],
  minimum: [minimum, Math.min],
  maximum: [maximum, Math.max],
} as const satisfies Record<string, readonly [typeof add, (a: number, b: number) => number]>;

/** Every pair of bytes, and every byte: computed in i32, then saturated. */
const bytePairs: readonly NamedCase[] = KINDS.flatMap(({ dtype, List, low, high }) => {
  const all = Array.from({ length: 256 }, (_, index) => low + index);
  const stored = (value: number): number => Math.min(Math.max(value, low), high);
  const column = (backend: ComputeBackend): Tensor => tensor(backend, List.from(all), [256, 1]);
  const row = (backend: ComputeBackend): Tensor => tensor(backend, List.from(all));
  return [
    ...Object.entries(PAIRS).map(([name, [op, exact]]): NamedCase => [
      `${name} of all pairs of ${dtype}`,
      {
        run: (backend: ComputeBackend) => op(column(backend), row(backend)),
        want: all.flatMap((a) => all.map((b) => stored(exact(a, b)))),
        ...{ shape: [256, 256], tolerance: 0 },
      },
    ]),
    [
      `neg, abs and plain numbers with ${dtype}`,
      {
        run: (backend: ComputeBackend) => {
          const x = row(backend);
          return [
            neg(x),
            abs(x),
            sub(7, x),
            add(x, -3),
            clamp(x, { min: -5, max: 300 }),
            sub(x, x, { out: sub(x, 1) }),
          ];
        },
        want: [
          ...[
            all.map((x) => -x),
            all.map(Math.abs),
            all.map((x) => 7 - x),
            all.map((x) => x - 3),
            all.map((x) => Math.max(x, -5)),
          ].map((list) => list.map(stored)),
          all.map(() => 0),
        ],
        tolerance: 0,
      },
    ],
  ];
});

/** Kinds of integers with the words that bytes of that kind are computed in, and what those make of any integer. */
const MIXED = [
  {
    dtype: 'u8',
    Bytes: Uint8Array,
    bytes: [1, 3, 200, 255, 9],
    Words: Uint32Array,
    words: [2 ** 31, 2 ** 32 - 1, 7, 1, 40],
  },
  {
    dtype: 'i8',
    Bytes: Int8Array,
    bytes: [1, -3, -128, 127, 9],
    Words: Int32Array,
    words: [-(2 ** 31) + 7, 2 ** 31 - 1, -7, 1, 40],
  },
] as const;

/** Bytes with words: computed and stored in words, which wrap. */
const mixedPairs: readonly NamedCase[] = MIXED.flatMap(({ dtype, Bytes, bytes, Words, words }) =>
  Object.entries(PAIRS).map(([name, [op, exact]]): NamedCase => {
    const each = (a: readonly number[], b: readonly number[]): ArrayLike<number> => {
      const results = a.map((x, i) => (name === 'mul' ? Math.imul(x, b[i] as number) : exact(x, b[i] as number)));
      return new Words(results);
    };
    return [
      `${name} of ${dtype} and words, both ways`,
      {
        run: (backend) => {
          const [small, large] = [tensor(backend, Bytes.from(bytes)), tensor(backend, Words.from(words))];
          return [op(small, large), op(large, small)];
        },
        want: [each(bytes, words), each(words, bytes)],
        tolerance: 0,
      },
    ];
  }),
);

export const smallIntegerCases: OpCases = Object.fromEntries([...bytePairs, ...mixedPairs]);
