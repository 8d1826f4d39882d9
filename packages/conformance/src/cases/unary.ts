import { UNARY_OPS, type UnaryOp } from '@concord/backend-core';
import { unaryFunction, unaryReference } from '@concord/backend-cpu/reference';
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
import { unaryFormula, unaryUlps } from '../checks/function-accuracy.ts';
import type { CaseContext } from '../harness/case.ts';
import { checkPlanned, type PlanCall, type PlannedCall } from '../harness/planned-call.ts';
import { nameSlots, type Slots } from '../harness/slot.ts';
import { defineSuite, type Suite } from '../harness/suite.ts';
import { Workspace } from '../harness/workspace.ts';
import { elementwiseTexts } from '../texts/elementwise.ts';

/** The function of given values. */
function planValues(slots: Slots, context: CaseContext, params: ElementwiseParams, values: Float32Array): PlannedCall {
  const { backend } = context;
  const op = params.fn as UnaryOp;
  const n = values.length;
  const input = params.inPlace === 'none' ? slots.input(values) : slots.inOut(values);
  const output = params.inPlace === 'none' ? slots.output(n) : input;
  nameSlots({ input, output });
  return {
    op: 'unary',
    shape: { op, n },
    call: () => backend.unary({ op, n, input: input.ptr, output: output.ptr }),
    judge: () => {
      const want = unaryReference(op, values);
      const tolerance = ulpTolerance(
        context,
        want,
        (i) => unaryUlps(op, values[i] as number),
        (i) => flushed(values[i] as number).map(unaryFunction(op)),
      );
      compareAll(`${op} of ${n} values`, output.values(), want, { ...tolerance, inputs: (i) => `${op}(${values[i]})` });
    },
  };
}

/** Values of moderate magnitude. */
export const planUnary: PlanCall<ElementwiseParams> = (slots, context, params) => {
  const { random } = context;
  const positive = params.fn === 'log' || params.fn === 'sqrt';
  const draw = (): number => (positive ? Math.abs(drawModerate(random)) : drawModerate(random));
  return planValues(slots, context, params, Float32Array.from({ length: params.n }, draw));
};

const checkValues = (valuesOf: (context: CaseContext, params: ElementwiseParams) => Float32Array) =>
  checkPlanned<ElementwiseParams>((slots, context, params) =>
    planValues(slots, context, params, valuesOf(context, params)),
  );

/** More elements than one grid dimension of workgroups holds; the oracle works out one period of the values. */
async function checkLong({ backend, random }: CaseContext, params: ElementwiseParams): Promise<void> {
  const { n } = params;
  const op = params.fn as UnaryOp;
  const pattern = drawPattern(random);
  const workspace = new Workspace(backend);
  const input = workspace.input(tile(pattern, n));
  const output = workspace.output(n);
  await workspace.run(() => backend.unary({ op, n, input: input.ptr, output: output.ptr }));
  compareAll(`${op} of ${n} values`, output.values(), tile(unaryReference(op, pattern), n), { bound: () => 0 });
}

/** The number of values in a check's call of the op. */
function lengthOf(check: string, { n }: ElementwiseParams): number {
  if (check === 'specials') return Math.max(SPECIAL_VALUES.length, n);
  return check === 'subnormals' ? Math.max(SUBNORMALS.length, n) : n;
}

type Entry = readonly [string, Partial<ElementwiseParams>];

const list: Entry[] = [
  ...UNARY_OPS.flatMap((fn): Entry[] => [
    ['accuracy', { fn, n: 4096 }],
    ['range', { fn, n: 4096 }],
    ['specials', { fn }],
    ['subnormals', { fn }],
    ['accuracy', { fn, n: 1001, inPlace: 'input' }],
    // Whole vectors, for which some kernels take a separate path.
    ['accuracy', { fn, n: 1024, inPlace: 'input' }],
    ['accuracy', { fn, n: 5, offset: 4, together: true }],
  ]),
  ...[1, 2, 3, 7, 63, 64, 65, 255, 257, 1023, 1025].map((n): Entry => ['accuracy', { fn: 'neg', n }]),
  ...[4, 8, 12].map((offset): Entry => ['accuracy', { fn: 'relu', n: 129, offset }]),
  // Over 65,535 workgroups of 256.
  ['long', { fn: 'relu', n: 65_537 * 256 + 3 }],
];

/** `unary`. */
export const unarySuite: Suite = defineSuite<ElementwiseParams>({
  op: 'unary',
  defaults: ELEMENTWISE_DEFAULTS,
  checks: {
    accuracy: checkPlanned(planUnary),
    range: checkValues(({ random }, { n }) => Float32Array.from({ length: n }, () => drawAnyMagnitude(random))),
    long: checkLong,
    specials: checkValues((_, params) => tile(SPECIAL_VALUES, lengthOf('specials', params))),
    subnormals: checkValues((_, params) => tile(SUBNORMALS, lengthOf('subnormals', params))),
  },
  texts: elementwiseTexts(unaryFormula),
  list,
  needs: (params, check) => ({ dtype: 'f32', shape: { op: params.fn, n: lengthOf(check, params) } }),
  draw: (random) => drawElementwise(random, UNARY_OPS, ['input']),
  shrink: shrinkElementwise,
});
