import { repeat } from '../wgsl/repeat.ts';

/** Source text for the filters' strip of a tile. */
export interface FilterStrip {
  /** Declares the workgroup memory. */
  readonly memory: string;
  /** Declares what the reads need. */
  readonly declare: string;
  /** Reads a strip to registers: the one that begins at tap `p`. */
  readonly read: string;
  /** Puts the registers into `buffer` of workgroup memory: the strip that begins at tap `p`. */
  readonly store: string;
  /** Gets the invocation's vectors for tap p of the strip out of `buffer`. */
  fetch(p: number): string;
  /** Weight of the invocation's filter i at tap p. */
  value(i: number, p: number): string;
}

/** The options of {@link filterStrip}. */
export interface FilterStripParams {
  /** Filters of the tile, and those of one invocation. */
  readonly filters: number;
  readonly each: number;
  readonly step: number;
  readonly threads: number;
  /** True if the taps are a whole number of iterations. */
  readonly isWhole: boolean;
  /** True if no read may go beyond the binding. */
  readonly isClamped: boolean;
}

/** Vectors that are left free after each tap, so that the taps of a filter lie in different banks. */
const PAD = 1;

/** Bytes of workgroup memory. */
export function filterStripBytes({ filters, step }: Pick<FilterStripParams, 'filters' | 'step'>): number {
  return 2 * step * (filters / 4 + PAD) * 16;
}

/**
 * Workgroup memory is `[buffer][tap][four filters]`. Vector g of an invocation is vector `g * lanes + lane_f` of the tile. In
 * memory the taps are neighbours: an invocation makes a vector of four reads, one of each filter, and neighbouring
 * invocations take neighbouring taps.
 */
export function filterStrip({ filters, step, threads, each, isWhole, isClamped }: FilterStripParams): FilterStrip {
  const reads = (filters * step) / 4 / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`${threads} do not share a strip of ${filters} x ${step} evenly`);
  const fetched = (g: number, p: number): string => `weights${g}_${p}`;
  const readAt = (at: string): string => `weights[${isClamped ? `min(${at}, arrayLength(&weights) - 1u)` : at}]`;
  // What is computed beyond the last filter is not stored.
  const rowOf = (index: number, i: number): string =>
    `min(first_filter + filter_four${index} * 4u + ${i}u, u.filters - 1u)`;
  return {
    memory: `var<workgroup> filter_tile: array<array<array<vec4f, ${filters / 4 + PAD}>, ${step}>, 2>;`,
    declare: `
  let first_weight = u.filter_at + group * u.filters * u.filter_stride;
${repeat(
  reads,
  (index) => `  let filter_tap${index} = (lane + ${index * threads}u) % ${step}u;
  let filter_four${index} = (lane + ${index * threads}u) / ${step}u;
${repeat(
  4,
  (i) => `  let weight_at${index}_${i} = first_weight + ${rowOf(index, i)} * u.filter_stride + filter_tap${index};`,
)}
  var weights${index} = vec4f();`,
)}`,
    read: repeat(
      reads,
      (index) =>
        `      weights${index} = vec4f(${[0, 1, 2, 3].map((i) => readAt(`weight_at${index}_${i} + p`)).join(', ')});`,
    ),
    store: repeat(reads, (index) => {
      const weights = isWhole ? `weights${index}` : `select(vec4f(), weights${index}, p + filter_tap${index} < end)`;
      return `      filter_tile[buffer][filter_tap${index}][filter_four${index}] = ${weights};`;
    }),
    fetch: (p) =>
      repeat(
        each / 4,
        (g) => `      let ${fetched(g, p)} = filter_tile[buffer][${p}][lane_f + ${(g * filters) / each}u];`,
      ),
    value: (i, p) => `${fetched(Math.floor(i / 4), p)}.${'xyzw'[i % 4]}`,
  };
}
