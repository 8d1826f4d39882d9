import type { KernelSource } from '../kernel.ts';

/**
 * The input of a pass: `elements`, the op's input, whose places in a row are their columns; or `candidates`, the results of
 * a pass before, which know their places.
 */
export type Source = 'elements' | 'candidates';
/** Every {@link Source}. */
export const SOURCES: readonly Source[] = ['elements', 'candidates'];

/**
 * Bindings and uniforms of a pass over rows of `length` elements. A row has `parts` of `chunk` elements, the last one
 * perhaps fewer; `items` is rows times parts. Of each part the `k` best are stored (or all, if it has no more), the best
 * first, those of a part after those of the part before, those of a row `results` after those of the row before.
 *
 * `flip` inverts all bits of keys where the smallest are the best. `base` is the column of the first element, where a row comes
 * in several windows. The others say where the operands begin in their bindings.
 *
 * Of equals the first in a list of candidates is the one of the lower place, as parts are in order.
 */
export function passInterface(source: Source): Pick<KernelSource, 'storage' | 'uniforms'> {
  const read = { access: 'read', type: 'array<u32>' } as const;
  const written = { access: 'read_write', type: 'array<u32>' } as const;
  return {
    storage: {
      input: read,
      ...(source === 'candidates' ? { places: read } : {}),
      values: written,
      indices: written,
    },
    uniforms: {
      items: 'u32',
      parts: 'u32',
      length: 'u32',
      chunk: 'u32',
      k: 'u32',
      results: 'u32',
      flip: 'u32',
      base: 'u32',
      input_at: 'u32',
      places_at: 'u32',
      values_at: 'u32',
      indices_at: 'u32',
    },
  };
}

/**
 * The functions that passes are made of. An entry is a key, of which the greater is better, and the number of the element in
 * its part, of which the lower is better. Keys are made of bits, in the order of the numbers: the zeros are equal, all NaN
 * are equal and above Infinity. No element has key 0: an entry of zeros is none.
 */
export function passWgsl(source: Source): string {
  const place = source === 'elements' ? 'u.base + part.start + at' : 'places[u.places_at + part.first + at]';
  return /* wgsl */ `
struct Part {
  first: u32,
  start: u32,
  count: u32,
  result: u32,
}

fn part_of(item: u32) -> Part {
  let row = item / u.parts;
  let number = item % u.parts;
  let start = number * u.chunk;
  return Part(row * u.length + start, start, min(u.chunk, u.length - start), row * u.results + number * u.k);
}

fn key_at(at: u32) -> u32 {
  let bits = input[u.input_at + at];
  let magnitude = bits & 0x7fffffffu;
  let ordered = bits ^ (bitcast<u32>(bitcast<i32>(bits) >> 31u) | 0x80000000u);
  let number = select(ordered, 0x80000000u, magnitude == 0u);
  return select(number, 0xfffffffeu, magnitude > 0x7f800000u) ^ u.flip;
}

fn is_ahead(a: vec2u, b: vec2u) -> bool {
  return (a.x > b.x) | ((a.x == b.x) & (a.y < b.y));
}

fn store(part: Part, rank: u32, at: u32) {
  values[u.values_at + part.result + rank] = input[u.input_at + part.first + at];
  indices[u.indices_at + part.result + rank] = ${place};
}`;
}
