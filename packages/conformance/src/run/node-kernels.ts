import {
  defineKernel,
  FOLD_OPS,
  type FoldOp,
  type Kernel,
  type KernelBuilder,
  NODE_OPS,
  type NodeOp,
  type NumberType,
  type Value,
  type ValueType,
} from '@concord/backend-core/kernel';

/** The builder without its types: the names of its methods are data here. */
type AnyBuilder = Readonly<Record<string, (...operands: unknown[]) => Value>>;
type Outputs = Record<string, Value<NumberType>>;

const loose = (k: KernelBuilder): AnyBuilder => k as unknown as AnyBuilder;

/** Returns whether a node's value depends on all bits of a float, so that only what was loaded has a specified answer. */
const isBitcast = (op: NodeOp): boolean => op.startsWith('bitcast');

/** Every operation with each type that its operands can have. */
export const NODE_CASES: readonly (readonly [op: NodeOp, type: ValueType])[] = (
  Object.keys(NODE_OPS) as NodeOp[]
).flatMap((op) => NODE_OPS[op].types.map((type) => [op, type] as const));

/** Every fold with each type that its operand can have. */
export const FOLD_CASES: readonly (readonly [op: FoldOp, type: ValueType])[] = (
  Object.keys(FOLD_OPS) as FoldOp[]
).flatMap((op) => FOLD_OPS[op].types.map((type) => [op, type] as const));

/** The stored value of a bool: 1 or 0. */
export function storable(k: KernelBuilder, value: Value): Value<NumberType> {
  if (value.type !== 'bool') return value as Value<NumberType>;
  return k.select(value as Value<'bool'>, k.u32(1), k.u32(0));
}

/** The type of the inputs of a kernel whose operation takes `type`: truths are made of comparisons. */
export function inputTypeOf(type: ValueType): NumberType {
  return type === 'bool' ? 'i32' : type;
}

/**
 * An operation of what is loaded (`loaded`), of one value twice (`same`), and of what is computed: differences, products
 * and quotients, which make infinity - infinity, x - x, 0 * infinity and overflows of special values.
 */
export function nodeKernel(op: NodeOp, type: ValueType): Kernel {
  const spec = { inputs: { a: inputTypeOf(type), b: inputTypeOf(type) } };
  return defineKernel(`${op} of ${type}`, spec, ({ a, b }, k): Outputs => {
    const apply = (x: Value, y: Value): Value<NumberType> => storable(k, applied(k, op, type, x, y));
    if (type === 'bool') {
      const [x, y] = [k.lt(a as Value<'i32'>, b as Value<'i32'>), k.ne(a as Value<'i32'>, 0)];
      return { loaded: apply(x, y), same: apply(x, x) };
    }
    if (isBitcast(op)) return { loaded: apply(a, b), other: apply(b, a) };
    const any = loose(k);
    const difference = any['sub']?.(a, b) as Value;
    const product = any['mul']?.(a, b) as Value;
    const computed = { difference: apply(difference, b), product: apply(a, product) };
    if (NODE_OPS[op].operands > 1) return { loaded: apply(a, b), same: apply(a, a), ...computed };
    const quotient = any['div']?.(a, b) as Value;
    return {
      loaded: apply(a, b),
      difference: apply(difference, b),
      product: apply(product, b),
      quotient: apply(quotient, b),
    };
  });
}

/** The operand that a constant is. */
export type ConstantPlace = 'left' | 'right';

/** An operation with a constant as one of its operands: special ones are not to be folded away wrongly. */
export function constantKernel(
  op: NodeOp,
  type: NumberType,
  constants: readonly number[],
  place: ConstantPlace,
): Kernel {
  return defineKernel(`${op} with constants`, { inputs: { a: type } }, ({ a }, k): Outputs => {
    const constant = (value: number): Value => (loose(k)[type] as (value: number) => Value)(value);
    return Object.fromEntries(
      constants.map((value, index) => {
        const [x, y] = place === 'left' ? [constant(value), a] : [a, constant(value)];
        return [`y${index}`, storable(k, applied(k, op, type, x, y))];
      }),
    );
  });
}

/** An operation of an input and a parameter, either way round. */
export function parameterKernel(op: NodeOp, type: NumberType): Kernel {
  return defineKernel(
    `${op} with a parameter`,
    { inputs: { a: type }, params: { p: type } },
    ({ a, p }, k): Outputs => ({
      left: storable(k, applied(k, op, type, p, a)),
      right: storable(k, applied(k, op, type, a, p)),
    }),
  );
}

/** The threshold of a truth: data with one spike a row are then all false but one, or all true but one. */
const THRESHOLDS: Partial<Readonly<Record<FoldOp, number>>> = { any: 100, all: 5 };

/** A fold of an input, beside a copy of it that makes it an element output too where `isSpread`. */
export function foldKernel(op: FoldOp, type: ValueType): Kernel {
  const spec = { inputs: { x: inputTypeOf(type) } };
  return defineKernel(`${op} of ${type}`, spec, ({ x }, k): Outputs => {
    const folded = type === 'bool' ? k.gt(x as Value<'i32'>, THRESHOLDS[op] ?? 0) : x;
    return { y: storable(k, k.fold(op, folded as Value)) };
  });
}

/** An operation of two values; one that takes three makes the third of them. */
export function applied(k: KernelBuilder, op: NodeOp, type: ValueType, x: Value, y: Value): Value {
  const any = loose(k);
  if (op === 'select') {
    const condition = type === 'bool' ? x : any['lt']?.(x, y);
    return any['select']?.(condition, x, y) as Value;
  }
  if (op === 'random') return any['random']?.(x, y, any['xor']?.(x, y)) as Value;
  if (op.startsWith('bitcast')) return any['bitcast']?.(op.slice('bitcast'.length).toLowerCase(), x) as Value;
  return any[op]?.(...(NODE_OPS[op].operands === 1 ? [x] : [x, y])) as Value;
}
