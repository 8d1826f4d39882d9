import { defineKernel, type FoldOp, type Kernel, type NodeOp, type Value } from '@concord/backend-core/kernel';

/** One node of a random kernel: which operation, and of which values, as numbers that are taken modulo what there is. */
export type Step = readonly [op: number, a: number, b: number, c: number];

type Type = 'f32' | 'i32' | 'u32' | 'bool';
type Pool = Record<Type, Value[]>;

const FLOAT_UNARY: readonly NodeOp[] = [
  ...(['neg', 'abs', 'sqrt', 'rsqrt', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log1p', 'sin', 'cos', 'tanh'] as const),
  ...(['sigmoid', 'silu', 'gelu', 'geluTanh', 'erf', 'floor', 'ceil', 'round', 'trunc', 'sign'] as const),
];
const FLOAT_BINARY: readonly NodeOp[] = ['add', 'sub', 'mul', 'div', 'min', 'max', 'pow', 'atan2'];
const INTEGER_BINARY: readonly NodeOp[] = [
  ...(['add', 'sub', 'mul', 'div', 'rem', 'min', 'max', 'and', 'or', 'xor', 'shl', 'shr'] as const),
];
const COMPARISONS: readonly NodeOp[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'];
const FLOAT_FOLDS: readonly FoldOp[] = ['sum', 'mean', 'product', 'max', 'min'];

type Builder = Readonly<Record<string, (...operands: unknown[]) => Value>>;
/** Adds a value to the pool; `pick` takes one of a type by the step's numbers. */
type Maker = (k: Builder, pick: (type: Type, operand: 0 | 1 | 2) => Value, table: unknown) => Value;

const of =
  (op: string, ...types: Type[]): Maker =>
  (k, pick) =>
    (k[op] as Builder[string])(...types.map((type, operand) => pick(type, operand as 0 | 1 | 2)));
const foldOf =
  (op: FoldOp, type: Type): Maker =>
  (k, pick) =>
    (k['fold'] as Builder[string])(op, pick(type, 0));

// Sums, products and their folds stand there several times: they widen intervals more than other nodes.
const MAKERS: readonly Maker[] = [
  ...FLOAT_BINARY.map((op) => of(op, 'f32', 'f32')),
  ...FLOAT_BINARY.map((op) => of(op, 'f32', 'f32')),
  ...(['add', 'mul', 'sub', 'mul', 'add'] as const).map((op) => of(op, 'f32', 'f32')),
  ...FLOAT_UNARY.map((op) => of(op, 'f32')),
  ...FLOAT_FOLDS.map((op) => foldOf(op, 'f32')),
  ...FLOAT_FOLDS.map((op) => foldOf(op, 'f32')),
  ...(['i32', 'u32'] as const).flatMap((type) => [
    ...INTEGER_BINARY.map((op) => of(op, type, type)),
    of('neg', type),
    of('abs', type),
    of('not', type),
    of('toF32', type),
    of('lt', type, type),
    foldOf('sum', type),
    foldOf('product', type),
    foldOf('max', type),
    foldOf('argmin', type),
  ]),
  ...COMPARISONS.map((op) => of(op, 'f32', 'f32')),
  ...(['and', 'or', 'xor'] as const).map((op) => of(op, 'bool', 'bool')),
  of('not', 'bool'),
  of('toF32', 'bool'),
  of('isNan', 'f32'),
  of('isFinite', 'f32'),
  of('toI32', 'f32'),
  of('toU32', 'f32'),
  of('toI32', 'u32'),
  of('toU32', 'i32'),
  ...(['f32', 'i32', 'u32'] as const).flatMap((to): Maker[] =>
    (['f32', 'i32', 'u32'] as const).map((from) => (k, pick) => (k['bitcast'] as Builder[string])(to, pick(from, 0))),
  ),
  ...(['f32', 'f32', 'i32', 'u32', 'bool'] as const).map((type) => of('select', 'bool', type, type)),
  ...(['i32', 'u32', 'u32'] as const).map(
    (type): Maker =>
      (k, pick, table) =>
        (k['gather'] as Builder[string])(table, [pick(type, 0)], pick('f32', 1)),
  ),
  foldOf('any', 'bool'),
  foldOf('all', 'bool'),
  foldOf('count', 'bool'),
  foldOf('argmax', 'f32'),
  foldOf('argmin', 'f32'),
  of('spread', 'f32'),
];

/**
 * A kernel of the steps' nodes over float and integer elements, a row input and a gather input; its output `y` is the
 * last value of the steps that can be stored, `z` uses every input and parameter.
 */
export function randomKernel(steps: readonly Step[]): Kernel {
  return defineKernel(
    'random',
    {
      inputs: {
        x: 'f32',
        i: 'i32',
        u: 'u32',
        r: { type: 'f32', level: 'row' },
        t: { type: 'f32', access: 'gather', rank: 1 },
      },
      params: { p: 'f32' },
    },
    ({ x, i, u, r, t, p }, builder) => {
      const k = builder as unknown as Builder;
      const pool: Pool = {
        f32: [builder.f32(0.5), builder.f32(-0), p, r, x],
        i32: [builder.i32(3), i],
        u32: [u, builder.index(-1), builder.rowIndex(0), builder.extent(-1)],
        bool: [builder.bool(true), builder.lt(x, 0)],
      };
      let last: Value = x;
      for (const [op, ...operands] of steps) {
        const pick = (type: Type, operand: 0 | 1 | 2): Value => {
          const values = pool[type];
          return values[values.length - 1 - (operands[operand] % values.length)] as Value;
        };
        const made = (MAKERS[op % MAKERS.length] as Maker)(k, pick, t);
        pool[made.type].push(made);
        if (made.type !== 'bool') last = made;
      }
      const all = builder.add(builder.add(x, r), builder.add(builder.mul(builder.toF32(i), p), builder.toF32(u)));
      return {
        y: (last.level === 'call' ? builder.spread(last) : last) as Value<'f32'>,
        z: builder.add(all, builder.gather(t, [u], 1)),
      };
    },
  );
}
