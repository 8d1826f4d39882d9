import type { FunctionBuilder, Value, VectorCount } from '@concord/spirv-builder';
import type { Folding } from './fold.spv.ts';

/** Elements to fold: `count` steps, `stride` elements apart. */
export interface Steps {
  /** The first element. */
  readonly pointer: Value;
  readonly count: Value;
  readonly stride: Value;
  /** Neighbours that are loaded at once. */
  readonly width: 1 | VectorCount;
  /** Neighbouring loads of a step, each for a total of its own. Default 1. */
  readonly across?: number;
  /** Steps at once, a power of two: totals that do not wait for each other. */
  readonly ways: number;
}

/**
 * Folds elements into `across` totals of `width` components. Of n steps the longest chain has n / ways + ways + log2
 * ways additions.
 */
export function foldSteps(k: FunctionBuilder, folding: Folding, steps: Steps): readonly Value[] {
  const { pointer, count, stride, width, across = 1, ways } = steps;
  const f32 = k.types.float(32);
  const nothing = folding.nothing(width === 1 ? f32 : k.types.vector(f32, width));
  const load = (at: Value): Value => (width === 1 ? k.load(at) : k.loadVector(at, width));
  const takeStep = (totals: readonly Value[], at: Value): Value[] =>
    totals.map((total, index) => folding.take(total, load(index === 0 ? at : k.at(at, index * width))));

  const whole = k.and(count, -ways);
  const leap = k.mul(stride, ways);
  const zero = k.constant(count.type, 0);
  const [offset, ...totals] = k.forLoop(
    { to: whole, step: ways },
    [zero, ...Array.from({ length: ways * across }, () => nothing)],
    (_, [start, ...before]) => {
      let at = start as Value;
      const after: Value[] = [];
      for (let way = 0; way < ways; way++) {
        after.push(...takeStep(before.slice(way * across, (way + 1) * across), k.at(pointer, at)));
        if (way < ways - 1) at = k.add(at, stride);
      }
      return [k.add(start as Value, leap), ...after];
    },
  ) as [Value, ...Value[]];
  let sets: (readonly Value[])[] = Array.from({ length: ways }, (_, way) =>
    totals.slice(way * across, (way + 1) * across),
  );
  if (ways > 1) {
    const [, ...first] = k.forLoop({ from: whole, to: count }, [offset, ...(sets[0] ?? [])], (_, [at, ...before]) => [
      k.add(at as Value, stride),
      ...takeStep(before, k.at(pointer, at as Value)),
    ]);
    sets[0] = first;
  }
  while (sets.length > 1) {
    const half = sets.length / 2;
    sets = sets
      .slice(0, half)
      .map((set, index) => set.map((total, c) => folding.join(total, sets[index + half]?.[c] as Value)));
  }
  return sets[0] as readonly Value[];
}

/** Joins the components of a vector that are a multiple of `left` apart, until so many are left: a power of two. */
export function foldComponents(k: FunctionBuilder, folding: Folding, vector: Value, left: 1 | 2 | 4 | 8): Value {
  let total = vector;
  while (total.type.kind === 'vector' && total.type.count > left) {
    const half = total.type.count / 2;
    if (half === 1) return folding.join(k.extract(total, 0), k.extract(total, 1));
    const lower = Array.from({ length: half }, (_, index) => index);
    const upper = lower.map((index) => index + half);
    total = folding.join(k.shuffle(total, total, lower), k.shuffle(total, total, upper));
  }
  return total;
}
