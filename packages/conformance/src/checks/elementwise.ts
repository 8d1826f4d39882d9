import type { BinaryOp, UnaryOp } from '@concord/backend-core';
import { type CaseContext, defineSuite, type Suite, type SuiteDefinition } from '../harness/case.ts';
import { checkPlanned, type PlanCall } from '../harness/planned-call.ts';
import type { Random } from '../harness/random.ts';
import { plainer, smallerSizes } from '../harness/shrink.ts';
import { nameSlots, Workspace } from '../harness/workspace.ts';
import { compareAll, drawAnyMagnitude, drawModerate, MIN_NORMAL, type Tolerance, ulpF32 } from './compare.ts';

/** The |x| beyond which exp(-|x|) is 0 in float32, so that the error of the exponent no longer grows. */
const MAX_EXPONENT = 104;
/** The |x| beyond which erfc(|x| / sqrt 2) is 0 in float32. */
const MAX_GELU = 14.5;
/** The |log2 of the result| beyond which pow is 0 or infinite in float32. */
const MAX_DOUBLINGS = 160;

/** The tolerances of functions in ulp: `docs/numerics.md` says where each comes from. */
const UNARY: Readonly<Record<UnaryOp, (x: number) => number>> = {
  relu: () => 0,
  abs: () => 0,
  neg: () => 0,
  sqrt: () => 3,
  exp: (x) => 3 + 2 * x,
  log: () => 4,
  tanh: () => 8,
  sigmoid: (x) => 8 + 2 * x,
  silu: (x) => 8 + 2 * x,
  gelu: (x) => 16 + 2 * Math.min(x, MAX_GELU) ** 2,
};

const BINARY: Readonly<Record<BinaryOp, (x: number, y: number) => number>> = {
  max: () => 0,
  min: () => 0,
  add: () => 1,
  sub: () => 1,
  mul: () => 1,
  div: () => 3,
  pow: (x, y) => {
    const doublings = Math.abs(y * Math.log2(Math.abs(x)));
    // A base or exponent of 0, infinity or NaN has a result without rounding.
    return Number.isFinite(doublings) ? 16 + 5 * Math.min(doublings, MAX_DOUBLINGS) + 3 * Math.abs(y) : 16;
  },
};

/** Largest error of `op(x)` in ulp of the result. */
export function unaryUlps(op: UnaryOp, x: number): number {
  // NaN and infinities have results without rounding; the limits only keep the arithmetic finite.
  const magnitude = Number.isNaN(x) ? 0 : Math.min(Math.abs(x), MAX_EXPONENT);
  return UNARY[op](magnitude);
}

/** Largest error of `op(x, y)` in ulp of the result. */
export function binaryUlps(op: BinaryOp, x: number, y: number): number {
  return BINARY[op](x, y);
}

/** Parameters of the element-wise ops, with the value that each has where an id leaves it out. */
export const ELEMENTWISE_DEFAULTS = {
  fn: '',
  n: 1,
  /** Operand that the output coincides with: `none`, or its name. */
  inPlace: 'none',
  offset: 0,
  together: false,
  seed: 0,
};

/** Parameters of the element-wise ops. */
export type ElementwiseParams = Readonly<typeof ELEMENTWISE_DEFAULTS>;

/** The operands of the function at each element. */
export type Rows = readonly (readonly number[])[];

/** An element-wise op: its functions, and the values that they are tried with. */
export interface ElementwiseOp {
  readonly op: 'unary' | 'binary';
  readonly fns: readonly (UnaryOp | BinaryOp)[];
  readonly operands: readonly string[];
  /** The name of the operands of all elements in messages. */
  readonly noun: 'values' | 'pairs';
  readonly ulps: (fn: string, row: readonly number[]) => number;
  /** The function in float64. */
  readonly apply: (fn: string, row: readonly number[]) => number;
  /** Operands where functions bend. */
  readonly moderate: (random: Random, fn: string) => readonly number[];
  /** The operands of checks that draw none; of `n` elements where more of them are asked for. */
  readonly fixed: Readonly<Record<'specials' | 'subnormals', (n: number) => Rows>>;
}

/**
 * The right results of a function and their tolerance. A backend that may flush subnormals is also allowed the results of flushed
 * operands, and an absolute error below the smallest normal number.
 */
export function judgedElements(
  { ulps, apply }: ElementwiseOp,
  { backend }: Pick<CaseContext, 'backend'>,
  fn: string,
  columns: readonly ArrayLike<number>[],
): { readonly want: Float64Array; readonly tolerance: Tolerance } {
  const row = (i: number): number[] => columns.map((column) => column[i] as number);
  const want = Float64Array.from({ length: columns[0]?.length ?? 0 }, (_, i) => apply(fn, row(i)));
  const mayFlush = backend.capabilities.numerics.f32Subnormals === 'may-flush';
  const slack = (x: number): number => (mayFlush && Math.abs(x) < 2 * MIN_NORMAL ? MIN_NORMAL : 0);
  const tolerance: Tolerance = {
    // Half an ulp more: the wanted value is not rounded to float32.
    bound: (i) => {
      const wanted = want[i] as number;
      const allowed = ulps(fn, row(i));
      return (allowed === 0 ? 0 : allowed + 0.5) * ulpF32(wanted) + slack(wanted);
    },
    ...(mayFlush ? { also: (i) => flushedRows(row(i)).map((flushed) => apply(fn, flushed)) } : {}),
    inputs: (i) => `${fn}(${row(i).join(', ')})`,
  };
  return { want, tolerance };
}

/** The operands that a device which may flush can take a row for: a subnormal for a zero of either sign. */
function flushedRows(row: readonly number[]): Rows {
  const values = row.map((x) => (x !== 0 && Math.abs(x) < MIN_NORMAL ? [x, 0, -0] : [x]));
  return values.reduce<Rows>((rows, next) => rows.flatMap((own) => next.map((x) => [...own, x])), [[]]);
}

type RowsOf = (context: CaseContext, params: ElementwiseParams) => Rows;

function planRows(kind: ElementwiseOp, rowsOf: RowsOf): PlanCall<ElementwiseParams> {
  const { op, operands } = kind;
  return (slots, context, params) => {
    const { fn, inPlace } = params;
    const rows = rowsOf(context, params);
    const n = rows.length;
    const columns = operands.map((_, at) => Float32Array.from(rows, (row) => row[at] as number));
    const inputs = columns.map((values, at) => (operands[at] === inPlace ? slots.inOut(values) : slots.input(values)));
    const output = inputs[operands.indexOf(inPlace)] ?? slots.output(n);
    nameSlots({ ...Object.fromEntries(operands.map((name, at) => [name, inputs[at] as typeof output])), output });
    return {
      op,
      shape: { op: fn, n },
      call: () => {
        const pointers = Object.fromEntries(operands.map((name, at) => [name, inputs[at]?.ptr]));
        (context.backend[op] as (call: object) => void)({ op: fn, n, ...pointers, output: output.ptr });
      },
      judge: () => {
        const { want, tolerance } = judgedElements(kind, context, fn, columns);
        compareAll(`${fn} of ${n} ${kind.noun}`, output.values(), want, tolerance);
      },
    };
  };
}

/** A call with operands where functions bend. */
export const planElementwise = (kind: ElementwiseOp): PlanCall<ElementwiseParams> =>
  planRows(kind, ({ random }, { fn, n }) => Array.from({ length: n }, () => kind.moderate(random, fn)));

/** Period of the values of a long operand: a prime, so that it falls into step with no tile. */
const PERIOD = 1021;

/** Checks more elements than one grid dimension of workgroups holds; the oracle works out one period of the values. */
async function checkLong(kind: ElementwiseOp, { backend, random }: CaseContext, fn: string, n: number): Promise<void> {
  const { op, operands } = kind;
  const repeated = (pattern: ArrayLike<number>): Float32Array =>
    new Float32Array(n).map((_, i) => pattern[i % PERIOD] as number);
  const patterns = operands.map(() => Float32Array.from({ length: PERIOD }, () => drawModerate(random)));
  const workspace = new Workspace(backend);
  const inputs = patterns.map((pattern) => workspace.input(repeated(pattern)));
  const output = workspace.output(n);
  await workspace.run(() => {
    const pointers = Object.fromEntries(operands.map((name, at) => [name, inputs[at]?.ptr]));
    (backend[op] as (call: object) => void)({ op: fn, n, ...pointers, output: output.ptr });
  });
  const { want } = judgedElements(kind, { backend }, fn, patterns);
  const ulps = kind.ulps(fn, [0, 0]);
  compareAll(`${fn} of ${n} ${kind.noun}`, output.values(), repeated(want), {
    bound: (i) => ulps * ulpF32(want[i % PERIOD] as number),
  });
}

/** The suite of an element-wise op. */
export function elementwiseSuite(kind: ElementwiseOp, list: SuiteDefinition<ElementwiseParams>['list']): Suite {
  const { op, fns, operands, fixed } = kind;
  const ofFixed = (name: keyof typeof fixed) => checkPlanned(planRows(kind, (_, { n }) => fixed[name](n)));
  return defineSuite<ElementwiseParams>({
    op,
    defaults: ELEMENTWISE_DEFAULTS,
    checks: {
      accuracy: checkPlanned(planElementwise(kind)),
      range: checkPlanned(
        planRows(kind, ({ random }, { n }) =>
          Array.from({ length: n }, () => operands.map(() => drawAnyMagnitude(random))),
        ),
      ),
      long: (context, { fn, n }) => checkLong(kind, context, fn, n),
      specials: ofFixed('specials'),
      subnormals: ofFixed('subnormals'),
    },
    list,
    needs: ({ fn, n }, check) => {
      const rows = Object.hasOwn(fixed, check) ? fixed[check as keyof typeof fixed](n).length : n;
      return { dtype: 'f32', shape: { op: fn, n: rows } };
    },
    draw: (random) => {
      const params: ElementwiseParams = {
        fn: random.pick(fns),
        n: random.pick([random.integer(1, 9), random.integer(1, 3000)]),
        inPlace: random.pick(['none', ...operands]),
        offset: random.pick([0, 4, 8, 12]),
        together: random.chance(0.2),
        seed: random.uint32(),
      };
      return [random.pick(['accuracy', 'range', 'specials']), params];
    },
    shrink: (params) => [
      ...smallerSizes(params.n).map((n) => ({ n })),
      ...plainer(params, ELEMENTWISE_DEFAULTS, ['offset', 'together', 'inPlace']),
    ],
  });
}
