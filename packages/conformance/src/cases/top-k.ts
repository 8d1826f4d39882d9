import type { TopKShape } from '@concord/backend-core';
import { topKReference } from '@concord/backend-cpu/reference';
import { compareAll, compareBytes } from '../checks/compare.ts';
import { type CaseContext, defineSuite, expectThat, type Suite } from '../harness/case.ts';
import {
  checkPlanned,
  checkRepeat,
  type ExpectedError,
  expectThrows,
  type PlanCall,
  sampleOf,
  withNullPointers,
} from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { plainer, smallerSizes } from '../harness/shrink.ts';
import { nameSlots } from '../harness/workspace.ts';

/** Parameters of topK, with the value that each has where an id leaves it out. */
export const TOP_K_DEFAULTS = {
  rows: 1,
  columns: 1,
  k: 1,
  /** `largest: false`. */
  least: false,
  offset: 0,
  together: false,
  seed: 0,
};

/** Parameters of topK. */
export type TopKParams = Readonly<typeof TOP_K_DEFAULTS>;

/** Neighbours of these are where kernels cut rows. */
const STEPS = [8, 16, 64, 256, 512, 1024, 2048, 4096, 8192, 65_536];
/** NaN of both signs, quiet and signalling, and with more in it than that. */
const NANS = [0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xffff_ffff, 0x7fc1_2345];
const SPECIAL_BITS = [
  ...NANS,
  ...[0x7f80_0000, 0xff80_0000, 0x7f7f_ffff, 0xff7f_ffff],
  ...[0x0000_0001, 0x8000_0001, 0x007f_ffff, 0x807f_ffff, 0, 0x8000_0000],
];

/** The call of a case, without its pointers. */
export function topKShape({ rows, columns, k, least }: TopKParams): TopKShape {
  return { rows, columns, k, largest: !least };
}

const words = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.slice().buffer);

/** Draws the elements of a call. */
type Draw = (random: Random, params: TopKParams) => Float32Array;

/** Indices as the oracle has them, and each value with the bits that the input has there. */
const planSelection =
  (draw: Draw): PlanCall<TopKParams> =>
  (slots, { backend, random }, params) => {
    const { rows, columns, k } = params;
    const shape = topKShape(params);
    const elements = draw(random, params);
    const input = slots.input(elements);
    const [values, indices] = [slots.output(rows * k), slots.output(rows * k)];
    nameSlots({ input, values, indices });
    return {
      op: 'topK',
      shape: { ...shape },
      call: () => backend.topK({ ...shape, input: input.ptr, values: values.ptr, indices: indices.ptr }),
      judge: () => {
        const want = topKReference(shape, elements);
        compareAll('indices', words(indices.after), want, { bound: () => 0 });
        const bits = new Uint32Array(elements.buffer);
        const copied = want.map((place, i) => bits[Math.floor(i / k) * columns + place] as number);
        compareBytes('values', values.after, new Uint8Array(copied.buffer));
      },
    };
  };

/** Elements that are drawn one by one, of their column. */
const each =
  (draw: (random: Random, params: TopKParams) => (column: number) => number): Draw =>
  (random, params) => {
    const value = draw(random, params);
    return Float32Array.from({ length: params.rows * params.columns }, (_, i) => value(i % params.columns));
  };

/** Few different numbers, so that places count. */
export const planTopK: PlanCall<TopKParams> = planSelection(each((random) => () => random.integer(-9, 9)));

const DRAWS = {
  /** Numbers of many magnitudes, hardly any of them twice. */
  exact: each((random) => () => random.wideFloat(20)),
  /** Few different numbers, so that most of what is selected has equals that are not; half of the zeros negative. */
  ties: (random, params) => {
    const elements = each(() => () => random.integer(-2, 2))(random, params);
    return elements.map((x) => (x === 0 && random.chance(0.5) ? -0 : x));
  },
  /** One number throughout: the first k places. */
  equal: each((random) => {
    const value = random.wideFloat();
    return () => value;
  }),
  /** Sorted rows: each element is better than all before it, or none is. */
  rising: each(
    (_, { columns }) =>
      (column) =>
        (column - columns / 3) / 8,
  ),
  falling: each(
    (_, { columns }) =>
      (column) =>
        (columns / 3 - column) / 8,
  ),
  /** The best are first, last and on both sides of where kernels cut rows, all equal; the others are drawn. */
  edges: (random, params) => {
    const { columns, least } = params;
    const edges = STEPS.flatMap((step) => {
      const last = Math.floor((columns - 1) / step) * step;
      return [step - 1, step, last - 1, last];
    });
    const places = new Set([0, 1, columns - 2, columns - 1, ...edges]);
    const elements = each(() => () => random.wideFloat())(random, params);
    return elements.map((x, i) => (places.has(i % columns) ? (least ? -1e9 : 1e9) : x));
  },
  /** NaN of all kinds above Infinity, the ends of the range, subnormals, zeros: each is where it belongs, with its bits. */
  specials: (random, params) => {
    const elements = each(() => () => random.integer(-3, 3))(random, params);
    const bits = new Uint32Array(elements.buffer);
    for (let i = 0; i < bits.length; i++) if (random.chance(0.4)) bits[i] = random.pick(SPECIAL_BITS);
    return elements;
  },
} satisfies Readonly<Record<string, Draw>>;

/** k is at most the columns and the device's limit; indices have 32 bits. */
async function checkLimits({ backend }: CaseContext): Promise<void> {
  const { maxTopK } = backend.capabilities.limits;
  expectThat(maxTopK >= 256, `maxTopK ${maxTopK} is under 256`);
  const sample = withNullPointers(sampleOf('topK'));
  const call = (shape: TopKShape) => () => backend.topK({ ...sample, ...shape } as never);
  const wrong = (detail: RegExp): ExpectedError => ({ code: 'INVALID_ARGUMENT', detail });
  expectThrows('k over the columns', wrong(/^k must be at most columns, 7/), call({ rows: 3, columns: 7, k: 8 }));
  const wide: TopKShape = { rows: 1, columns: 2 ** 32, k: 1 };
  expectThrows('an index of 33 bits', wrong(/^columns must be below 2\^32/), call(wide));
  const over: TopKShape = { rows: 1, columns: maxTopK + 1, k: maxTopK + 1 };
  expectThat(!backend.supports('topK', over).ok, 'supports a k over maxTopK');
  expectThrows('k over maxTopK', { code: 'UNSUPPORTED' }, call(over));
}

/** The largest k of the device, of a row that is little longer. */
async function checkMost(context: CaseContext, params: TopKParams): Promise<void> {
  const k = context.backend.capabilities.limits.maxTopK;
  await checkPlanned(planSelection(DRAWS.exact))(context, { ...params, k, columns: k + params.columns });
}

type Entry = readonly [string, Partial<TopKParams>];

/** rows, columns, k */
const SIZES: readonly (readonly [number, number, number])[] = [
  [1, 1, 1],
  [3, 7, 2],
  [5, 16, 16],
  [70, 17, 3],
  [9, 64, 64],
  [4, 65, 17],
  [6, 255, 10],
  [3, 257, 256],
  [3, 1000, 16],
  [2, 1025, 65],
  [5, 2049, 1],
  [3, 4099, 100],
  [2, 20_001, 256],
];

const list: Entry[] = [
  ...SIZES.flatMap(([rows, columns, k]): Entry[] => [
    ['exact', { rows, columns, k }],
    ['exact', { rows, columns, k, least: true }],
    ['ties', { rows, columns, k }],
    ['ties', { rows, columns, k, least: true }],
    ['edges', { rows, columns, k }],
    ['specials', { rows, columns, k }],
    ['specials', { rows, columns, k, least: true }],
  ]),
  ...[false, true].flatMap((least): Entry[] => [
    ['exact', { rows: 70_000, columns: 3, k: 2, least }],
    ['exact', { rows: 2, columns: 256, k: 256, least }],
    ['exact', { rows: 2, columns: 511, k: 256, least }],
    ['exact', { rows: 1, columns: 100_000, k: 256, least }],
    ['edges', { rows: 2, columns: 100_000, k: 40, least }],
    ['ties', { rows: 1, columns: 65_537, k: 100, least }],
    ['equal', { rows: 3, columns: 33, k: 33, least }],
    ['equal', { rows: 2, columns: 3000, k: 64, least }],
    ['equal', { rows: 1, columns: 40_000, k: 256, least }],
    ['rising', { rows: 3, columns: 63, k: 7, least }],
    ['rising', { rows: 2, columns: 2100, k: 16, least }],
    ['rising', { rows: 1, columns: 50_257, k: 10, least }],
    ['rising', { rows: 1, columns: 30_001, k: 256, least }],
    ['falling', { rows: 3, columns: 63, k: 7, least }],
    ['falling', { rows: 1, columns: 50_257, k: 10, least }],
    ['exact', { rows: 11, columns: 130, k: 9, offset: 4, least }],
    ['ties', { rows: 11, columns: 130, k: 9, offset: 12, together: true, least }],
    ['exact', { rows: 3, columns: 5000, k: 30, offset: 4, together: true, least }],
    ['specials', { rows: 1, columns: 70_001, k: 256, least }],
    ['most', { columns: 77, least }],
  ]),
  // The last part of a row has fewer elements than are wanted of it.
  ...STEPS.filter((step) => step >= 512).flatMap((step): Entry[] => [
    ['exact', { rows: 3, columns: 2 * step + 5, k: 100 }],
    ['exact', { rows: 2, columns: 3 * step + 1, k: 256, least: true }],
  ]),
  ['exact', { rows: 70_000, columns: 1, k: 1 }],
  ['exact', { rows: 700, columns: 129, k: 8 }],
  ['repeat', { rows: 4, columns: 9000, k: 50 }],
  ['limits', {}],
];

function draw(random: Random): [string, TopKParams] {
  const columns = random.pick([
    random.integer(1, 9),
    random.integer(1, 300),
    random.integer(1, 5000),
    random.pick(STEPS) + random.integer(-1, 1),
  ]);
  const params: TopKParams = {
    rows: columns > 5000 ? random.integer(1, 2) : random.integer(1, 40),
    columns,
    k: Math.min(columns, random.pick([1, random.integer(1, 16), random.integer(1, 256), 256])),
    least: random.chance(0.5),
    offset: random.pick([0, 4, 12]),
    together: random.chance(0.2),
    seed: random.uint32(),
  };
  return [random.pick(['exact', 'ties', 'equal', 'rising', 'falling', 'edges', 'specials', 'repeat']), params];
}

function shrink(params: TopKParams): Partial<TopKParams>[] {
  const { rows, columns, k } = params;
  return [
    ...smallerSizes(rows).map((size) => ({ rows: size })),
    ...smallerSizes(columns).map((size) => ({ columns: size, k: Math.min(k, size) })),
    ...smallerSizes(k).map((size) => ({ k: size })),
    ...plainer(params, TOP_K_DEFAULTS, ['offset', 'together', 'least']),
  ];
}

/** `topK`. */
export const topKSuite: Suite = defineSuite<TopKParams>({
  op: 'topK',
  defaults: TOP_K_DEFAULTS,
  checks: {
    ...Object.fromEntries(Object.entries(DRAWS).map(([name, own]) => [name, checkPlanned(planSelection(own))])),
    most: checkMost,
    repeat: checkRepeat(planSelection(each((random) => () => random.wideFloat()))),
    limits: checkLimits,
  },
  list,
  needs: () => ({ dtype: 'f32' }),
  draw,
  shrink,
});
