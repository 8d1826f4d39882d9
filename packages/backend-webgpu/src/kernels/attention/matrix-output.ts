import { repeat } from '../wgsl/repeat.ts';
import { storedVector, totalOf } from './form.wgsl.ts';
import type { MatrixParams } from './matrix.wgsl.ts';
import { UNIT } from './matrix-tile.ts';

/** The options of {@link storeRows}. */
interface RowsParams extends Pick<MatrixParams, 'fit' | 'partial'> {
  /** Matrices of sums side by side. */
  readonly terms: number;
  /** WGSL: puts the sums of matrix d into workgroup memory. */
  readonly sumsOut: (d: number) => string;
  /** WGSL: vector c of the row of the invocation there. */
  readonly own: (c: number) => string;
}

/** WGSL: the end of `matrix`: each invocation divides and stores the sums of its query, or stores a record. */
export function storeRows({ fit, partial, terms, sumsOut, own }: RowsParams): string {
  const isInside = (d: number): string => `query < u.queries${fit === 'full' ? '' : ` && ${d}u < u.head_dim`}`;
  const at = partial
    ? 'u.o_at + ((split * u.heads + head) * u.queries + query) * u.o_row'
    : 'o_start(head) + query * u.o_row';
  const storeVector = (d: number, c: number): string => {
    const column = d * UNIT + 4 * c;
    if (!partial) {
      return `    if (${isInside(column)}) { o[(at + ${column}u) / 4u] = ${storedVector('f16', `quotients(bitcast<vec4f>(${own(c)}), last)`)}; }`;
    }
    return `    if (${isInside(column)}) {
      let sums = bitcast<vec4f>(${own(c)});
${repeat(4, (i) => `      o[at + ${column + i}u] = sums[${i}];`)}
    }`;
  };
  return `  let at = ${at};
${partial ? '' : `  let last = ${totalOf('f16', 'total', 'query')};`}
${repeat(terms, (d) => `${sumsOut(d)}\n  workgroupBarrier();\n${repeat(4, (c) => storeVector(d, c))}\n  workgroupBarrier();`)}
${
  partial
    ? `  if (query < u.queries) {
    o[at + u.head_dim] = least * (LN2_HI + LN2_LO);
    o[at + u.head_dim + 1u] = total;
  }`
    : ''
}`;
}
