import type { KernelSource } from '../kernel.ts';
import { elementType, type Fold, FOLD_UNIFORMS, foldWgsl } from './fold.wgsl.ts';

/** Bindings and uniforms of the kernels that reduce rows; what they mean is said in `rows-lane`. */
export function rowsInterface(fold: Fold): Pick<KernelSource, 'storage' | 'uniforms'> {
  const type = elementType(fold);
  return {
    storage: {
      quads: { access: 'read', type: `array<vec4<${type}>>` },
      input: { access: 'read', type: `array<${type}>` },
      output: { access: 'read_write', type: `array<${type}>` },
    },
    uniforms: {
      items: 'u32',
      parts: 'u32',
      length: 'u32',
      chunk: 'u32',
      offset: 'u32',
      result: 'u32',
      ...FOLD_UNIFORMS,
    },
  };
}

/**
 * `fold_run(item, mate)`: what invocation `mate` of the `team` that reduces part `item` of a row has to add: every
 * `team`-th quad of the aligned middle, four on their way at a time, and every `team`-th of the up to three elements at
 * each end.
 *
 * Four interleaved sums, each step adding the sum of four quads: of 4,096 elements the longest chain has 258 additions.
 */
export function foldRunWgsl(fold: Fold, team: number): string {
  return /* wgsl */ `
const TEAM = ${team}u;
${foldWgsl(fold, 1)}
${foldWgsl(fold, 4)}

fn fold_run(item: u32, mate: u32) -> ${elementType(fold)} {
  let row = u.offset + item / u.parts * u.length;
  let start = item % u.parts * u.chunk;
  let begin = row + start;
  let end = row + min(start + u.chunk, u.length);
  let head = min((begin + 3u) & ~3u, end);
  let tail = max(end & ~3u, head);

  var total = NOTHING;
  for (var i = begin + mate; i < head; i += TEAM) { total = fold(total, lift(input[i])); }
  for (var i = tail + mate; i < end; i += TEAM) { total = fold(total, lift(input[i])); }

  var totals = NOTHING4;
  var i = head / 4u + mate;
  for (; i + 3u * TEAM < tail / 4u; i += 4u * TEAM) {
    let first = fold4(lift4(quads[i]), lift4(quads[i + TEAM]));
    let second = fold4(lift4(quads[i + 2u * TEAM]), lift4(quads[i + 3u * TEAM]));
    totals = fold4(totals, fold4(first, second));
  }
  for (; i < tail / 4u; i += TEAM) { totals = fold4(totals, lift4(quads[i])); }
  return fold(total, fold(fold(totals.x, totals.y), fold(totals.z, totals.w)));
}`;
}
