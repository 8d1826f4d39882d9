/** An element of C, or of what else a kernel sums up, or four neighbours of a row, where the kernel stores it. All is WGSL. */
export interface StoredElement {
  /** The kernel's function that stores: `(at: u32, acc)`, with {@link place} in between. Left out where array `output` takes `acc` as it is. */
  readonly by?: string;
  /** Its coordinates in C, where `by` takes them after `at`. */
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
