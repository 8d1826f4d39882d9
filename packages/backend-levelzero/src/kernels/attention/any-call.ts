import { type NamesIn, ofType } from '@concord/variants';
import type { FunctionBuilder, Type, Value } from '@concord/spirv-builder';
import type { ParameterType } from '../kernel.ts';

/**
 * The start value of a row's largest score: the lowest finite number. So scores of -Infinity never meet
 * -Infinity - -Infinity; if there are no others, the weights and their sum are 0, and the quotient is NaN.
 */
export const LOWEST = -3.4028234663852886e38;

/** The exponent below which the exponential is less than the smallest normal number, and 0 here. */
const MIN_EXPONENT = -87.3365;
/** 1.5 * 2^23: a float of this size has no fraction, and its low bits count ones. */
const ROUNDER = 12582912;
/** ln 2 in two parts. */
const LN2_HI = 0.693145751953125;
const LN2_LO = 1.428606820309417e-6;
const ONE_BITS = 0x3f800000;
/**
 * The coefficients of q in e^r - 1 = r + r^2 q(r), from the highest; minimax on |r| <= 0.3468, error 0.004 ulp (as in
 * the WebGPU backend).
 */
const EXP_COEFFICIENTS = [0.00019761805, 0.0013932325, 0.008333546, 0.041666493, 0.16666666, 0.5];

/**
 * e^x for x <= 0 or NaN, of floats or vectors of them, within 1 ulp: x = n ln 2 + r (Cody and Waite, Software Manual for
 * the Elementary Functions, chapter 6). NaN gives NaN. In instructions that every device has for vectors.
 */
export function exponential(k: FunctionBuilder, x: Value): Value {
  const isVector = x.type.kind === 'vector';
  const bitsType = isVector ? k.types.vector(k.types.int(32), x.type.count) : k.types.int(32);
  const rounded = k.fma(x, Math.LOG2E, k.constant(x.type, ROUNDER));
  const n = k.sub(rounded, ROUNDER);
  const r = k.fma(n, -LN2_LO, k.fma(n, -LN2_HI, x));
  const [highest, ...others] = EXP_COEFFICIENTS;
  const q = others.reduce(
    (sum, next) => k.fma(sum, r, k.constant(x.type, next)),
    k.constant(x.type, highest as number),
  );
  const fraction = k.add(k.fma(k.mul(r, r), q, r), 1);
  // 2^n, from the low bits of what was rounded; they are any for NaN, which survives the product.
  const power = k.bitcast(k.add(k.shl(k.bitcast(rounded, bitsType), 23), ONE_BITS), x.type);
  return k.select(k.lt(x, MIN_EXPONENT), 0, k.mul(fraction, power));
}

/** The larger; where one is NaN, either: its exponential is NaN whatever the largest. */
export function larger(k: FunctionBuilder, a: Value, b: Value): Value {
  return k.select(k.gt(b, a), b, a);
}

/**
 * Calls that a kernel is for: plain ones (false), any whose places follow from the call, or any with places in memory, where
 * `sight.spv.ts` has written what the queries of each batch see.
 */
export type AnyCall = boolean | 'placed';

export const ANY_CALLS: readonly AnyCall[] = [false, true, 'placed'];

/** Returns a suffix for the name of a kernel. */
export const anyName = (any: AnyCall): string => (any === false ? '' : any === true ? ' any' : ' placed');

const INDICES = 'group begin_plus begin_minus end_plus end_minus seeing_begin seeing_end';
const LONGS = 'first_head batch_heads mask_batch mask_head mask_query mask_key';

/** `index` is what a kernel counts in; `first_head` is, of the heads of all batches, the first of a launch. */
const TYPES: Readonly<Record<AnyName, ParameterType | 'index'>> = {
  mask: 'f32*',
  ...ofType('index', INDICES),
  masked: 'u32',
  softcap: 'f32',
  ...ofType('u64', LONGS),
};

type AnyName = 'mask' | 'masked' | 'softcap' | NamesIn<typeof INDICES | typeof LONGS>;

const SIGHT_NAMES = 'begin_plus begin_minus end_plus end_minus seeing_begin seeing_end there';
export type SightName = NamesIn<typeof SIGHT_NAMES>;
/** The numbers of a batch in memory, u32 in this order. */
export const SIGHT: readonly SightName[] = SIGHT_NAMES.split(' ') as SightName[];

/**
 * The parameters of kernels for calls that are not plain: grouped heads, softcap, mask, and what `causal` and `window` leave. Query i
 * sees the keys from i + begin_plus - begin_minus to before i + end_plus - end_minus. Queries before `seeing_begin` and from
 * `seeing_end` on see none.
 */
export function anyParameters(type: 'u32' | 'u64', any: AnyCall): Readonly<Record<string, ParameterType>> {
  if (any === false) return {};
  const isInMemory = (name: string): boolean => any === 'placed' && SIGHT.some((each) => each === name);
  const own = Object.entries(TYPES).filter(([name]) => !isInMemory(name));
  const typed = own.map(([name, each]) => [name, each === 'index' ? type : each]);
  return { ...Object.fromEntries(typed), ...(any === 'placed' ? { sight: 'u32*' } : {}) };
}

/** Arguments of a kernel by name. */
export type AnyArgs = Readonly<Record<AnyName | 'there', Value>>;

/** Returns the arguments of a head; with places in memory they are read there. Undefined for a plain call. */
export function anyArgsOf(
  k: FunctionBuilder,
  given: Readonly<Record<string, Value>>,
  any: AnyCall,
  head: Value,
): AnyArgs | undefined {
  if (any === false) return undefined;
  const args = given as AnyArgs & { readonly keys: Value };
  if (any === true) return { ...args, there: args.keys };
  return { ...args, ...headSight(k, given, head, args.group.type) };
}

/** Returns what the queries of a head see, of places in memory, by default as u64. */
export function headSight(
  k: FunctionBuilder,
  given: Readonly<Record<string, Value>>,
  head: Value,
  type: Type = k.types.int(64),
): Readonly<Record<SightName, Value>> {
  const args = given as Pick<AnyArgs, 'first_head' | 'batch_heads'> & { readonly sight: Value };
  return readSight(k, args, batchOf(k, args, head), type);
}

/** Keys of a split are a multiple of this: of the tiles of every kernel. */
export const SPLIT_MULTIPLE = 64;

/** Keys of a split; of lengths in memory those that there are go on all splits, not those that there could be. */
export function splitKeysOf(
  k: FunctionBuilder,
  args: Readonly<Record<'splits' | 'split_keys', Value>>,
  own: AnyArgs | undefined,
  any: AnyCall,
): Value {
  if (own === undefined || any !== 'placed') return args.split_keys;
  const unit = k.mul(args.splits, SPLIT_MULTIPLE);
  const units = k.udiv(k.add(own.there, k.sub(unit, 1)), unit);
  return k.mul(k.math('u_max', units, k.constant(units.type, 1)), SPLIT_MULTIPLE);
}

/** Number of keys of a batch, of those in memory. */
export function lengthOf(k: FunctionBuilder, sight: Value, batch: Value): Value {
  const at = k.add(k.mul(batch, SIGHT.length), SIGHT.indexOf('there'));
  return k.uconvert(k.load(k.at(sight, at)), k.types.int(64));
}

/** Number of the batch of a head of a launch. */
function batchOf(k: FunctionBuilder, args: Pick<AnyArgs, 'first_head' | 'batch_heads'>, head: Value): Value {
  const u64 = k.types.int(64);
  const wide = head.type === u64 ? head : k.uconvert(head, u64);
  return k.udiv(k.add(args.first_head, wide), args.batch_heads);
}

function readSight(
  k: FunctionBuilder,
  { sight }: { readonly sight: Value },
  batch: Value,
  type: Type,
): Readonly<Record<SightName, Value>> {
  const read = SIGHT.map((name, index) => {
    const value = k.load(k.at(sight, k.add(k.mul(batch, SIGHT.length), index)));
    return [name, type === value.type ? value : k.uconvert(value, type)];
  });
  return Object.fromEntries(read) as Record<SightName, Value>;
}

/** The keys that a query sees: from the first to before the second; both are at most as many as there are. */
export function sightOf(k: FunctionBuilder, args: AnyArgs, query: Value): readonly [Value, Value] {
  const [first, end] = [
    [args.begin_plus, args.begin_minus],
    [args.end_plus, args.end_minus],
  ].map(([plus, minus]) => {
    const place = k.add(query, plus as Value);
    const from = k.select(k.ugt(place, minus as Value), k.sub(place, minus as Value), 0);
    return k.math('u_min', from, args.there);
  }) as [Value, Value];
  return [first, end];
}

/** Returns where the mask of a query begins. */
export function maskRow(k: FunctionBuilder, args: AnyArgs, head: Value, query: Value): Value {
  const u64 = k.types.int(64);
  const wide = (value: Value): Value => (value.type === u64 ? value : k.uconvert(value, u64));
  const number = k.add(args.first_head, wide(head));
  const batch = k.mul(k.udiv(number, args.batch_heads), args.mask_batch);
  const ofHead = k.mul(k.umod(number, args.batch_heads), args.mask_head);
  return k.at(args.mask, k.add(k.add(batch, ofHead), k.mul(wide(query), args.mask_query)));
}

/**
 * Scaled scores, a number or a vector of them, by softcap and mask.
 *
 * @param keys - of each component, as u64; keys that there are
 */
export function finishScores(
  k: FunctionBuilder,
  args: AnyArgs,
  scores: Value,
  row: Value,
  keys: readonly Value[],
): Value {
  const { type } = scores;
  const like = (x: Value): Value => (type.kind === 'vector' ? k.splat(type, x) : x);
  const [capped] = k.ifElse(
    k.gt(args.softcap, 0),
    () => {
      const cap = like(args.softcap);
      return [k.mul(k.math('tanh', k.div(scores, cap)), cap)];
    },
    () => [scores],
  ) as [Value];
  const [masked] = k.ifElse(
    k.ne(args.masked, 0),
    () => {
      const values = keys.map((key) => k.load(k.at(row, k.mul(key, args.mask_key))));
      return [k.add(capped, type.kind === 'vector' ? k.vector(type, ...values) : (values[0] as Value))];
    },
    () => [capped],
  ) as [Value];
  return masked;
}

/** A query that sees no key gives 0: with a mask, one that has hidden them all. */
export function isBlind(
  k: FunctionBuilder,
  args: Pick<AnyArgs, 'masked' | 'seeing_begin' | 'seeing_end'>,
  total: Value,
  query: Value,
): Value {
  const isOutside = k.or(k.ult(query, args.seeing_begin), k.uge(query, args.seeing_end));
  return k.and(k.eq(total, 0), k.or(k.ne(args.masked, 0), isOutside));
}

/** A quotient, or 0 for a query that sees no key. */
export function unlessBlind(k: FunctionBuilder, blind: Value | undefined, quotient: () => Value): Value {
  if (blind === undefined) return quotient();
  const value = quotient();
  return k.select(blind, k.constant(value.type, 0), value);
}
