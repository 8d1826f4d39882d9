import { repeat } from '../wgsl/repeat.ts';
import { storedVector, totalOf } from './form.wgsl.ts';
import { COMPONENTS, type FlashParams, ROWS } from './flash-tile.ts';

/** Returns whether O is bound as vectors of four; records are not. */
export const isWideOutput = ({ fit, partial }: Pick<FlashParams, 'fit' | 'partial'>): boolean =>
  fit !== 'any' && !partial;

/** WGSL: needs `quotient`. */
export const quotients: string = /* wgsl */ `
fn quotients(sums: vec4f, total: f32) -> vec4f {
  return vec4f(quotient(sums.x, total), quotient(sums.y, total), quotient(sums.z, total), quotient(sums.w, total));
}`;

/** WGSL: the end of `flash`, which divides the sums of an invocation's rows and stores them, or stores records. */
export function storeOutput({ tile, fit, form, partial }: FlashParams): string {
  const { columns, across } = tile;
  const storeVector = (i: number, total: string, j: number): string => {
    const d = `4u * (lane_column + ${across * j}u)`;
    if (isWideOutput({ fit, partial })) {
      const store = `o[(at + ${d}) / 4u] = ${storedVector(form, `quotients(o${i}_${j}, ${total})`)};`;
      return `    ${fit === 'full' ? store : `if (${d} < u.head_dim) { ${store} }`}`;
    }
    return repeat(4, (c) => {
      const sum = `o${i}_${j}.${COMPONENTS[c]}`;
      const value = partial ? sum : `quotient(${sum}, ${total})`;
      return `    if (${d} + ${c}u < u.head_dim) { o[at + ${d} + ${c}u] = ${value}; }`;
    });
  };
  const storeRow = (i: number): string => {
    const g = Math.floor(i / 4);
    const component = COMPONENTS[i % 4] as string;
    const extra = `
    if (lane_column == 0u) {
      o[at + u.head_dim] = largest${g}.${component};
      o[at + u.head_dim + 1u] = total${g}.${component};
    }`;
    const query = `query${g} + ${i % 4}u`;
    // Rows of O have separate places, records are packed.
    const isOwn = form !== 'plain' && !partial;
    const at = isOwn ? `o_start(head) + (${query}) * u.o_row` : `u.o_at + (row_at + ${query}) * u.o_row`;
    const total = isOwn ? `last${i}` : `total${g}.${component}`;
    return `  if (${query} < u.queries) {
    let at = ${at};${isOwn ? `\n    let last${i} = ${totalOf(form, `total${g}.${component}`, query)};` : ''}
${repeat(columns / across / 4, (j) => storeVector(i, total, j))}${partial ? extra : ''}
  }`;
  };
  return `  let row_at = (split * u.heads + head) * u.queries;
${repeat(ROWS, storeRow)}`;
}
