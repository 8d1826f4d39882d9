import { repeat } from '../wgsl/repeat.ts';
import type { Fit, Tile } from './tiled.wgsl.ts';

/** What {@link tileSide} is told of one operand. */
export interface TileSideParams {
  readonly name: 'a' | 'b';
  /** WGSL: rows of op(A), or columns of op(B). */
  readonly count: string;
  /** Rows (columns) of the tile, and those of one invocation. */
  readonly size: number;
  readonly each: number;
  /** WGSL: number of the invocation along m (n). */
  readonly lane: string;
  /** Whether neighbours in memory are neighbours along k. */
  readonly alongK: boolean;
  readonly step: number;
  readonly buffers: Tile['buffers'];
  readonly threads: number;
  readonly fit: Fit;
}

/** Source text for one operand's strip of a tile. */
export interface TileSide {
  /** Whether memory is read by vectors of four. */
  readonly wide: boolean;
  /** Declares the workgroup memory. */
  readonly memory: string;
  /** Declares what the reads need; `tile` is the number of the tile along m (n). */
  declare(tile: string): string;
  /** Reads a strip to registers: the one that begins at term `p`. */
  readonly read: string;
  /** Moves on to the next strip, if there is one. */
  advance(condition: string): string;
  /** Puts the registers into `buffer` of workgroup memory. */
  readonly store: string;
  /** Gets the invocation's vectors for term p of the strip out of `buffer`. */
  fetch(p: number): string;
  /** Value of the invocation's row (column) i at term p. */
  value(i: number, p: number): string;
  /** Values of its rows (columns) 4g .. 4g + 3 at term p. */
  vector(g: number, p: number): string;
}

/** Bytes of workgroup memory for a strip. */
export function stripBytes(size: number, step: number, buffers: number): number {
  return (size / 4 + PAD) * 16 * step * buffers;
}

/** Vectors that are left free behind each term, so that the terms of a row lie in different banks. */
const PAD = 1;

/**
 * Workgroup memory is `[buffer][term][four rows]`, vectors of the values of four neighbouring rows (columns) at one
 * term. Vector g of an invocation is vector `g * lanes + lane` of the tile, where there are `lanes = size / each` invocations along
 * it; so neighbouring invocations read neighbouring vectors.
 *
 * Where memory has rows as neighbours, a vector is one read. Where it has terms as neighbours, an invocation makes a
 * vector of four reads, one of each row, and neighbouring invocations take neighbouring terms: each row is read as it lies, and
 * the strip is transposed on the way without a write of less than a vector.
 */
export function tileSide(params: TileSideParams): TileSide {
  const { name, count, size, each, lane, alongK, step, buffers, threads, fit } = params;
  const reads = (size * step) / 4 / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`a strip of ${size} x ${step} is not shared by ${threads} evenly`);
  const wide = fit !== 'any' && !alongK;
  const line = `${name}_line`;
  const perUnit = wide ? ' / 4u' : '';

  /** Declares for one vector that an invocation brings: its place in the strip and in memory. */
  const declareRead = (index: number): string => {
    const slot = `(lane + ${index * threads}u)`;
    const [term, four] = alongK
      ? [`${slot} % ${step}u`, `${slot} / ${step}u`]
      : [`${slot} / ${size / 4}u`, `${slot} % ${size / 4}u`];
    const row = `${name}_row${index}`;
    const place = alongK
      ? `${row} * ${line} + begin + ${name}_term${index}`
      : `(begin + ${name}_term${index}) * ${line} + ${row}${perUnit}`;
    return `
  let ${name}_term${index} = ${term};
  let ${name}_four${index} = ${four};
  let ${row} = ${tileStart} + ${name}_four${index} * 4u;
  var ${name}_at${index} = ${name}_start + ${place};
  var ${name}_next${index} = vec4f();`;
  };
  const tileStart = `${name}_first`;

  const readVector = (index: number): string => {
    const at = `${name}_at${index}`;
    const row = `${name}_row${index}`;
    const next = `${name}_next${index}`;
    const parts = [0, 1, 2, 3].map((i) => `read_${name}(${at} + ${alongK ? `${i}u * ${line}` : `${i}u`})`);
    if (fit === 'full') return `      ${next} = ${wide ? `read_${name}(${at})` : `vec4f(${parts.join(', ')})`};`;
    const guarded = wide
      ? `if (${row} < ${count}) { ${next} = read_${name}(${at}); }`
      : repeat(4, (i) => `if (${row} + ${i}u < ${count}) { ${next}.${'xyzw'[i]} = ${parts[i]}; }`);
    return `      ${next} = vec4f();
      if (p + ${name}_term${index} < end) {
        ${guarded}
      }`;
  };

  const fetched = (g: number, p: number): string => `${name}${g}_${p}`;
  return {
    wide,
    memory: `var<workgroup> ${name}_tile: array<array<array<vec4f, ${size / 4 + PAD}>, ${step}>, ${buffers}>;`,
    declare: (tile) =>
      [
        `  let ${name}_start = (u.${name}_start + batch * u.${name}_stride)${perUnit};`,
        `  let ${line} = u.${name}_ld${perUnit};`,
        `  let ${name}_step = ${alongK ? `${step}u` : `${step}u * ${line}`};`,
        `  let ${tileStart} = ${tile} * ${size}u;`,
        repeat(reads, declareRead),
      ].join('\n'),
    read: repeat(reads, readVector),
    advance: (condition) =>
      repeat(reads, (index) => `      ${name}_at${index} += select(0u, ${name}_step, ${condition});`),
    store: repeat(
      reads,
      (index) => `      ${name}_tile[buffer][${name}_term${index}][${name}_four${index}] = ${name}_next${index};`,
    ),
    fetch: (p) =>
      repeat(
        each / 4,
        (g) => `      let ${fetched(g, p)} = ${name}_tile[buffer][${p}][${lane} + ${(g * size) / each}u];`,
      ),
    value: (i, p) => `${fetched(Math.floor(i / 4), p)}.${'xyzw'[i % 4]}`,
    vector: fetched,
  };
}
