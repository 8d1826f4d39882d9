import type { ComputeBackend } from '@concord/backend-core';
import { tensor, type Tensor, tidy } from '@concord/ops';
import { vjp } from '../../src/index.ts';
import { type GradCase, RANGE } from './grad-case.ts';

/** Numbers that look random and are the same each time. */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Numbers for each tensor of a case. */
export function dataOf({ name, shapes, range: [low, high] = RANGE, isApart = false }: GradCase): Float32Array[] {
  const next = numbersFrom(Array.from(name).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7));
  const sizes = shapes.map((shape) => shape.reduce((product, size) => product * size, 1));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const order = [...Array(total).keys()].map((index) => ({ index, key: next() })).sort((a, b) => a.key - b.key);
  // Apart: equal steps in any order, none of them 0.
  const all = order.map(({ index }) =>
    isApart ? low + ((index + 0.37) / total) * (high - low) : low + next() * (high - low),
  );
  let begin = 0;
  return sizes.map((size) => new Float32Array(all.slice(begin, (begin += size))));
}

/** The gradients by the tape, and the factors of the results in what is differentiated. */
export async function byTape(
  backend: ComputeBackend,
  own: GradCase,
  data: readonly Float32Array[],
): Promise<{ gradients: Float32Array[]; factors: Float32Array }> {
  const xs = data.map((each, index) =>
    tensor(backend, each, own.shapes[index], own.dtype === undefined ? {} : { dtype: own.dtype }),
  );
  const { value, pullback } = vjp((...leaves: Tensor[]) => own.f(...leaves), ...xs);
  const next = numbersFrom(99);
  const factors = Float32Array.from({ length: value.size }, () => next() * 2 - 1);
  const given = tensor(backend, factors, value.shape);
  const found = pullback(given);
  const gradients = await Promise.all(found.map(async (each) => (await each.toArray()) as Float32Array));
  for (const each of [...xs, ...found, value, given]) each.dispose();
  return { gradients, factors };
}

/** The same by differences of five points, which are exact up to the fifth derivative, summed in float64. */
export async function byDifferences(
  backend: ComputeBackend,
  own: GradCase,
  data: readonly Float32Array[],
  factors: Float32Array,
  step = 1 / 32,
): Promise<number[][]> {
  const at = async (changed: readonly Float32Array[]): Promise<number> => {
    const value = tidy(() => own.f(...changed.map((each, index) => tensor(backend, each, own.shapes[index]))));
    const numbers = [...(await value.toArray())];
    value.dispose();
    return numbers.reduce((sum: number, each, index) => sum + each * (factors[index] as number), 0);
  };
  const result: number[][] = [];
  for (const [which, each] of data.entries()) {
    const own: number[] = [];
    for (let index = 0; index < each.length; index++) {
      const moved = async (by: number): Promise<number> => {
        const copy = each.slice();
        copy[index] = (copy[index] as number) + by;
        return at(data.map((other, place) => (place === which ? copy : other)));
      };
      // The steps that float32 makes of it.
      const [a, b, c, d] = [await moved(-2 * step), await moved(-step), await moved(step), await moved(2 * step)];
      own.push((a - 8 * b + 8 * c - d) / (12 * step));
    }
    result.push(own);
  }
  return result;
}
