import { denseStrides } from '@concord/ops/listen';
import { refuse } from '../errors.ts';
import {
  elementType,
  type ElementType,
  type HostTensor,
  hostTensor,
  isFloat,
  isWide,
  type Scalar,
  scalars,
  sizeOf,
} from '../graph/host-tensor.ts';
import { broadcastStrides, checkSize, indexOf, placeOf, strided, taken, TooLarge } from '../host/walk.ts';
import type { Call } from '../run/call.ts';
import type { Operator } from './operator.ts';
import { broadcast, type Cut, cuts, fillOf, lengthOf, parts } from './shape.ts';

/** JavaScript's operators are those of both kinds of number; TypeScript's are not. */
type Any = number;

/** Computes element by element, over what the inputs broadcast to; integers wrap as they are stored. */
function map(compute: (...values: Any[]) => Scalar | boolean, type?: ElementType): (call: Call) => HostTensor {
  return (call) => {
    const inputs = call.inputs.map((_, i) => call.host(i));
    const dims = inputs.reduce<readonly number[]>((both, each) => broadcast(both, each.dims), []);
    const values = inputs.map((each) => (each.type === 'string' ? (each.data as ArrayLike<unknown>) : scalars(each)));
    const strides = inputs.map((each) => broadcastStrides(each.dims, dims.length));
    const out = Array.from({ length: sizeOf(dims) }, (_, i) => {
      const index = indexOf(i, dims);
      const result = compute(...values.map((each, n) => each[placeOf(index, strides[n] as number[])] as Any));
      return typeof result === 'boolean' ? Number(result) : result;
    });
    return hostTensor(type ?? (inputs[0] as HostTensor).type, dims, out);
  };
}

const fold =
  (join: (a: Any, b: Any) => Scalar): ((call: Call) => HostTensor) =>
  (call) => {
    const x = call.host(0);
    const rank = x.dims.length;
    const given = call.ints(1, 'axes') ?? [];
    if (given.length === 0 && call.int('noop_with_empty_axes', 0) === 1) return x;
    const axes = new Set(
      given.length === 0 ? x.dims.map((_, axis) => axis) : given.map((axis) => call.axis(axis, rank)),
    );
    const kept = x.dims.map((size, axis) => (axes.has(axis) ? 1 : size));
    const strides = broadcastStrides(kept, rank);
    const sums = new Map<number, Scalar>();
    const values = scalars(x);
    for (let i = 0; i < sizeOf(x.dims); i++) {
      const at = placeOf(indexOf(i, x.dims), strides);
      const before = sums.get(at);
      sums.set(at, before === undefined ? (values[i] as Scalar) : join(before as Any, values[i] as Any));
    }
    if (sums.size < sizeOf(kept)) throw new TooLarge('a fold of nothing is not computed on the host');
    const dims = call.int('keepdims', 1) === 1 ? kept : x.dims.filter((_, axis) => !axes.has(axis));
    return hostTensor(
      x.type,
      dims,
      Array.from({ length: sums.size }, (_, i) => sums.get(i) as Scalar),
    );
  };

const float = (compute: (x: number) => number): ((call: Call) => HostTensor) => map((x) => compute(Number(x)));

/** @throws {BackendError} INVALID_ARGUMENT for a divisor that integers do not have */
function checkDivisor(call: Call): void {
  if (!isFloat(call.type(0)) && call.numbers(1).includes(0)) throw refuse('an integer is divided by 0');
}

function divide(call: Call): HostTensor {
  checkDivisor(call);
  return map((a, b) => a / b)(call);
}

function modulo(call: Call): HostTensor {
  checkDivisor(call);
  const fmod = call.int('fmod', 0) === 1;
  return map((a, b) => {
    const rest = a % b;
    return !fmod && Number(rest) !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
  })(call);
}

function power(call: Call): HostTensor {
  return map((a, b) => {
    // Powers of 1 are 1, and of -1 without end too, where JavaScript's are none.
    if (typeof a !== 'bigint') return a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** Number(b);
    const exponent = typeof b === 'bigint' ? b : Math.trunc(b);
    return Number(exponent) < 0 || !Number.isInteger(Number(b))
      ? Number(a) ** Number(b)
      : (a as bigint) ** BigInt(exponent);
  })(call);
}

function castTo(call: Call, to: ElementType): HostTensor {
  const x = call.host(0);
  if (x.type === to) return x;
  if (x.type === 'string') {
    const parse = to === 'bool' || isWide(to) ? BigInt : numberOf;
    const texts = x.data as readonly string[];
    return hostTensor(
      to,
      x.dims,
      texts.map((each) => parse(each)),
    );
  }
  if (to === 'string') return call.refuse('a cast to text');
  const values = Array.from(scalars(x));
  return hostTensor(to, x.dims, to === 'bool' ? values.map((each) => Number(Number(each) !== 0)) : values);
}

function numberOf(text: string): number {
  const inf = /^([+-]?)inf(inity)?$/i.exec(text);
  return inf ? (inf[1] === '-' ? -Infinity : Infinity) : Number(text);
}

function concat(call: Call): HostTensor {
  const all = call.inputs.map((_, i) => call.host(i));
  const first = all[0] as HostTensor;
  const axis = call.axis(call.int('axis', 0));
  const fits = ({ dims: of }: HostTensor): boolean =>
    of.length === first.dims.length && of.every((size, each) => each === axis || size === first.dims[each]);
  if (!all.every(fits)) throw refuse(`tensors of other shapes than [${first.dims.join(', ')}] are joined`);
  const dims = first.dims.map((size, each) =>
    each === axis ? all.reduce((sum, { dims: of }) => sum + (of[axis] as number), 0) : size,
  );
  const lists = all.map((each) => ({
    list: Array.from<Scalar | string>(each.type === 'string' ? (each.data as readonly string[]) : scalars(each)),
    width: sizeOf(each.dims.slice(axis)),
  }));
  const rows = [...Array(sizeOf(dims.slice(0, axis))).keys()];
  const values = rows.flatMap((row) => lists.flatMap(({ list, width }) => list.slice(row * width, (row + 1) * width)));
  if (first.type === 'string') return { ...first, dims, data: values as string[] };
  return hostTensor(first.type, dims, values as Scalar[]);
}

/** An index of an axis, from its front. */
function wrapped(at: number, size: number): number {
  const index = at < 0 ? at + size : at;
  if (!(index >= 0 && index < size)) throw refuse(`index ${at} is outside of an axis of ${size}`);
  return index;
}

function gather(call: Call): HostTensor {
  const x = call.host(0);
  const axis = call.axis(call.int('axis', 0));
  const places = call.numbers(1).map((at) => wrapped(at, x.dims[axis] as number));
  return { ...taken(x, axis, places), dims: [...x.dims.slice(0, axis), ...call.dims(1), ...x.dims.slice(axis + 1)] };
}

function range(call: Call): HostTensor {
  const [start, limit, delta] = [0, 1, 2].map((i) => scalars(call.host(i))[0] as Any) as [Any, Any, Any];
  const count = Math.max(0, Math.ceil((Number(limit) - Number(start)) / Number(delta)));
  checkSize([count], 'own');
  const wide = typeof start === 'bigint';
  return hostTensor(
    call.type(0),
    [count],
    Array.from({ length: count }, (_, i) => start + ((wide ? BigInt(i) : i) as Any) * delta),
  );
}

function nonZero(call: Call): HostTensor {
  const x = call.host(0);
  const found = Array.from(scalars(x)).flatMap((each, i) => (Number(each) === 0 ? [] : [indexOf(i, x.dims)]));
  return hostTensor(
    'int64',
    [x.dims.length, found.length],
    x.dims.flatMap((_, axis) => found.map((index) => index[axis] as number)),
  );
}

function sliced(call: Call): HostTensor {
  const x = call.host(0);
  const ranges = cuts(call).map((cut, axis): Cut => cut ?? [0, x.dims[axis] as number, 1]);
  const strides = denseStrides(x.dims);
  const steps = ranges.map(([, , step], axis) => step * (strides[axis] as number));
  const starts = ranges.map(([start]) => start);
  return strided(x, ranges.map(lengthOf), steps, placeOf(starts, strides));
}

function splitUp(call: Call): HostTensor[] {
  const x = call.host(0);
  const { axis, sizes } = parts(call);
  let from = 0;
  return sizes.map((size) => {
    const places = Array.from({ length: size }, (_, i) => from + i);
    from += size;
    if (from > (x.dims[axis] as number)) throw refuse('parts are longer than the axis');
    return taken(x, axis, places);
  });
}

function transposed(call: Call): HostTensor {
  const x = call.host(0);
  const order = call.list('perm') ?? [...x.dims.keys()].reverse();
  const strides = denseStrides(x.dims);
  const of = (list: readonly number[]): number[] => order.map((axis) => list[axis] as number);
  return strided(x, of(x.dims), of(strides));
}

const filled = (call: Call): HostTensor => spread({ ...fillOf(call), dims: [] }, call.numbers(0));

/** A tensor repeated to a shape. */
const spread = (x: HostTensor, dims: readonly number[]): HostTensor =>
  strided(x, dims, broadcastStrides(x.dims, dims.length));

/** The parts of x where the condition holds: how many there are is known only when it is on the host. */
function compress(call: Call): HostTensor {
  const isFlat = call.attribute('axis') === undefined;
  const x = isFlat ? { ...call.host(0), dims: [sizeOf(call.dims(0))] } : call.host(0);
  const axis = isFlat ? 0 : call.axis(call.int('axis'));
  const [condition, size] = [call.numbers(1), x.dims[axis] as number];
  if (condition.length > size) throw refuse(`a condition of ${condition.length} for ${size}`);
  const held = condition.flatMap((each, i) => (each === 0 ? [] : [i]));
  return taken(x, axis, held, 'own');
}

function tiled(call: Call): HostTensor {
  const repeats = call.numbers(1);
  const places = (size: number, axis: number): number[] =>
    Array.from({ length: size * (repeats[axis] as number) }, (_, at) => at % size);
  return call.dims(0).reduce((x, size, axis) => taken(x, axis, places(size, axis)), call.host(0));
}

/** The different values (or slices along an axis), where each was first, which each element is, and how often it is there. */
function unique(call: Call): HostTensor[] {
  const x = call.host(0);
  const axis = call.attribute('axis') === undefined ? undefined : call.axis(call.int('axis'));
  const count = axis === undefined ? sizeOf(x.dims) : (x.dims[axis] as number);
  const values = scalars(x);
  const rows: Scalar[][] = Array.from({ length: count }, () => []);
  for (let i = 0; i < sizeOf(x.dims); i++)
    rows[axis === undefined ? i : (indexOf(i, x.dims)[axis] as number)]?.push(values[i] as Scalar);
  const first = new Map<string, number>();
  const keys = rows.map((row) => row.join());
  keys.forEach((key, i) => first.has(key) || first.set(key, i));
  const order = [...first.keys()];
  if (call.int('sorted', 1) === 1) {
    const compare = (a: readonly Scalar[], b: readonly Scalar[]): number => {
      const at = a.findIndex((each, i) => each !== b[i]);
      return at < 0 ? 0 : (a[at] as Scalar) < (b[at] as Scalar) ? -1 : 1;
    };
    order.sort((a, b) => compare(rows[first.get(a) as number] as Scalar[], rows[first.get(b) as number] as Scalar[]));
  }
  const chosen = order.map((key) => first.get(key) as number);
  const y = taken(axis === undefined ? { ...x, dims: [count] } : x, axis ?? 0, chosen);
  const inverse = keys.map((key) => order.indexOf(key));
  const counts = order.map((key) => keys.filter((each) => each === key).length);
  return [y, ...[chosen, inverse, counts].map((list) => hostTensor('int64', [list.length], list))];
}

/** Products of 32 bits wrap, and have more digits than a float. */
const productOf = (call: Call): ((a: Any, b: Any) => Any) =>
  /^u?int32$/.test(call.type(0)) ? Math.imul : (a, b) => a * b;

const least = (a: Any, b: Any): Any => (Number.isNaN(a) ? a : b < a || Number.isNaN(b) ? b : a);
const greatest = (a: Any, b: Any): Any => (Number.isNaN(a) ? a : b > a || Number.isNaN(b) ? b : a);

const several = (join: (a: Any, b: Any) => Any): ((call: Call) => HostTensor) =>
  map((...values) => values.reduce(join));

/** What is computed on the host where its inputs are there, or needs them there. */
export const HOST: Readonly<Record<string, NonNullable<Operator['host']>>> = {
  Abs: map((x) => (x < 0 ? -x : x)),
  Neg: map((x) => -x),
  Sign: map((x) => Number(x > 0) - Number(x < 0)),
  Floor: float(Math.floor),
  Ceil: float(Math.ceil),
  Sqrt: float(Math.sqrt),
  Exp: float(Math.exp),
  Log: float(Math.log),
  Not: map((x) => !x, 'bool'),
  Add: map((a, b) => a + b),
  Sub: map((a, b) => a - b),
  Mul: (call) => map(productOf(call))(call),
  Div: divide,
  Mod: modulo,
  Pow: power,
  Min: several(least),
  Max: several(greatest),
  Sum: several((a, b) => a + b),
  And: map((a, b) => Boolean(a && b), 'bool'),
  Or: map((a, b) => Boolean(a || b), 'bool'),
  Xor: map((a, b) => Boolean(a) !== Boolean(b), 'bool'),
  Equal: map((a, b) => a === b, 'bool'),
  Greater: map((a, b) => a > b, 'bool'),
  GreaterOrEqual: map((a, b) => a >= b, 'bool'),
  Less: map((a, b) => a < b, 'bool'),
  LessOrEqual: map((a, b) => a <= b, 'bool'),
  Where: (call) => map((condition, a, b) => (condition ? a : b), call.type(1))(call),
  Cast: (call) => castTo(call, elementType('attribute to', call.int('to'))),
  CastLike: (call) => castTo(call, call.type(1)),
  ReduceSum: fold((a, b) => a + b),
  ReduceProd: (call) => fold(productOf(call))(call),
  ReduceMin: fold(least),
  ReduceMax: fold(greatest),
  Concat: concat,
  Gather: gather,
  Slice: sliced,
  Split: splitUp,
  Range: range,
  NonZero: nonZero,
  Compress: compress,
  Unique: unique,
  Transpose: transposed,
  Tile: tiled,
  ConstantOfShape: filled,
  Expand: (call) => spread(call.host(0), broadcast(call.dims(0), call.numbers(1))),
};
