import { BINARY_OPS, type BinaryOp } from '@concord/backend-core';
import { binaryFunction, binaryReference } from '@concord/backend-cpu/reference';
import { ulpF32 } from '../checks/bounds.ts';
import { compareAll } from '../checks/compare.ts';
import {
  drawAnyMagnitude,
  drawElementwise,
  drawModerate,
  drawPattern,
  ELEMENTWISE_DEFAULTS,
  type ElementwiseParams,
  flushed,
  shrinkElementwise,
  SPECIAL_VALUES,
  SUBNORMALS,
  tile,
  ulpTolerance,
} from '../checks/elementwise.ts';
import { binaryFormula, binaryUlps } from '../checks/function-accuracy.ts';
import type { CaseContext } from '../harness/case.ts';
import { checkPlanned, type PlanCall, type PlannedCall } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { nameSlots, type Slots } from '../harness/slot.ts';
import { defineSuite, type Suite } from '../harness/suite.ts';
import { Workspace } from '../harness/workspace.ts';
import { elementwiseTexts } from '../texts/elementwise.ts';

type Pairs = readonly (readonly [number, number])[];

/** The function of given pairs. */
function planPairs(slots: Slots, context: CaseContext, params: ElementwiseParams, pairs: Pairs): PlannedCall {
  const { backend } = context;
  const { inPlace } = params;
  const op = params.fn as BinaryOp;
  const n = pairs.length;
  const x = Float32Array.from(pairs, ([first]) => first);
  const y = Float32Array.from(pairs, ([, second]) => second);
  const a = inPlace === 'a' ? slots.inOut(x) : slots.input(x);
  const b = inPlace === 'b' ? slots.inOut(y) : slots.input(y);
  const output = inPlace === 'a' ? a : inPlace === 'b' ? b : slots.output(n);
  nameSlots({ a, b, output });
  const judge = (): void => {
    const want = binaryReference(op, x, y);
    const at = (i: number): [number, number] => [x[i] as number, y[i] as number];
    const tolerance = ulpTolerance(
      context,
      want,
      (i) => binaryUlps(op, ...at(i)),
      (i) => {
        const [first, second] = at(i);
        return flushed(first).flatMap((u) => flushed(second).map((v) => binaryFunction(op)(u, v)));
      },
    );
    compareAll(`${op} of ${n} pairs`, output.values(), want, {
      ...tolerance,
      inputs: (i) => `${op}(${at(i).join(', ')})`,
    });
  };
  const call = (): void => backend.binary({ op, n, a: a.ptr, b: b.ptr, output: output.ptr });
  return { op: 'binary', shape: { op, n }, call, judge };
}

const checkPairs = (pairsOf: (context: CaseContext, params: ElementwiseParams) => Pairs) =>
  checkPlanned<ElementwiseParams>((slots, context, params) =>
    planPairs(slots, context, params, pairsOf(context, params)),
  );

/** Pairs of moderate magnitude. */
export const planBinary: PlanCall<ElementwiseParams> = (slots, context, params) => {
  const { random } = context;
  const draw = (): readonly [number, number] =>
    params.fn === 'pow' ? drawPower(random) : [drawModerate(random), drawModerate(random)];
  return planPairs(slots, context, params, drawPairs(params.n, draw));
};

const drawPairs = (n: number, draw: () => readonly [number, number]): Pairs => Array.from({ length: n }, draw);

/** More elements than one grid dimension of workgroups holds; the oracle works out one period of the values. */
async function checkLong({ backend, random }: CaseContext, params: ElementwiseParams): Promise<void> {
  const { n } = params;
  const op = params.fn as BinaryOp;
  const [x, y] = [drawPattern(random), drawPattern(random)];
  const workspace = new Workspace(backend);
  const a = workspace.input(tile(x, n));
  const b = workspace.input(tile(y, n));
  const output = workspace.output(n);
  await workspace.run(() => backend.binary({ op, n, a: a.ptr, b: b.ptr, output: output.ptr }));
  const want = tile(binaryReference(op, x, y), n);
  compareAll(`${op} of ${n} pairs`, output.values(), want, {
    bound: (i) => binaryUlps(op, 0, 0) * ulpF32(want[i] as number),
  });
}

/** Pairs for pow whose result is neither 0 nor infinite: any base, exponents that fit it; integers for negative bases. */
function drawPower(random: Random): [number, number] {
  const base = Math.abs(drawModerate(random));
  const limit = 60 / Math.max(0.01, Math.abs(Math.log2(base)));
  const exponent = Math.fround((random.unit() * 2 - 1) * Math.min(limit, 200));
  if (random.chance(0.3)) return [-base, Math.round(exponent)];
  // Near 1 with a large exponent, where a logarithm in float32 has lost its digits.
  if (random.chance(0.1))
    return [Math.fround(1 + random.integer(-20, 20) * 2 ** -20), random.integer(-100_000, 100_000)];
  return [base, exponent];
}

const ALL_SPECIAL_PAIRS: Pairs = SPECIAL_VALUES.flatMap((x) => SPECIAL_VALUES.map((y) => [x, y] as const));
const ALL_SUBNORMAL_PAIRS: Pairs = SUBNORMALS.flatMap((x) =>
  [...SUBNORMALS, 1, -2, 0.5, 2 ** 100, 0].flatMap((y) => [[x, y] as const, [y, x] as const]),
);
/** The arguments of the op in checks of fixed pairs. */
const PAIRS: Readonly<Record<string, Pairs>> = { specials: ALL_SPECIAL_PAIRS, subnormals: ALL_SUBNORMAL_PAIRS };

type Entry = readonly [string, Partial<ElementwiseParams>];

const list: Entry[] = [
  ...BINARY_OPS.flatMap((fn): Entry[] => [
    ['accuracy', { fn, n: 4096 }],
    ['range', { fn, n: 4096 }],
    ['specials', { fn }],
    ['subnormals', { fn }],
    ['accuracy', { fn, n: 1001, inPlace: 'a' }],
    ['accuracy', { fn, n: 1001, inPlace: 'b' }],
    // Whole vectors, for which some kernels take a separate path.
    ['accuracy', { fn, n: 1024, inPlace: 'a' }],
    ['accuracy', { fn, n: 1024, inPlace: 'b' }],
    ['accuracy', { fn, n: 5, offset: 4, together: true }],
  ]),
  ...[1, 2, 3, 7, 63, 64, 65, 255, 257, 1023, 1025].map((n): Entry => ['accuracy', { fn: 'sub', n }]),
  ...[4, 8, 12].map((offset): Entry => ['accuracy', { fn: 'add', n: 129, offset }]),
  // Over 65,535 workgroups of 256.
  ['long', { fn: 'sub', n: 65_537 * 256 + 3 }],
];

/** `binary`. */
export const binarySuite: Suite = defineSuite<ElementwiseParams>({
  op: 'binary',
  defaults: ELEMENTWISE_DEFAULTS,
  checks: {
    accuracy: checkPlanned(planBinary),
    range: checkPairs(({ random }, { n }) => drawPairs(n, () => [drawAnyMagnitude(random), drawAnyMagnitude(random)])),
    long: checkLong,
    specials: checkPairs(() => ALL_SPECIAL_PAIRS),
    subnormals: checkPairs(() => ALL_SUBNORMAL_PAIRS),
  },
  texts: elementwiseTexts(binaryFormula),
  list,
  needs: ({ fn, n }, check) => ({ dtype: 'f32', shape: { op: fn, n: PAIRS[check]?.length ?? n } }),
  draw: (random) => drawElementwise(random, BINARY_OPS, ['a', 'b']),
  shrink: shrinkElementwise,
});
