import { tanh } from '@concord/kernel';
import {
  f32,
  f32x4,
  type FunctionBody,
  type FunctionHandle,
  i32,
  i32x4,
  type Local,
  type ModuleBuilder,
  select,
  v128,
  type Value,
} from '../../encoder/index.ts';
import { VectorTerms } from '../arithmetic/vector-terms.ts';
import { type Vector, WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import { HoistedConstants } from '../common/hoisted-constants.ts';
import type { WasmTraits } from '../kernel.ts';
import { ATTENTION } from './attention-arguments.ts';

/** The x at and below which e^x is 0, rounded to nearest. */
const MIN_EXPONENT = -104;
/** ln 2 in two parts: the first has 9 bits, so that its product with an exponent is exact (Cody and Waite). */
const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
/** Exponents are raised by this, so that subnormal weights are normal: the scale is removed at the end, with one rounding. */
const RAISED = 64;
/** Adding it rounds to an integer, which is then in the lower bits with the bias of exponents. */
const ROUNDER = 1.5 * 2 ** 23 + 127 + RAISED;
/** (e^r - 1 - r) / r^2, the constant coefficient first: minimax (Lawson's iteration, 4001 Chebyshev points). */
const P = [0.49999994, 0.1666652, 0.041668393, 0.008368781, 0.0013814467];

/**
 * The weight of a score that is x above the largest one: e^x for x <= 0, NaN for NaN. Largest error found: 0.8 ulp and the
 * rounding of n ln 2; the contract grants 3 + 2|x|.
 */
function weightOf(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  // In this order a NaN stays.
  const limited = k.atLeast(x, MIN_EXPONENT);
  const shifted = k.plus(k.times(limited, Math.LOG2E), ROUNDER);
  const n = k.sub(shifted, k.f(ROUNDER));
  const r = k.sub(k.sub(limited, k.times(n, LN2_HI)), k.times(n, LN2_LO));
  const square = k.mul(r, r);
  const power = k.add(k.mul(k.powers(r, P, square), square), k.plus(r, 1));
  return k.times(k.mul(power, a.keep(i32x4.shl(shifted, 23))), 2 ** -RAISED);
}

/** `(args, scores, keys, first, end, mask, state, outputs, outputBytes)`: see {@link softmaxRow}. */
export type SoftmaxRow = FunctionHandle<
  readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  'none'
>;

/** The values of a batch in memory: its number of keys, the place of its first query. */
export interface PlaceForm {
  readonly hasLengths: boolean;
  readonly hasStarts: boolean;
}

/** The operations between a scaled score and the softmax. */
export interface ScoreForm {
  readonly hasSoftcap: boolean;
  readonly hasMask: boolean;
}

/**
 * Adds the function that carries the softmax of a row of queries on over a block of `keys` keys, of which it sees those from
 * `first` to before `end`: scores become weights relative to the largest score so far, 0 for keys that are not seen. Where that
 * one grows, the sums so far are scaled down: the sum at `state + 4`, next to the largest score, and the row of outputs.
 */
export function softmaxRow(module: ModuleBuilder, traits: WasmTraits, form: ScoreForm): SoftmaxRow {
  return module.function(
    { params: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], result: 'none' },
    (body, args, scores, keys, first, end, mask, state, outputs, outputBytes) => {
      const a = new WasmArithmetic(body, new HoistedConstants(body), traits.hasFma);
      const finish = scoreFinisher(body, a, form, args);
      const whole = body.let(i32.add(scores, i32.and(i32.add(i32.shl(keys, 2), 15), -16)));
      const hide = (from: Value<'i32'>, to: Value<'i32'>): void => {
        const at = body.let(from);
        body.while(i32.ltU(at, to), () => {
          body.emit(f32.store(at, -Infinity));
          body.increase(at, 4);
        });
      };
      const hideUnseen = (): void => {
        hide(scores, i32.add(scores, i32.shl(first, 2)));
        hide(i32.add(scores, i32.shl(end, 2)), whole);
      };
      const largestOfRow = body.local('f32');
      if (form.hasSoftcap || form.hasMask) {
        eachVector(body, scores, whole, (at) => body.emit(v128.store(at, finish(v128.load(at)))));
        if (form.hasMask) addMask(body, args, scores, keys, mask);
        hideUnseen();
        body.set(
          largestOfRow,
          largestOf(body, scores, whole, (at) => v128.load(at)),
        );
      } else {
        // A score of -Infinity is still that when it is scaled.
        hideUnseen();
        body.set(
          largestOfRow,
          largestOf(body, scores, whole, (at) => {
            const scaled = body.let(finish(v128.load(at)));
            body.emit(v128.store(at, scaled));
            return scaled;
          }),
        );
      }

      const before = body.let(f32.load(state));
      const largest = body.let(f32.max(before, largestOfRow));
      body.emit(f32.store(state, largest));
      // Scores of -Infinity alone have no softmax yet: their sum stays 0.
      const shift = body.let(select(f32.eq(largest, -Infinity), f32.const(0), largest));
      const total = body.let(weigh(body, a, scores, whole, shift));
      body.if(i32.and(f32.ne(before, largest), f32.ne(before, -Infinity)), () => {
        const factors = body.let(weightOf(a, a.keep(f32x4.splat(f32.sub(before, shift)))));
        const factor = f32x4.extractLane(factors, 0);
        body.emit(f32.store(state, f32.mul(f32.load(state, 4), factor), 4));
        const at = body.let(outputs);
        body.while(i32.ne(at, i32.add(outputs, outputBytes)), () => {
          body.emit(v128.store(at, f32x4.mul(v128.load(at), factors)));
          body.increase(at, 16);
        });
      });
      body.emit(f32.store(state, f32.add(f32.load(state, 4), total), 4));
    },
  );
}

/** Statements for the address of each vector of a row. */
function eachVector(
  body: FunctionBody,
  from: Local<'i32'>,
  to: Local<'i32'>,
  statements: (at: Local<'i32'>) => void,
): void {
  const at = body.let(from);
  body.while(i32.ne(at, to), () => {
    statements(at);
    body.increase(at, 16);
  });
}

/** Scale and softcap, whose constants are computed at this place. */
function scoreFinisher(
  body: FunctionBody,
  a: WasmArithmetic,
  { hasSoftcap }: ScoreForm,
  args: Local<'i32'>,
): (score: Value<'v128'>) => Value<'v128'> {
  const scale = body.let(f32x4.splat(ATTENTION.float(args, 'scale')));
  if (!hasSoftcap) return (score) => f32x4.mul(score, scale);
  const softcap = body.let(f32x4.splat(ATTENTION.float(args, 'softcap')));
  return (score) => {
    const share = a.keep(f32x4.div(f32x4.mul(score, scale), softcap));
    return f32x4.mul(softcap, tanh<Vector>(a, share));
  };
}

/** Adds the mask, of which nothing is read beyond the keys. */
function addMask(
  body: FunctionBody,
  args: Local<'i32'>,
  scores: Local<'i32'>,
  keys: Local<'i32'>,
  mask: Local<'i32'>,
): void {
  const at = body.let(scores);
  const source = body.let(mask);
  const keyBytes = body.let(i32.shl(ATTENTION.word(args, 'maskKey'), 2));
  const fours = body.let(i32.const(0));
  body.if(i32.eq(keyBytes, 4), () => {
    body.set(fours, i32.and(keys, -4));
    body.for(0, fours, 4, () => {
      body.emit(v128.store(at, f32x4.add(v128.load(at), v128.load(source))));
      body.increase(at, 16);
      body.increase(source, 16);
    });
  });
  body.for(fours, keys, 1, () => {
    body.emit(f32.store(at, f32.add(f32.load(at), f32.load(source))));
    body.increase(at, 4);
    body.increase(source, keyBytes);
  });
}

/** The largest score besides NaN, whose weight is NaN whatever the largest one is. */
function largestOf(
  body: FunctionBody,
  scores: Local<'i32'>,
  end: Local<'i32'>,
  score: (at: Local<'i32'>) => Value<'v128'>,
): Value<'f32'> {
  const largest = body.let(f32x4.splat(-Infinity));
  eachVector(body, scores, end, (at) => body.set(largest, f32x4.pmax(largest, score(at))));
  return overLanes(f32.max, largest);
}

/** Scores to weights; gives their sum. */
function weigh(
  body: FunctionBody,
  a: WasmArithmetic,
  scores: Local<'i32'>,
  end: Local<'i32'>,
  shift: Local<'f32'>,
): Value<'f32'> {
  const shifts = body.let(f32x4.splat(shift));
  const total = body.let(f32x4.splat(0));
  eachVector(body, scores, end, (at) => {
    const weights = weightOf(a, a.keep(f32x4.sub(v128.load(at), shifts)));
    body.emit(v128.store(at, weights));
    body.set(total, f32x4.add(total, weights));
  });
  return overLanes(f32.add, total);
}

function overLanes(operation: (x: Value<'f32'>, y: Value<'f32'>) => Value<'f32'>, vector: Local<'v128'>): Value<'f32'> {
  const lane = (at: number): Value<'f32'> => f32x4.extractLane(vector, at);
  return operation(operation(lane(0), lane(1)), operation(lane(2), lane(3)));
}
