import {
  checkedRun,
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
import type { StoredElements } from '@concord/backend-cpu/reference';
import { expect, it } from 'vitest';
import type { RunInMemory } from './run-memory.ts';

// Every node and every fold, on the values that functions have trouble with.

/** Runs a kernel over operands, and says where the results are not the reference's. */
export type RunChecked = (
  geometry: RunInMemory['geometry'],
  data: RunInMemory['data'],
) => readonly string[] | Promise<readonly string[]>;

const FLOATS: readonly number[] = [
  ...[Number.NaN, Infinity, 0, 1, 2, 3, 0.5, 1.5, 2.5, 1e-40, 2 ** -126, 2 ** -149, 1e-8, 0.99999994, 1.0000001],
  ...[3.14159, 8.5, 9.5, 13.2, 15.1, 31, 32, 88.7, 88.73, 89, 104, 127, 128, 255.5, 1e4, 2 ** 23, 16_777_217],
  ...[2 ** 31, 2 ** 32, 1e20, 3.4e38],
].flatMap((x) => [x, -x]);
const INTEGERS: readonly number[] = [0, 1, 2, 3, 7, 31, 32, 33, 255, 256, 65_535, 65_537, 2 ** 30, 2 ** 31 - 1].flatMap(
  (x) => [x, -x, ~x],
);

/** Every pair (and with a third operand some triples) of values of a type. */
function operands(type: ValueType, count: number, randoms: number): StoredElements[] {
  const values: readonly number[] = type === 'f32' ? FLOATS : INTEGERS;
  const random = Array.from({ length: randoms }, (_, i) => {
    const unit = (Math.imul(i + 1, 0x9e3779b1) >>> 8) / 2 ** 24;
    return type === 'f32' ? (unit * 2 - 1) * 2 ** ((i % 21) - 8) : Math.imul(i + 1, 0x85ebca6b) >> (i % 28);
  });
  const pool = [...values, ...random];
  const pairs = pool.flatMap((a) => (count === 1 ? [[a, a]] : values.map((b) => [a, b])));
  const array = (at: number): StoredElements => {
    const own = pairs.map((pair, index) => pair[at === 2 ? index % 2 : at] as number);
    if (type === 'f32') return Float32Array.from(own);
    return type === 'u32' ? Uint32Array.from(own, (x) => x >>> 0) : Int32Array.from(own, (x) => x | 0);
  };
  return Array.from({ length: count }, (_, at) => array(at));
}

type AnyBuilder = Readonly<Record<string, (...operands: readonly unknown[]) => Value>>;

/** Calls the builder's method for a node; a bitcast is named with its type. */
function build(k: KernelBuilder, op: NodeOp, args: readonly Value[]): Value {
  const own = k as unknown as AnyBuilder;
  if (op.startsWith('bitcast')) return own['bitcast']!(op.slice(7).toLowerCase(), ...args);
  return own[op]!(...args);
}

/** A bool as an input: the sign of a number; and one as an output. */
const truth = (k: KernelBuilder, x: Value): Value => k.lt(x as Value<'i32'>, 0);
const stored = (k: KernelBuilder, x: Value): Value<NumberType> =>
  x.type === 'bool' ? k.select(x as Value<'bool'>, k.u32(1), k.u32(0)) : (x as Value<NumberType>);

function nodeKernel(op: NodeOp, type: ValueType): { readonly kernel: Kernel; readonly type: NumberType } {
  const { operands: count } = NODE_OPS[op];
  const number: NumberType = type === 'bool' ? 'i32' : type;
  const names = ['a', 'b', 'c'].slice(0, count);
  const kernel = defineKernel(
    `${op} ${type}`,
    { inputs: Object.fromEntries(names.map((name) => [name, number])) },
    (symbols, k) => {
      const values = names.map((name, index) => {
        const value = (symbols as Readonly<Record<string, Value>>)[name] as Value;
        const isTruth = type === 'bool' || (op === 'select' && index === 0);
        if (!isTruth) return value;
        return value.type === 'i32' ? truth(k, value) : k.lt(value as Value<'f32'>, 1);
      });
      return { y: stored(k, build(k, op, values)) };
    },
  ) as unknown as Kernel;
  return { kernel, type: number };
}

const CASES = (Object.keys(NODE_OPS) as NodeOp[]).flatMap((op) =>
  NODE_OPS[op].types.map((type) => [op, type] as const),
);

const FOLDS = (Object.keys(FOLD_OPS) as FoldOp[]).flatMap((op) =>
  FOLD_OPS[op].types.map((type) => [op, type] as const),
);

/** @param randoms - values of no note beside those of note: each costs a pair with every one of those */
export function describeNodes(run: RunChecked, randoms: number): void {
  it.each(CASES)('%s of %s', async (op, valueType) => {
    const { kernel, type } = nodeKernel(op, valueType);
    const arrays = operands(type, kernel.inputs.length, randoms);
    const shape = [arrays[0]?.length as number];
    const geometry = checkedRun(kernel, { shape, inputs: {}, outputs: {} });
    const inputs = Object.fromEntries(kernel.inputs.map(({ name }, index) => [name, arrays[index] as StoredElements]));
    expect(await run(geometry, { inputs, params: {} })).toEqual([]);
  });

  it.each(FOLDS)('fold %s of %s', async (op, valueType) => {
    const type: NumberType = valueType === 'bool' ? 'i32' : valueType;
    const kernel = defineKernel(`fold ${op} ${type}`, { inputs: { x: type } }, ({ x }, k) => {
      const operand = valueType === 'bool' ? truth(k, x) : x;
      return { y: stored(k, k.fold(op, operand)) };
    }) as unknown as Kernel;
    for (const [rows, length] of [
      [1, 1],
      [7, 5],
      [9, 33],
      [5, 130],
      [3, 1100],
    ] as const) {
      for (const special of type === 'f32' ? [undefined, Number.NaN, Infinity, -Infinity] : [undefined]) {
        const values = Float64Array.from({ length: rows * length }, (_, i) => ((i * 7919 + 13) % 5) - 2);
        if (special !== undefined) for (let r = 0; r < rows; r++) values[r * length + ((r * 37) % length)] = special;
        const x =
          type === 'f32'
            ? Float32Array.from(values)
            : type === 'u32'
              ? Uint32Array.from(values)
              : Int32Array.from(values);
        const geometry = checkedRun(kernel, { shape: [rows, length], folded: 1, inputs: {}, outputs: {} });
        expect(await run(geometry, { inputs: { x }, params: {} }), `${rows}x${length}`).toEqual([]);
      }
    }
  });
}
