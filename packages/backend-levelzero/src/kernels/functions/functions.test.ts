import { BINARY_OPS, type BinaryOp, UNARY_OPS, type UnaryOp } from '@concord/backend-core';
import { binaryFunction, unaryFunction } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { memory, readFloats, slice, upload } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import { planBinary } from '../binary/plan.ts';
import type { Span } from '../recorder.ts';
import { planUnary } from '../unary/plan.ts';

let client: LevelZeroClient;
beforeAll(async () => {
  client = await LevelZeroClient.open();
});
afterAll(() => client.dispose());

/**
 * Largest errors in ulp: those found with millions of values, and a little more; what OpenCL promises of sqrt and div.
 */
const UNARY_ULPS: Readonly<Record<UnaryOp, number>> = {
  relu: 0,
  sigmoid: 3,
  tanh: 3,
  exp: 1.5,
  log: 1.5,
  sqrt: 3,
  abs: 0,
  neg: 0,
  gelu: 8,
  silu: 4,
};
const BINARY_ULPS: Readonly<Record<BinaryOp, number>> = {
  add: 0.5,
  sub: 0.5,
  mul: 0.5,
  div: 2.5,
  max: 0,
  min: 0,
  pow: 8,
};

const LEAST_NORMAL = 2 ** -126;

const SPECIAL: readonly number[] = [
  ...[Number.NaN, Infinity, 0, 1, 2, 3, 0.5, 2.5, 1e-40, LEAST_NORMAL, 2 ** -149, 1e-8, 0.99999994, 1.0000001],
  ...[
    8.5,
    9.5,
    13.2,
    14.9,
    15.1,
    16.7,
    88.7,
    88.73,
    89,
    103.9,
    104,
    105,
    120,
    121,
    1e4,
    16_777_217,
    2 ** 32,
    1e20,
    3.4e38,
  ],
]
  .flatMap((x) => [x, -x])
  .map(Math.fround);

/** Every exponent with some mantissas, the magnitudes where functions bend more densely, and special values. */
function sweep(): Float32Array {
  const bits = Uint32Array.from(
    { length: 2 ** 14 },
    (_, i) => Math.imul(i, 2 ** 18) + (Math.imul(i, 0x9e3779b1) >>> 14),
  );
  const dense = Array.from({ length: 2 ** 14 }, (_, i) => {
    const random = (Math.imul(i + 1, 0x9e3779b1) >>> 8) / 2 ** 24;
    return (random * 2 - 1) * 2 ** ((i % 21) - 13);
  });
  return Float32Array.from([...new Float32Array(bits.buffer), ...dense, ...SPECIAL]);
}

/**
 * Whether a result is good: within some ulp; where the device flushes subnormal numbers, those it gives of zeros too.
 */
function isGood(got: number, wants: readonly number[], ulps: number): boolean {
  return wants.some((want) => {
    if (Number.isNaN(want) || Number.isNaN(got)) return Number.isNaN(want) && Number.isNaN(got);
    const rounded = Math.fround(want);
    if (rounded === got) return true;
    if (!Number.isFinite(rounded)) return Math.abs(got) > 3.4028e38 && Math.sign(got) === Math.sign(want);
    const magnitude = Math.max(Math.abs(want), LEAST_NORMAL);
    if (!Number.isFinite(got)) return magnitude > 3.4028e38;
    const ulp = 2 ** (Math.floor(Math.log2(magnitude)) - 23);
    return Math.abs(got - want) <= Math.max(ulps * ulp, Math.abs(want) < 2 * LEAST_NORMAL ? LEAST_NORMAL : 0);
  });
}

const flushed = (x: number): readonly number[] => (Math.abs(x) < LEAST_NORMAL ? [x, 0, -0] : [x]);

const VARIANTS = [
  ['vectors', { isCpuLike: true, computeUnits: 2 }],
  ['quads', { isCpuLike: false }],
] as const;

type Plan = (input: readonly Span[], output: Span, n: number, traits: (typeof VARIANTS)[number][1]) => void;

/** Runs a plan in place, or from operands that start at odd elements; looks at what is around the result. */
async function results(
  plan: Plan,
  operands: readonly Float32Array[],
  traits: (typeof VARIANTS)[number][1],
  inPlace: boolean,
) {
  const n = operands[0]?.length as number;
  const spans = operands.map((values) => upload(client, [5, ...values, 7]));
  const inputs = spans.map((span, index) => slice(span, 4, operands[index]?.byteLength as number));
  const whole = inPlace ? (spans[0] as Span) : memory(client, 4 * (n + 2));
  if (!inPlace) client.fill(whole, 0);
  plan(inputs, slice(whole, 4, 4 * n), n, traits);
  const all = await readFloats(client, whole);
  expect([all[0], all.at(-1)]).toEqual(inPlace ? [5, 7] : [0, 0]);
  return all.slice(1, -1);
}

describe.each(VARIANTS)('by %s', (_, traits) => {
  it.each(UNARY_OPS)('%s', async (op) => {
    const rest = { opName: 'unary', dtype: 'f32', operands: [], op } as const;
    const plan: Plan = ([input], output, n) =>
      client.record('unary', (recorder) =>
        planUnary({ ...rest, input: input as Span, output, n }, withTraits(recorder, traits)),
      );
    const x = sweep();
    const want = unaryFunction(op);
    for (const inPlace of [false, true]) {
      const got = await results(plan, [x], traits, inPlace);
      const bad = got.flatMap((value, i) => {
        const given = x[i] as number;
        return isGood(value, flushed(given).map(want), UNARY_ULPS[op])
          ? []
          : [`${op}(${given}) gave ${value}, not ${want(given)}`];
      });
      expect(bad.slice(0, 10)).toEqual([]);
    }
  });

  it.each(BINARY_OPS)('%s', async (op) => {
    const rest = { opName: 'binary', dtype: 'f32', operands: [], op } as const;
    const plan: Plan = ([a, b], output, n) =>
      client.record('binary', (recorder) =>
        planBinary({ ...rest, a: a as Span, b: b as Span, output, n }, withTraits(recorder, traits)),
      );
    const some = sweep();
    const x = Float32Array.from([...some, ...SPECIAL.flatMap((value) => SPECIAL.map(() => value))]);
    const y = Float32Array.from([
      ...some.map((_, i) => ((Math.imul(i + 1, 0x85ebca6b) >>> 8) / 2 ** 23 - 1) * 2 ** ((i % 17) - 8)),
      ...SPECIAL.flatMap(() => SPECIAL),
    ]);
    const want = binaryFunction(op);
    for (const inPlace of [false, true]) {
      const got = await results(plan, [x, y], traits, inPlace);
      const bad = got.flatMap((value, i) => {
        const [a, b] = [x[i] as number, y[i] as number];
        const wants = flushed(a).flatMap((first) => flushed(b).map((second) => want(first, second)));
        return isGood(value, wants, BINARY_ULPS[op]) ? [] : [`${op}(${a}, ${b}) gave ${value}, not ${want(a, b)}`];
      });
      expect(bad.slice(0, 10)).toEqual([]);
    }
  });

  it.each([1, 2, 3, 4, 5, 15, 16, 17, 255, 1023, 1025, 8191, 8193, 20_003])(
    '%d elements, and none beside them',
    async (n) => {
      const rest = { opName: 'unary', dtype: 'f32', operands: [], op: 'neg' } as const;
      const plan: Plan = ([input], output) =>
        client.record('unary', (recorder) =>
          planUnary({ ...rest, input: input as Span, output, n }, withTraits(recorder, traits)),
        );
      const x = Float32Array.from({ length: n }, (_, i) => i + 1);
      expect(await results(plan, [x], traits, false)).toEqual([...x].map((value) => -value));
    },
  );
});
