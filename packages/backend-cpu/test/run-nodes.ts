import {
  checkedRun,
  defineKernel,
  type Kernel,
  NODE_OPS,
  type NodeOp,
  type Value,
  type ValueType,
} from '@concord/backend-core/kernel';
import type { StoredElements } from '@concord/backend-cpu/reference';
import { expect, it } from 'vitest';
import {
  applied,
  FOLD_CASES,
  foldKernel,
  inputTypeOf,
  NODE_CASES,
  storable,
} from '../../conformance/src/run/node-kernels.ts';
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

/** Every pair of values of a type. */
function operands(type: ValueType, randoms: number): Readonly<Record<'a' | 'b', StoredElements>> {
  const values: readonly number[] = type === 'f32' ? FLOATS : INTEGERS;
  const random = Array.from({ length: randoms }, (_, i) => {
    const unit = (Math.imul(i + 1, 0x9e3779b1) >>> 8) / 2 ** 24;
    return type === 'f32' ? (unit * 2 - 1) * 2 ** ((i % 21) - 8) : Math.imul(i + 1, 0x85ebca6b) >> (i % 28);
  });
  const pool = [...values, ...random];
  const pairs = pool.flatMap((a) => values.map((b) => ({ a, b })));
  const all = (of: 'a' | 'b'): StoredElements =>
    stored(
      type,
      pairs.map((pair) => pair[of]),
    );
  return { a: all('a'), b: all('b') };
}

function stored(type: ValueType, values: readonly number[]): StoredElements {
  if (type === 'f32') return Float32Array.from(values);
  return type === 'u32' ? Uint32Array.from(values, (x) => x >>> 0) : Int32Array.from(values, (x) => x | 0);
}

/** An operation of what is loaded: a truth is whether a number is below 0. */
function nodeKernel(op: NodeOp, type: ValueType): Kernel {
  const names = ['a', 'b'].slice(0, NODE_OPS[op].operands);
  const inputs = Object.fromEntries(names.map((name) => [name, inputTypeOf(type)]));
  return defineKernel(`${op} ${type}`, { inputs }, (symbols, k) => {
    const values = Object.values(symbols as Readonly<Record<string, Value<'i32'>>>);
    const [x, y = x] = values.map((own) => (type === 'bool' ? k.lt(own, 0) : own)) as [Value, Value?];
    return { y: storable(k, applied(k, op, type, x, y)) };
  });
}

/** @param randoms - values of no note beside those of note: each costs a pair with every one of those */
export function describeNodes(run: RunChecked, randoms: number): void {
  it.each(NODE_CASES)('%s of %s', async (op, type) => {
    const inputs = operands(inputTypeOf(type), randoms);
    const geometry = checkedRun(nodeKernel(op, type), { shape: [inputs.a.length], inputs: {}, outputs: {} });
    expect(await run(geometry, { inputs, params: {} })).toEqual([]);
  });

  it.each(FOLD_CASES)('fold %s of %s', async (op, valueType) => {
    const [kernel, type] = [foldKernel(op, valueType), inputTypeOf(valueType)];
    for (const [rows, length] of [
      [1, 1],
      [7, 5],
      [9, 33],
      [5, 130],
      [3, 1100],
    ] as const) {
      for (const special of type === 'f32' ? [undefined, Number.NaN, Infinity, -Infinity] : [undefined]) {
        const values = Array.from({ length: rows * length }, (_, i) => ((i * 7919 + 13) % 5) - 2);
        if (special !== undefined) for (let r = 0; r < rows; r++) values[r * length + ((r * 37) % length)] = special;
        const geometry = checkedRun(kernel, { shape: [rows, length], folded: 1, inputs: {}, outputs: {} });
        expect(await run(geometry, { inputs: { x: stored(type, values) }, params: {} }), `${rows}x${length}`).toEqual(
          [],
        );
      }
    }
  });
}
