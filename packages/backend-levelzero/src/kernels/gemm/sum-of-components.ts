import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/** The sum of a vector's components, in pairs. The number of components is a power of two. */
export function sumOfComponents(k: FunctionBuilder, vector: Value): Value {
  if (vector.type.kind !== 'vector') return vector;
  let parts = Array.from({ length: vector.type.count }, (_, index) => k.extract(vector, index));
  while (parts.length > 1) {
    const half = parts.length / 2;
    parts = parts.slice(0, half).map((part, index) => k.add(part, parts[half + index] as Value));
  }
  return parts[0] as Value;
}
