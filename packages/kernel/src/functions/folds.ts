import type { FoldOp, NumberType, ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { divide } from './divide.ts';
import { orderedBits } from './order.ts';
import { BITS, Terms, bitsOfFloat } from './terms.ts';

/** Values that some folds need besides elements. Each is asked for where it is wanted. */
export interface FoldSource<V> {
  /** Row-major place of the element in the folded axes, a u32: of `argmax` and `argmin`. */
  position(): V;
  /** Values of the call, made of {@link meanScale}: of a `mean`. */
  mean(): { readonly scale: V; readonly divisor: V };
}

/**
 * The operations of a fold, on states of one or two numbers that can be kept in memory. Combining is associative and commutative
 * but for rounding.
 */
export interface Folding {
  /** Types of the state's parts. */
  readonly state: readonly [NumberType] | readonly [NumberType, NumberType];
  /** Bits of the state's parts that change nothing when they are combined. */
  readonly identity: readonly number[];
  /**
   * The state of one element. A float32 element that was computed has to be `opaque` (as `NodeLowering.folded` gives it).
   */
  lift<V>(a: Arithmetic<V>, element: V, source: FoldSource<V>): readonly V[];
  /** The state of all that two states stand for. */
  combine<V>(a: Arithmetic<V>, x: readonly V[], y: readonly V[]): readonly V[];
  /** The fold's result. */
  finish<V>(a: Arithmetic<V>, state: readonly V[], source: Pick<FoldSource<V>, 'mean'>): V;
}

/** The smallest and the largest value of integers, as bits. */
const LIMITS: Readonly<Record<'i32' | 'u32', readonly [number, number]>> = {
  i32: [0x8000_0000, 0x7fff_ffff],
  u32: [0, 0xffff_ffff],
};
/** The place of an element that is none. */
const NOWHERE = 0xffff_ffff;

/**
 * Scale and divisor of a mean of n elements: the sum of x / 2^s over n / 2^s, with 2^s the power of two from n on, so that it
 * is finite wherever the elements are. Of an empty row NaN.
 */
export function meanScale(n: number): { readonly scale: number; readonly divisor: number } {
  const scale = 2 ** -Math.ceil(Math.log2(Math.max(1, n)));
  return { scale, divisor: n * scale };
}

/** The fold of an operand of a type. */
export function foldingOf(op: FoldOp, type: ValueType): Folding {
  switch (op) {
    case 'sum':
      return plain(type as NumberType, 0, (a, x, y) => a.add(type as NumberType, x, y));
    case 'product': {
      const one = type === 'f32' ? BITS.one : 1;
      return plain(type as NumberType, one, (a, x, y) => a.mul(type as NumberType, x, y));
    }
    case 'mean':
      return MEAN;
    case 'max':
    case 'min':
      return type === 'f32' ? floatExtremum(op) : integerExtremum(op, type as 'i32' | 'u32');
    case 'any':
      return ofBools(0, (a, x, y) => a.or('u32', x, y));
    case 'all':
      return ofBools(1, (a, x, y) => a.and('u32', x, y));
    case 'count':
      return { ...ofBools(0, (a, x, y) => a.add('u32', x, y)), finish: (_, [count]) => count as never };
    case 'argmax':
    case 'argmin':
      return placeOf(op, type as NumberType);
  }
}

type Combine = <V>(a: Arithmetic<V>, x: V, y: V) => V;

/** A state of one number; `lift` and `finish` change nothing unless said. */
function plain(type: NumberType, identity: number, combine: Combine): Folding {
  return {
    state: [type],
    identity: [identity],
    lift: (_, element) => [element],
    combine: (a, [x], [y]) => [combine(a, x as never, y as never)],
    finish: (_, [state]) => state as never,
  };
}

/** The mean. Compilers make (x + y) * s of x * s + y * s, which overflows: hence the products are opaque. */
const MEAN: Folding = {
  ...plain('f32', 0, (a, x, y) => a.add('f32', x, y)),
  lift: (a, element, source) => [a.opaque(a.mul('f32', element, source.mean().scale))],
  finish(a, [sum], source) {
    const { divisor } = source.mean();
    const one = a.constant('f32', BITS.one);
    // A division may be inexact even by 1. The mean of none is 0 / 0.
    return a.select('f32', a.equal('f32', divisor, one), sum as never, divide(a, sum as never, divisor));
  },
};

function ofBools(identity: 0 | 1, combine: Combine): Folding {
  return {
    ...plain('u32', identity, combine),
    lift: (a, element) => [a.select('u32', element, a.constant('u32', 1), a.constant('u32', 0))],
    finish: (a, [state]) => a.not('bool', a.equal('u32', state as never, a.constant('u32', 0))),
  };
}

function integerExtremum(op: 'max' | 'min', type: 'i32' | 'u32'): Folding {
  return plain(type, LIMITS[type][op === 'max' ? 0 : 1], (a, x, y) => a[op](type, x, y));
}

/**
 * Compares bits as integers, since a shader language's own maximum may drop a NaN and comparing floats may flush subnormals.
 * A NaN's key is the end of the order that wins; read as bits again it is a NaN.
 */
function floatExtremum(op: 'max' | 'min'): Folding {
  const [nan, infinity] = op === 'max' ? [0x7fff_ffff, -Infinity] : [0x8000_0000, Infinity];
  const bits = bitsOfFloat(infinity) | 0;
  return {
    ...plain('i32', bits ^ ((bits >> 31) & 0x7fff_ffff), (a, x, y) => a[op]('i32', x, y)),
    lift: (a, element) => [floatKey(new Terms(a), element, nan)],
    finish: (a, [key]) => a.bitcast('i32', 'f32', orderedBits(a, key as never)),
  };
}

/** An i32 in the order of the numbers, with its own key for NaN. */
function floatKey<V>(k: Terms<V>, x: V, nan: number): V {
  const { a } = k;
  const key = orderedBits(a, a.bitcast('f32', 'i32', x));
  return a.select('i32', k.isNan(k.bits(x)), k.i(nan), key);
}

/**
 * A key, of which the largest wins, and the place of its element. Equal keys: the first place. For the smallest the keys'
 * bits are inverted, which turns their order around.
 */
function placeOf(op: 'argmax' | 'argmin', type: NumberType): Folding {
  const keys = type === 'u32' ? 'u32' : 'i32';
  return {
    state: [keys, 'u32'],
    identity: [LIMITS[keys][0], NOWHERE],
    lift(a, element, source) {
      const position = source.position();
      const inverted = <V>(terms: Arithmetic<V>, key: V): V => (op === 'argmin' ? terms.not(keys, key) : key);
      if (type !== 'f32') return [inverted(a, element), position];
      const k = new Terms(a);
      const bits = k.bits(element);
      // Both zeros are equal.
      const equal = k.choose(a.equal('u32', bits, k.u(BITS.sign)), k.u(0), bits);
      const key = inverted(a, orderedBits(a, a.bitcast('u32', 'i32', equal)));
      return [a.select('i32', k.isNan(bits), k.i(0x7fff_ffff), key), position];
    },
    combine(a, [x, atX], [y, atY]) {
      const k = new Terms(a);
      const isEarlier = k.both(a.equal(keys, x as never, y as never), a.less('u32', atX as never, atY as never));
      const wins = k.either(a.less(keys, y as never, x as never), isEarlier);
      return [a.select(keys, wins, x as never, y as never), k.choose(wins, atX as never, atY as never)];
    },
    finish(a, [, at]) {
      const k = new Terms(a);
      return k.choose(a.equal('u32', at as never, k.u(NOWHERE)), k.u(0), at as never);
    },
  };
}
