import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/** Combines the halves of a vector until one number is left. */
export function acrossLanes(
  k: FunctionBuilder,
  vector: Value,
  combine: (k: FunctionBuilder, a: Value, b: Value) => Value,
): Value {
  if (vector.type.kind !== 'vector') return vector;
  const half = vector.type.count / 2;
  if (half === 1) return combine(k, k.extract(vector, 0), k.extract(vector, 1));
  const lanes = Array.from({ length: half }, (_, lane) => lane);
  const low = k.shuffle(vector, vector, lanes);
  const high = k.shuffle(
    vector,
    vector,
    lanes.map((lane) => lane + half),
  );
  return acrossLanes(k, combine(k, low, high), combine);
}
