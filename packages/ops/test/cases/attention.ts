import { attention, cast, concat, empty, greater, permute, slice, zeros, type Tensor } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const HEADS = 2;
const DIM = 4;
const KEYS = 5;
/** Rows of queries, keys and values side by side, as one product gives them: `[KEYS, 3, HEADS, DIM]`. */
const QKV = numbers(KEYS * 3 * HEADS * DIM, 7);
const at = (row: number, part: number, head: number, d: number): number =>
  QKV[((row * 3 + part) * HEADS + head) * DIM + d] as number;

/** The last `queries` rows attend to all rows that they see. `[HEADS, queries, DIM]`. */
function byDefinition(
  queries: number,
  sees: (query: number, key: number) => boolean,
  kvHead = (head: number) => head,
): number[] {
  const result: number[] = [];
  for (let head = 0; head < HEADS; head++) {
    for (let query = KEYS - queries; query < KEYS; query++) {
      const weights = Array.from({ length: KEYS }, (_, key) => {
        let score = 0;
        for (let d = 0; d < DIM; d++) score += at(query, 0, head, d) * at(key, 1, kvHead(head), d);
        return sees(query, key) ? Math.exp(score / Math.sqrt(DIM)) : 0;
      });
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (let d = 0; d < DIM; d++) {
        result.push(weights.reduce((sum, weight, key) => sum + (weight / total) * at(key, 2, kvHead(head), d), 0));
      }
    }
  }
  return result;
}

const MASK = [0, -Infinity, 0, 0, -Infinity];

/** Four matrices of 4x4: queries, keys, values and a mask. */
const SQUARES = numbers(64, 91);

/** Attention on views of one product: no copies. */
export const attentionCases: OpCases = {
  'all queries, causal, from views': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      return attention(q, k, v, { causal: true });
    },
    want: byDefinition(KEYS, (query, key) => key <= query),
    shape: [1, HEADS, KEYS, DIM],
  },
  'the last query sees the cache before it': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      return attention(slice(q, [null, null, [KEYS - 1]]), k, v, { causal: true });
    },
    want: byDefinition(1, () => true),
  },
  'into the memory of each operand in turn': {
    run: (backend) =>
      [0, 1, 2, 3].map((place) => {
        const operands = [0, 1, 2, 3].map((part) =>
          tensor(backend, SQUARES.slice(16 * part, 16 * part + 16), [1, 1, 4, 4]),
        );
        const [q, k, v, mask] = operands as [Tensor, Tensor, Tensor, Tensor];
        return attention(q, k, v, { mask, out: operands[place] as Tensor });
      }),
    want: Array.from({ length: 4 }, () => ofSquares()),
  },
  'the first keys of a cache, as many as a tensor says, of which the last query is the last': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      const lengths = tensor(backend, Uint32Array.of(3));
      return attention(slice(q, [null, null, [1, 3]]), k, v, { causal: true, lengths });
    },
    want: byDefinition(KEYS, (query, key) => key <= query).filter((_, i) =>
      [1, 2].includes(Math.floor(i / DIM) % KEYS),
    ),
  },
  'queries at a place that a tensor says': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      const starts = tensor(backend, Int32Array.of(2), [1]);
      return attention(slice(q, [null, null, [2]]), k, v, { causal: true, starts });
    },
    want: byDefinition(KEYS - 2, (query, key) => key <= query),
  },
  'a mask of bytes, as a comparison gives it, and one of the dtype of the operands': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      const mask = tensor(backend, MASK);
      const narrow = [q, k, v].map((x) => cast(x, 'f16')) as [Tensor, Tensor, Tensor];
      return [
        attention(q, k, v, { mask: greater(mask, -1) }),
        cast(attention(...narrow, { mask: cast(mask, 'f16') }), 'f32'),
      ];
    },
    want: [0, 1].map(() => byDefinition(KEYS, (_, key) => MASK[key] === 0)),
    tolerance: 2e-3,
  },
  'values of fewer columns, and of more': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      return [attention(q, k, slice(v, [null, null, null, [0, 3]])), attention(q, k, concat([v, v], { axis: 3 }))];
    },
    want: [
      [0, 1, 2],
      [0, 1, 2, 3, 0, 1, 2, 3],
    ].map((columns) => {
      const all = byDefinition(KEYS, () => true);
      return Array.from({ length: all.length / DIM }, (_, row) =>
        columns.map((d) => all[row * DIM + d] as number),
      ).flat();
    }),
    shape: [1, HEADS, KEYS, 3],
  },
  'logarithms of the sums of exp(score)': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      const lse = empty(backend, [1, HEADS, KEYS]);
      attention(q, k, v, { mask: tensor(backend, MASK), lse });
      return lse;
    },
    want: Array.from({ length: HEADS * KEYS }, (_, row) => {
      const score = (key: number): number =>
        [0, 1, 2, 3].reduce(
          (sum, d) => sum + at(row % KEYS, 0, Math.floor(row / KEYS), d) * at(key, 1, Math.floor(row / KEYS), d),
          0,
        ) / 2;
      return Math.log(MASK.reduce((sum, hides, key) => sum + (hides === 0 ? Math.exp(score(key)) : 0), 0));
    }),
  },
  'keys and values in f16 and bf16': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      return (['f16', 'bf16'] as const).map((dtype) => attention(q, cast(k, dtype), cast(v, dtype)));
    },
    want: [0, 1].map(() => byDefinition(KEYS, () => true)),
    tolerance: 2e-2,
  },
  'no keys': {
    run: (backend) =>
      attention(tensor(backend, [1, 2], [1, 1, 1, 2]), zeros(backend, [1, 1, 0, 2]), zeros(backend, [1, 1, 0, 2])),
    want: [0, 0],
    shape: [1, 1, 1, 2],
  },
  'a mask and one head of keys for all': {
    run: (backend) => {
      const [q, k, v] = parts(tensor(backend, QKV, [KEYS, 3, HEADS, DIM]));
      const one = (x: typeof k): typeof k => slice(x, [null, [0, 1]]);
      return attention(q, one(k), one(v), { mask: tensor(backend, MASK) });
    },
    want: byDefinition(
      KEYS,
      (_, key) => MASK[key] === 0,
      () => 0,
    ),
  },
};

function ofSquares(): number[] {
  const matrix = (part: number, row: number, column: number): number => SQUARES[16 * part + 4 * row + column] as number;
  const each = [0, 1, 2, 3];
  return each.flatMap((query) => {
    const score = (key: number): number =>
      each.reduce((sum, d) => sum + matrix(0, query, d) * matrix(1, key, d), 0) / 2 + matrix(3, query, key);
    const weights = each.map((key) => Math.exp(score(key)));
    const sum = weights.reduce((all, weight) => all + weight, 0);
    return each.map((d) => weights.reduce((all, weight, key) => all + weight * matrix(2, key, d), 0) / sum);
  });
}

function parts(qkv: ReturnType<typeof tensor>): [typeof qkv, typeof qkv, typeof qkv] {
  const heads = (part: number): typeof qkv => permute(slice(qkv, [null, [part, part + 1]]), [1, 2, 0, 3]);
  return [heads(0), heads(1), heads(2)];
}
