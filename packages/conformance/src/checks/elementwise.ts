import type { CaseContext } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';
import { MIN_NORMAL, ulpF32 } from './bounds.ts';
import type { Tolerance } from './compare.ts';

/** Parameters of the element-wise ops. */
export type ElementwiseParams = {
  readonly fn: string;
  readonly n: number;
  /** Operand that the output coincides with: `none`, or its name. */
  readonly inPlace: string;
  readonly offset: number;
  readonly together: boolean;
  readonly seed: number;
};

export const ELEMENTWISE_DEFAULTS: ElementwiseParams = {
  fn: '',
  n: 1,
  inPlace: 'none',
  offset: 0,
  together: false,
  seed: 0,
};

/** Values at which functions go wrong: NaN, infinities, zeros, limits, where formulas cancel or change over. */
export const SPECIAL_VALUES: readonly number[] = [
  Number.NaN,
  Infinity,
  -Infinity,
  0,
  -0,
  1,
  -1,
  2,
  -2,
  0.5,
  -0.5,
  3,
  -3,
  ...[
    2 ** -126,
    1e-30,
    2.1e-8,
    1e-4,
    0.03,
    0.24,
    0.66,
    1.00001,
    4,
    5.5,
    8.1,
    9.02,
    13.2,
    16.7,
    88,
    88.73,
    89,
    103.9,
    104,
  ]
    .concat([200, 1000, 8_388_609, 16_777_216, 2_147_483_647, 4_294_967_295, 1e20, 3.4028234e38])
    .flatMap((x) => [x, -x]),
].map(Math.fround);

/** Float32 values below the smallest normal one. */
export const SUBNORMALS: readonly number[] = [2 ** -149, 2 ** -140, 2 ** -127, 2 ** -126 - 2 ** -149].flatMap((x) => [
  x,
  -x,
]);

/** Exponents spread over all of float32, mantissas random. */
export function drawAnyMagnitude(random: Random): number {
  return Math.fround(random.wideFloat(0) * 2 ** random.integer(-125, 126));
}

/** Magnitudes where functions bend. */
export function drawModerate(random: Random): number {
  return Math.fround(random.wideFloat(0) * 2 ** random.integer(-12, 6));
}

/**
 * The tolerance of a function whose error is given in ulp. A backend that may flush subnormals is also allowed the
 * results of flushed inputs, and an absolute error below the smallest normal number.
 */
export function ulpTolerance(
  { backend }: CaseContext,
  want: ArrayLike<number>,
  ulps: (index: number) => number,
  ofFlushedInputs: (index: number) => readonly number[],
): Tolerance {
  const mayFlush = backend.capabilities.numerics.f32Subnormals === 'may-flush';
  const slack = (x: number): number => (mayFlush && Math.abs(x) < 2 * MIN_NORMAL ? MIN_NORMAL : 0);
  return {
    // Half an ulp more: the wanted value is not rounded to float32.
    bound: (index) => {
      const wanted = want[index] as number;
      const allowed = ulps(index);
      return (allowed === 0 ? 0 : allowed + 0.5) * ulpF32(wanted) + slack(wanted);
    },
    ...(mayFlush ? { also: ofFlushedInputs } : {}),
  };
}

/** The values that a device that may flush can take `x` for: itself, or a zero of either sign when it is subnormal. */
export function flushed(x: number): readonly number[] {
  return x !== 0 && Math.abs(x) < MIN_NORMAL ? [x, 0, -0] : [x];
}

/** Period of the values of a long operand: a prime, so that it falls into step with no tile. */
const PERIOD = 1021;

/** `pattern` over and over, `n` values. */
export function tile(pattern: ArrayLike<number>, n: number): Float32Array {
  const values = new Float32Array(n);
  for (let i = 0; i < n; i++) values[i] = pattern[i % pattern.length] as number;
  return values;
}

/** A pattern for {@link tile}. */
export function drawPattern(random: Random): Float32Array {
  return Float32Array.from({ length: PERIOD }, () => drawModerate(random));
}

/** Random parameters for fuzzing. */
export function drawElementwise(
  random: Random,
  fns: readonly string[],
  inPlace: readonly string[],
): [string, ElementwiseParams] {
  const params: ElementwiseParams = {
    fn: random.pick(fns),
    n: random.pick([random.integer(1, 9), random.integer(1, 3000)]),
    inPlace: random.pick(['none', ...inPlace]),
    offset: random.pick([0, 4, 8, 12]),
    together: random.chance(0.2),
    seed: random.uint32(),
  };
  return [random.pick(['accuracy', 'range', 'specials']), params];
}

/** Smaller parameters. */
export function shrinkElementwise(params: ElementwiseParams): Partial<ElementwiseParams>[] {
  const smaller: Partial<ElementwiseParams>[] = [];
  if (params.n > 1) smaller.push({ n: Math.ceil(params.n / 2) }, { n: params.n - 1 });
  if (params.offset > 0) smaller.push({ offset: 0 });
  if (params.together) smaller.push({ together: false });
  if (params.inPlace !== 'none') smaller.push({ inPlace: 'none' });
  return smaller;
}
