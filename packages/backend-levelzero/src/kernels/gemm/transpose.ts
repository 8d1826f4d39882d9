import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/**
 * Transposes as many vectors as they have components, a power of two: blocks of 1, 2, 4, ... change places across the
 * diagonal.
 */
export function transpose(k: FunctionBuilder, vectors: readonly Value[]): readonly Value[] {
  const count = vectors.length;
  const places = Array.from({ length: count }, (_, place) => place);
  let made = [...vectors];
  for (let size = 1; size < count; size *= 2) {
    const isLow = (place: number): boolean => (place & size) === 0;
    const lower = places.map((place) => (isLow(place) ? place : count + place - size));
    const upper = places.map((place) => (isLow(place) ? place + size : count + place));
    made = made.map((vector, i) =>
      isLow(i) ? k.shuffle(vector, made[i + size] as Value, lower) : k.shuffle(made[i - size] as Value, vector, upper),
    );
  }
  return made;
}
