import { attention, conv2d, linear, matmul, maxPool, avgPool, rope } from '../../src/index.ts';
import { at, broadcast, type Model, seenFrom } from '../support/model.ts';
import {
  broadcastable,
  computed,
  indices,
  integers,
  oneOf,
  type Operand,
  type Pick,
  sizes,
  type Step,
  put,
} from './step.ts';

/** Functions of operands of a form of their own: products with epilogues, convolution, attention, pooling, rope. */
export const PRODUCT_STEPS = [product, linearLayer, linearLayer, convolution, convolution, attending, pooling, turning];

const many = (length: number): number[] => Array.from({ length }, (_, i) => i);
const total = (length: number, term: (i: number) => number): number =>
  many(length).reduce((sum, i) => sum + term(i), 0);

function product(pick: Pick): Step {
  const batch = sizes(pick, pick(4));
  const [m = 1, n = 1, k = 1] = sizes(pick, 3);
  const operands = [
    integers(pick, [...broadcastable(pick, batch), m, k]),
    integers(pick, [...broadcastable(pick, batch), k, n]),
  ];
  return {
    shown: 'matmul',
    operands,
    run: ([a, b], out) => matmul(a as never, b as never, { out }),
    want: ([a, b]) => {
      const both = broadcast([a, b].map((each) => (each as Model).shape.slice(0, -2))) as number[];
      return computed([...both, m, n], (index) => {
        const [outer, i, j] = [index.slice(0, -2), index.at(-2) as number, index.at(-1) as number];
        return total(
          k,
          (each) => seenFrom(a as Model, [...outer, i, each]) * seenFrom(b as Model, [...outer, each, j]),
        );
      });
    },
  };
}

/** An addend that may be missing. */
function maybe(pick: Pick, shape: readonly number[]): Operand[] {
  return pick(3) === 0 ? [] : [integers(pick, shape)];
}

function linearLayer(pick: Pick): Step {
  const rows = sizes(pick, 1 + pick(4));
  const [inputs = 1, outputs = 1] = sizes(pick, 2);
  const bias = maybe(pick, [outputs]);
  const residual = maybe(pick, broadcastable(pick, [...rows, outputs]));
  const activation = oneOf(pick, ['relu', 'relu', undefined] as const);
  const parts = <T>(list: readonly T[]): [T, T, T | undefined, T | undefined] => [
    ...(list.slice(0, 2) as [T, T]),
    bias.length > 0 ? list[2] : undefined,
    residual.length > 0 ? list[2 + bias.length] : undefined,
  ];
  return {
    shown: `linear ${activation} bias ${bias.length} residual ${residual.length}`,
    operands: [integers(pick, [...rows, inputs]), integers(pick, [outputs, inputs]), ...bias, ...residual],
    run: (tensors, out) => {
      const [x, weight, added, rest] = parts(tensors);
      return linear(x, weight, { bias: added, activation, residual: rest, out });
    },
    want: (models) => {
      const [x, weight, added, rest] = parts(models);
      return computed([...rows, outputs], (index) => {
        const j = index.at(-1) as number;
        const product = total(inputs, (each) => at(x, [...index.slice(0, -1), each]) * at(weight, [j, each]));
        const sum = product + (added === undefined ? 0 : at(added, [j]));
        return (activation === 'relu' ? Math.max(0, sum) : sum) + (rest === undefined ? 0 : seenFrom(rest, index));
      });
    },
  };
}

function convolution(pick: Pick): Step {
  const groups = 1 + pick(2);
  const [n, c, k] = [1 + pick(2), groups * (1 + pick(2)), groups * (1 + pick(2))];
  const [r, s] = [1 + pick(3), 1 + pick(3)];
  const stride = [1 + pick(4), 1 + pick(4)] as const;
  const dilation = [1 + pick(2), 1 + pick(2)] as const;
  const padding = [pick(3), pick(3), pick(3), pick(3)] as const;
  const [h, w] = [dilation[0] * (r - 1) + 1 + pick(3), dilation[1] * (s - 1) + 1 + pick(3)];
  const p = Math.floor((h + padding[0] + padding[2] - dilation[0] * (r - 1) - 1) / stride[0]) + 1;
  const q = Math.floor((w + padding[1] + padding[3] - dilation[1] * (s - 1) - 1) / stride[1]) + 1;
  const shape = [n, k, p, q];
  const operands = [
    integers(pick, [n, c, h, w]),
    integers(pick, [k, c / groups, r, s]),
    integers(pick, [k]),
    integers(pick, broadcastable(pick, shape)),
  ];
  return {
    shown: `conv2d stride ${String(stride)} dilation ${String(dilation)} padding ${String(padding)} groups ${groups}`,
    operands,
    run: ([x, filter, bias, residual], out) =>
      conv2d(x as never, filter as never, {
        stride,
        dilation,
        padding,
        groups,
        bias,
        residual,
        activation: 'relu',
        out,
      }),
    want: ([x, filter, bias, residual]) =>
      computed(shape, (index) => {
        const [image = 0, to = 0, row = 0, column = 0] = index;
        const sum = total(c / groups, (channel) =>
          total(r, (i) =>
            total(s, (j) => {
              const y = row * stride[0] - padding[0] + i * dilation[0];
              const z = column * stride[1] - padding[1] + j * dilation[1];
              if (y < 0 || y >= h || z < 0 || z >= w) return 0;
              const from = Math.floor(to / (k / groups)) * (c / groups) + channel;
              return at(x as Model, [image, from, y, z]) * at(filter as Model, [to, channel, i, j]);
            }),
          ),
        );
        return Math.max(0, sum + at(bias as Model, [to])) + seenFrom(residual as Model, index);
      }),
  };
}

function attending(pick: Pick): Step {
  const kvHeads = 1 + pick(2);
  const [batch, heads, queries, keys, dim] = [
    1 + pick(2),
    kvHeads * (1 + pick(2)),
    1 + pick(3),
    1 + pick(4),
    1 + pick(4),
  ];
  const causal = pick(2) === 0;
  const offset = pick(keys + 2) - 1;
  const window = pick(2) === 0 ? undefined : 1 + pick(3);
  const masks = maybe(pick, broadcastable(pick, [batch, heads, queries, keys]));
  return {
    shown: `attention causal ${causal} offset ${offset} window ${window} of ${heads}/${kvHeads} heads`,
    operands: [
      integers(pick, [batch, heads, queries, dim]),
      integers(pick, [batch, kvHeads, keys, dim]),
      integers(pick, [batch, kvHeads, keys, dim]),
      ...masks,
    ],
    run: ([q, k, v, mask], out) =>
      attention(q as never, k as never, v as never, {
        ...{ causal, offset, scale: 0.25, mask, out },
        ...(window === undefined ? {} : { window }),
      }),
    want: ([q, k, v, mask]) =>
      computed([batch, heads, queries, dim], ([n = 0, head = 0, i = 0, d = 0]) => {
        const kv = Math.floor(head / (heads / kvHeads));
        const weights = many(keys).map((j) => {
          if (causal && j > i + offset) return 0;
          if (window !== undefined && j <= i + offset - window) return 0;
          const score = total(dim, (e) => at(q as Model, [n, head, i, e]) * at(k as Model, [n, kv, j, e])) / 4;
          return Math.exp(score + (mask === undefined ? 0 : seenFrom(mask, [n, head, i, j])));
        });
        const sum = weights.reduce((a, b) => a + b, 0);
        return sum === 0 ? 0 : total(keys, (j) => ((weights[j] as number) / sum) * at(v as Model, [n, kv, j, d]));
      }),
    tolerance: 2e-5,
  };
}

function pooling(pick: Pick): Step {
  const isMax = pick(2) === 0;
  const [r, s] = [1 + pick(3), 1 + pick(3)];
  const [n, c, h, w] = [1 + pick(2), 1 + pick(2), r + pick(4), s + pick(4)];
  const stride = [1 + pick(4), 1 + pick(4)] as const;
  const padding = [pick(r), pick(s)] as const;
  const counts = pick(2) === 0;
  const shape = [
    n,
    c,
    Math.floor((h + 2 * padding[0] - r) / stride[0]) + 1,
    Math.floor((w + 2 * padding[1] - s) / stride[1]) + 1,
  ];
  return {
    shown: `${isMax ? 'maxPool' : 'avgPool'} ${r},${s} stride ${String(stride)} padding ${String(padding)} ${counts}`,
    operands: [integers(pick, [n, c, h, w])],
    run: ([x], out) =>
      isMax
        ? maxPool(x as never, [r, s], { stride, padding, out })
        : avgPool(x as never, [r, s], { stride, padding, countIncludePad: counts, out }),
    want: ([x]) =>
      computed(shape, ([image = 0, channel = 0, row = 0, column = 0]) => {
        const seen = many(r * s).flatMap((each) => {
          const y = row * stride[0] - padding[0] + Math.floor(each / s);
          const z = column * stride[1] - padding[1] + (each % s);
          return y < 0 || y >= h || z < 0 || z >= w ? [] : [at(x as Model, [image, channel, y, z])];
        });
        return isMax ? Math.max(...seen) : seen.reduce((a, b) => a + b, 0) / (counts ? r * s : seen.length);
      }),
    tolerance: isMax ? 0 : 1e-6,
  };
}

function turning(pick: Pick): Step {
  const rows = sizes(pick, 1 + pick(3));
  const half = 1 + pick(3);
  const interleaved = pick(2) === 0;
  const offset = pick(5);
  const positions = indices(pick, broadcastable(pick, rows), 0, 9);
  return {
    shown: `rope interleaved ${interleaved} offset ${offset}`,
    operands: [integers(pick, [...rows, 2 * half]), positions],
    run: ([x, places], out) => rope(x as never, { positions: places, interleaved, offset, base: 100, out }),
    want: ([x, places]) =>
      computed([...rows, 2 * half], (index) => {
        const d = index.at(-1) as number;
        const pair = interleaved ? Math.floor(d / 2) : d % half;
        const isSecond = interleaved ? d % 2 === 1 : d >= half;
        const of = (place: number): number => at(x as Model, put(index, -1, place));
        const [a, b] = interleaved ? [of(2 * pair), of(2 * pair + 1)] : [of(pair), of(pair + half)];
        const angle = (seenFrom(places as Model, index.slice(0, -1)) + offset) * 100 ** (-pair / half);
        return isSecond ? b * Math.cos(angle) + a * Math.sin(angle) : a * Math.cos(angle) - b * Math.sin(angle);
      }),
    tolerance: 1e-5,
  };
}
