import type { Kernel, KernelNode } from '@concord/backend-core/kernel';

/** Numbers of float64 with what they change by. Truths are 0 and 1; what changes of them and of integers is 0. */
export interface Dual {
  readonly value: Float64Array;
  readonly change: Float64Array;
}

/** An input as numbers of its level, dense; gather inputs with the sizes of their axes. */
export interface DualInput extends Dual {
  readonly shape: readonly number[];
}

/** The domain of a kernel, and its parameters. */
export interface Domain {
  readonly shape: readonly number[];
  readonly folded: number;
  readonly params: Readonly<Record<string, number>>;
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);
const words = new DataView(new ArrayBuffer(4));

/** The error function: Taylor's series, and beyond 3 the continued fraction of its complement. */
function erf(x: number): number {
  if (Math.abs(x) > 3) {
    let fraction = 0;
    for (let n = 60; n > 0; n--) fraction = n / 2 / (Math.abs(x) + fraction);
    return Math.sign(x) * (1 - Math.exp(-x * x) / Math.sqrt(Math.PI) / (Math.abs(x) + fraction));
  }
  let [term, sum] = [x, x];
  for (let n = 1; n < 90; n++) sum += (term *= (-x * x) / n) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * sum;
}

const bell = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const ROOT = Math.sqrt(2 / Math.PI);
const even = (x: number): number => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** Functions of one float and their derivatives, written down apart from those of the package. */
const UNARY: Readonly<Record<string, readonly [f: (x: number) => number, slope: (x: number) => number]>> = {
  neg: [(x) => -x, () => -1],
  abs: [Math.abs, Math.sign],
  sqrt: [Math.sqrt, (x) => 0.5 / Math.sqrt(x)],
  rsqrt: [(x) => 1 / Math.sqrt(x), (x) => -0.5 * x ** -1.5],
  exp: [Math.exp, Math.exp],
  exp2: [(x) => 2 ** x, (x) => Math.LN2 * 2 ** x],
  expm1: [Math.expm1, Math.exp],
  log: [Math.log, (x) => 1 / x],
  log2: [Math.log2, (x) => 1 / x / Math.LN2],
  log1p: [Math.log1p, (x) => 1 / (1 + x)],
  sin: [Math.sin, Math.cos],
  cos: [Math.cos, (x) => -Math.sin(x)],
  tanh: [Math.tanh, (x) => 1 / Math.cosh(x) ** 2],
  sigmoid: [sigmoid, (x) => sigmoid(x) * sigmoid(-x)],
  silu: [(x) => x * sigmoid(x), (x) => sigmoid(x) + x * sigmoid(x) * sigmoid(-x)],
  gelu: [(x) => (x / 2) * (1 + erf(x / Math.SQRT2)), (x) => (1 + erf(x / Math.SQRT2)) / 2 + x * bell(x)],
  geluTanh: [
    (x) => (x / 2) * (1 + Math.tanh(ROOT * (x + 0.044715 * x ** 3))),
    (x) => {
      const inner = ROOT * (x + 0.044715 * x ** 3);
      return (1 + Math.tanh(inner)) / 2 + (x / 2 / Math.cosh(inner) ** 2) * ROOT * (1 + 3 * 0.044715 * x * x);
    },
  ],
  erf: [erf, (x) => (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x)],
  floor: [Math.floor, () => 0],
  ceil: [Math.ceil, () => 0],
  round: [even, () => 0],
  trunc: [Math.trunc, () => 0],
  sign: [Math.sign, () => 0],
};

const half = (a: number, b: number): number => (a > b ? 1 : a < b ? 0 : 0.5);

/** Functions of two floats, and what they change by with each. */
const BINARY: Readonly<
  Record<
    string,
    readonly [f: (a: number, b: number) => number, slopes: (a: number, b: number) => readonly [number, number]]
  >
> = {
  add: [(a, b) => a + b, () => [1, 1]],
  sub: [(a, b) => a - b, () => [1, -1]],
  mul: [(a, b) => a * b, (a, b) => [b, a]],
  div: [(a, b) => a / b, (a, b) => [1 / b, -a / b / b]],
  max: [Math.max, (a, b) => [half(a, b), half(b, a)]],
  min: [Math.min, (a, b) => [half(b, a), half(a, b)]],
  pow: [(a, b) => a ** b, (a, b) => [b === 0 ? 0 : b * a ** (b - 1), a === 0 && b >= 0 ? 0 : a ** b * Math.log(a)]],
  atan2: [Math.atan2, (a, b) => [b / (a * a + b * b), -a / (a * a + b * b)]],
};

const truth = (x: boolean): number => Number(x);
const COMPARE: Readonly<Record<string, (a: number, b: number) => number>> = {
  eq: (a, b) => truth(a === b),
  ne: (a, b) => truth(a !== b),
  lt: (a, b) => truth(a < b),
  le: (a, b) => truth(a <= b),
  gt: (a, b) => truth(a > b),
  ge: (a, b) => truth(a >= b),
};

/** Integers as numbers of their range. */
const INTEGER: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => Math.imul(a, b),
  div: (a, b) => (b === 0 ? 0 : Math.trunc(a / b)),
  rem: (a, b) => (b === 0 ? 0 : a % b),
  min: Math.min,
  max: Math.max,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => a << (b & 31),
  neg: (a) => -a,
  abs: (a) => Math.abs(a),
  not: (a) => ~a,
};

function wrap(type: string, x: number): number {
  return type === 'u32' ? x >>> 0 : type === 'i32' ? x | 0 : x;
}

function ofBits(type: string, bits: number): number {
  words.setUint32(0, bits);
  return type === 'f32' ? words.getFloat32(0) : type === 'i32' ? words.getInt32(0) : bits;
}

function bitsOf(type: string, x: number): number {
  if (type === 'f32') words.setFloat32(0, x);
  else words.setInt32(0, x);
  return words.getUint32(0);
}

const saturated = (x: number, low: number, high: number): number =>
  Number.isNaN(x) ? 0 : Math.min(high, Math.max(low, Math.trunc(x)));

/** The highest or lowest number of a type. */
function bound(type: string, isHighest: boolean): number {
  if (type === 'f32') return isHighest ? Infinity : -Infinity;
  return isHighest ? 2 ** (type === 'u32' ? 32 : 31) - 1 : type === 'u32' ? 0 : -(2 ** 31);
}

/** What each output of a kernel is and changes by, as numbers of its level; of one that is written by index, in `stored`. */
export function evaluate(
  kernel: Kernel,
  { shape, folded, params }: Domain,
  inputs: Readonly<Record<string, DualInput>>,
  stored: Readonly<Record<string, DualInput>> = {},
): Record<string, Dual> {
  const count = sizeOf(shape);
  const rowShape = shape.slice(0, shape.length - folded);
  const rows = sizeOf(rowShape);
  const length = rows === 0 ? 0 : count / rows;
  const points = { call: 1, row: rows, element: count };
  const values: Dual[] = [];
  const placeIn = (from: string, to: string, point: number): number =>
    from === to ? point : from === 'call' ? 0 : Math.floor(point / length);
  const read = (ref: number, level: string, point: number): number => {
    const own = (values[ref] as Dual).value;
    return own[placeIn((kernel.nodes[ref] as KernelNode).level, level, point)] as number;
  };
  const moved = (ref: number, level: string, point: number): number => {
    const own = (values[ref] as Dual).change;
    return own[placeIn((kernel.nodes[ref] as KernelNode).level, level, point)] as number;
  };
  const indexOf = (axis: number, point: number, sizes: readonly number[]): number => {
    const own = axis < 0 ? axis + sizes.length : axis;
    return Math.floor(point / sizeOf(sizes.slice(own + 1))) % (sizes[own] as number);
  };
  const inside = (sizes: readonly number[], indices: readonly number[]): number =>
    indices.every((index, axis) => index >= 0 && index < (sizes[axis] as number))
      ? indices.reduce((place, index, axis) => place * (sizes[axis] as number) + index, 0)
      : -1;
  for (const node of kernel.nodes) {
    const { level, type } = node;
    const size = points[level];
    const value = new Float64Array(size);
    const change = new Float64Array(size);
    values.push({ value, change });
    for (let point = 0; point < size; point++) {
      const [v, c] = pointOf(node, point);
      value[point] = type === 'f32' || type === 'bool' ? v : wrap(type, v);
      change[point] = type === 'f32' ? c : 0;
    }
    if (node.kind === 'scan') scan(node, value, change);
  }

  function pointOf(node: KernelNode, point: number): readonly [number, number] {
    const { level, type } = node;
    switch (node.kind) {
      case 'constant':
        return [ofBits(type, node.bits), 0];
      case 'parameter':
        return [params[node.name] as number, 0];
      case 'input': {
        const own = inputs[node.name] as DualInput;
        return [own.value[point] as number, own.change[point] as number];
      }
      case 'index':
        return [indexOf(node.axis, point, shape), 0];
      case 'rowIndex':
        return [indexOf(node.axis, point, rowShape), 0];
      case 'extent':
        return [shape.at(node.axis) as number, 0];
      case 'spread':
        return [read(node.operands[0], level, point), moved(node.operands[0], level, point)];
      case 'gather': {
        const [otherwise = 0, ...indices] = node.operands;
        const own = inputs[node.name] as DualInput;
        const place = inside(
          own.shape,
          indices.map((index) => read(index, level, point)),
        );
        if (place >= 0) return [own.value[place] as number, own.change[place] as number];
        return [read(otherwise, level, point), moved(otherwise, level, point)];
      }
      case 'fold':
        return fold(node.op, node.operands[0], point);
      case 'scan':
        return [0, 0];
      case 'arithmetic':
        return arithmetic(node, point);
    }
  }

  function arithmetic(node: KernelNode & { kind: 'arithmetic' }, point: number): readonly [number, number] {
    const { op, level, type, operands } = node;
    const [a = 0, b = 0, c = 0] = operands.map((operand) => read(operand, level, point));
    const [da = 0, db = 0, dc = 0] = operands.map((operand) => moved(operand, level, point));
    const from = kernel.nodes[operands[0] as number]?.type as string;
    if (op === 'select') return a !== 0 ? [b, db] : [c, dc];
    if (op === 'random') return [Math.imul(a * 31 + b * 17 + c, 0x9e3779b1), 0];
    if (op.startsWith('bitcast')) return [ofBits(type, bitsOf(from, a)), 0];
    if (op === 'toF32') return [a, 0];
    if (op === 'toI32') return [from === 'u32' ? a : saturated(a, -(2 ** 31), 2 ** 31 - 1), 0];
    if (op === 'toU32') return [from === 'i32' ? a : saturated(a, 0, 2 ** 32 - 1), 0];
    if (op === 'isNan') return [truth(Number.isNaN(a)), 0];
    if (op === 'isFinite') return [truth(Number.isFinite(a)), 0];
    const compare = COMPARE[op];
    if (compare !== undefined) return [compare(a, b), 0];
    if (type === 'bool') return [op === 'not' ? 1 - a : op === 'and' ? a & b : op === 'or' ? a | b : a ^ b, 0];
    if (type !== 'f32') {
      if (op === 'shr') return [type === 'u32' ? a >>> (b & 31) : a >> (b & 31), 0];
      return [(INTEGER[op] as (a: number, b: number) => number)(a, b), 0];
    }
    const unary = UNARY[op];
    if (unary !== undefined) return [unary[0](a), da === 0 ? 0 : unary[1](a) * da];
    const [f, slopes] = BINARY[op] as (typeof BINARY)[string];
    let [left, right] = slopes(a, b);
    if (op === 'max' || op === 'min') {
      // Beside what is fixed, nothing at the bend.
      const isFixed = operands.map((operand) => kernel.nodes[operand]?.level === 'call');
      if (a === b && isFixed[1] === true) left = 0;
      if (a === b && isFixed[0] === true) right = 0;
    }
    return [f(a, b), (da === 0 ? 0 : left * da) + (db === 0 ? 0 : right * db)];
  }

  function fold(op: string, ref: number, row: number): readonly [number, number] {
    const own = Array.from({ length }, (_, index) => row * length + index);
    const all = own.map((point) => read(ref, 'element', point));
    const changes = own.map((point) => moved(ref, 'element', point));
    const sum = (list: readonly number[]): number => list.reduce((total, each) => total + each, 0);
    if (op === 'sum') return [sum(all), sum(changes)];
    if (op === 'mean') return [sum(all) / length, sum(changes) / length];
    if (op === 'any') return [truth(all.some((each) => each !== 0)), 0];
    if (op === 'all') return [truth(all.every((each) => each !== 0)), 0];
    if (op === 'count') return [all.filter((each) => each !== 0).length, 0];
    if (op === 'product') {
      const type = kernel.nodes[ref]?.type as string;
      const product = (list: readonly number[]): number =>
        list.reduce((total, each) => (type === 'f32' ? total * each : Math.imul(total, each)), 1);
      if (type !== 'f32') return [product(all), 0];
      return [product(all), sum(changes.map((change, at) => change * product(all.filter((_, other) => other !== at))))];
    }
    const best = op.endsWith('max') ? Math.max(...all) : Math.min(...all);
    if (op.startsWith('arg')) return [Math.max(0, all.indexOf(best)), 0];
    const tied = changes.filter((_, at) => all[at] === best);
    const empty = bound(kernel.nodes[ref]?.type as string, best > 0);
    return [length === 0 ? empty : best, tied.length === 0 ? 0 : sum(tied) / tied.length];
  }

  function scan(node: KernelNode & { kind: 'scan' }, value: Float64Array, change: Float64Array): void {
    const { op, operands, exclusive, reverse, type } = node;
    const isSum = op === 'sum';
    const isLeast = op === 'min';
    for (let row = 0; row < rows; row++) {
      let [total, moves] = isSum ? [0, 0] : [op === 'product' ? 1 : bound(type, isLeast), 0];
      for (let step = 0; step < length; step++) {
        const point = row * length + (reverse ? length - 1 - step : step);
        const [x, dx] = [read(operands[0], 'element', point), moved(operands[0], 'element', point)];
        const isNew = isLeast ? x <= total : x >= total;
        let next = isSum ? total + x : type === 'f32' ? total * x : Math.imul(total, x);
        let nextMoves = isSum ? moves + dx : moves * x + total * dx;
        // Of equal ones the last.
        if (op === 'max' || op === 'min') [next, nextMoves] = isNew ? [x, dx] : [total, moves];
        value[point] = wrap(type, exclusive ? total : next);
        change[point] = type === 'f32' ? (exclusive ? moves : nextMoves) : 0;
        [total, moves] = [next, nextMoves];
      }
    }
  }

  const outputs: Record<string, Dual> = {};
  for (const { name, level, node, scatter, type } of kernel.outputs) {
    const size = points[level];
    if (scatter === undefined) {
      outputs[name] = {
        value: Float64Array.from({ length: size }, (_, point) => read(node, level, point)),
        change: Float64Array.from({ length: size }, (_, point) => moved(node, level, point)),
      };
      continue;
    }
    const own = stored[name] as DualInput;
    const [value, change] = [own.value.slice(), own.change.slice()];
    const named = new Map<number, number>();
    for (let point = 0; point < size; point++) {
      const indices = scatter.indices.map((index) => read(index, level, point));
      const place = inside(own.shape, indices);
      if (place < 0) continue;
      const [old, x, dx] = [value[place] as number, read(node, level, point), moved(node, level, point)];
      const before = change[place] as number;
      const count = named.get(place) ?? 1;
      named.set(place, count + 1);
      if (scatter.mode === 'add') [value[place], change[place]] = [wrap(type, old + x), before + dx];
      // Of several that are set at one place the gradient goes to all: what is stored counts as changing by each.
      else if (scatter.mode === 'set') [value[place], change[place]] = [x, (count === 1 ? 0 : before) + dx];
      else if (scatter.mode === 'max' ? x > old : x < old) {
        [value[place], change[place]] = [x, dx];
        named.set(place, 1);
      } else if (x === old) change[place] = before + (dx - before) / (count + 1);
      else named.set(place, count);
    }
    outputs[name] = { value, change };
  }
  return outputs;
}
