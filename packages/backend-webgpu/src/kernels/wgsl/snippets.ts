/** Lines of a shader that differ in a number, 0 to `count - 1`: a loop that is unrolled in the source. */
export function repeat(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join('\n');
}

/**
 * WGSL: `is_set(flag, at)`, whether a uniform flag is not 0, for branches in long kernels. `at` is a number of the
 * invocation's own, such as an index, and not 2^32 - 1.
 *
 * Lavapipe (Mesa 22.3) compiles a kernel anew, at every dispatch, for the values of the uniforms that alone decide an
 * `if` or the end of a loop, and never frees what it compiled. With something in the condition that is no uniform it does
 * not; other drivers do not mind.
 */
export const isSet: string = /* wgsl */ `
fn is_set(flag: u32, at: u32) -> bool { return flag > select(0u, 1u, at == 0xffffffffu); }
`;

/** An element of C, or of what else a kernel sums up, or four neighbours of a row, where the kernel stores it. All is WGSL. */
interface StoredElement {
  /** The kernel's function that stores: `(at: u32, acc)`, with {@link place} in between. Left out where array `output` takes `acc` as it is. */
  readonly by?: string;
  /** The coordinates in C, if `by` takes them after `at`. */
  readonly place?: readonly string[];
  /** Number of the element, or of the four, in its binding. */
  readonly at: string;
  /** The sum that the kernel computed for it. */
  readonly acc: string;
  /** The condition under which this invocation stores it. */
  readonly checks: readonly string[];
}

/** WGSL: stores an element. Every kernel of a product or a convolution stores what it sums up by this. */
export function storeC({ by, at, place = [], acc, checks }: StoredElement): string {
  const store = by === undefined ? `output[${at}] = ${acc};` : `${by}(${[at, ...place, acc].join(', ')});`;
  return checks.length === 0 ? store : `if (${checks.join(' && ')}) { ${store} }`;
}
