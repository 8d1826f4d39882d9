import { repeat } from '../wgsl/repeat.ts';
import type { Fit } from './tiled.wgsl.ts';

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
  readonly buffers: 1 | 2;
  readonly threads: number;
  readonly fit: Fit;
}

/** Source text for one operand's strip of a tile. */
export interface TileSide {
  /** Declares the workgroup memory. */
  readonly memory: string;
  /** Declares what the reads need; `tile` is the number of the tile along m (n). */
  declare(tile: string): string;
  /** Reads the strip that begins at term `p` to registers. */
  readonly read: string;
  /** Moves on by a step. */
  readonly advance: string;
  /** Puts the registers into a buffer of workgroup memory. */
  store(buffer: string): string;
  /** Gets from workgroup memory what is needed for four terms. */
  fetch(quad: number): string;
  /** Gets what is needed for one of them. */
  fetchTerm(quad: number, p: number): string;
  /** Value of the invocation's row (column) i at term p. */
  value(i: number, p: number): string;
  /** Values of its rows (columns) 4g .. 4g + 3 at term p. */
  vector(g: number, p: number): string;
}

/**
 * Layout. Row i of an invocation is row `4 * (i / 4 * lanes + lane) + i % 4` of the tile, where there are `lanes = size / each`
 * invocations along it: fours of rows, dealt out in turns. Workgroup memory is `[buffer][plane][lane]` of vectors, as
 * memory has them:
 *
 * - along rows, plane `p * each / 4 + g` has, for each lane, its rows 4g .. 4g + 3 at term p;
 * - along k, plane `p / 4 * each + i` has, for each lane, its row i at terms p .. p + 3.
 *
 * So nothing is transposed on the way, the buffer and the lane are the only indices that are not constants, and
 * neighbouring lanes read neighbouring vectors.
 */
export function tileSide(params: TileSideParams): TileSide {
  const { name, count, size, each, lane, alongK, step, buffers, threads, fit } = params;
  const lanes = size / each;
  const planes = (each * step) / 4;
  const reads = (planes * lanes) / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`a tile of ${size} x ${step} is not shared by ${threads} evenly`);
  const wide = fit !== 'any';
  const unit = wide ? 4 : 1;
  const at = (index: number): string => `${name}_at${index}`;
  const line = `(u.${name}_ld / ${unit}u)`;

  /** Declares for one vector that an invocation brings: its place in the strip, in memory, and in workgroup memory. */
  const declareRead = (index: number): string => {
    const slot = `(lane + ${index * threads}u)`;
    if (alongK) {
      // Neighbouring invocations take neighbours along k, then the next lane's row.
      return `
  let ${name}_term${index} = ${slot} % ${step / 4}u * 4u;
  let ${name}_lane${index} = ${slot} / ${step / 4}u % ${lanes}u;
  let ${name}_turn${index} = ${slot} / ${step / 4}u / ${lanes}u;
  let ${name}_plane${index} = ${name}_term${index} / 4u * ${each}u + ${name}_turn${index};
  let ${name}_row${index} = ${name}_first
    + 4u * (${name}_turn${index} / 4u * ${lanes}u + ${name}_lane${index}) + ${name}_turn${index} % 4u;
  var ${at(index)} = ${name}_start + ${clamped(`${name}_row${index}`, 1)} * ${line}
    + (begin + ${name}_term${index}) / ${unit}u;`;
    }
    return `
  let ${name}_term${index} = ${slot} / ${size / 4}u;
  let ${name}_lane${index} = ${slot} % ${lanes}u;
  let ${name}_turn${index} = ${slot} % ${size / 4}u / ${lanes}u;
  let ${name}_plane${index} = ${name}_term${index} * ${each / 4}u + ${name}_turn${index};
  let ${name}_row${index} = ${name}_first + 4u * (${name}_turn${index} * ${lanes}u + ${name}_lane${index});
  var ${at(index)} = ${name}_start + (begin + ${name}_term${index}) * ${line}
    + ${clamped(`${name}_row${index}`, unit)} / ${unit}u;`;
  };
  const clamped = (row: string, vector: number): string =>
    fit === 'full' ? row : `min(${row}, ${count} - ${vector}u)`;

  const readVector = (index: number): string => {
    const term = `p + ${name}_term${index}`;
    const register = `${name}_next${index}`;
    if (fit === 'full') return `      ${register} = read_${name}(${at(index)});`;
    if (wide) {
      return `      ${register} = vec4f();\n      if (${term} < end) { ${register} = read_${name}(${at(index)}); }`;
    }
    // One by one: along k each term must exist, along the rows each row.
    const numbers = repeat(4, (i) => {
      const exists = alongK ? `${term} + ${i}u < end` : `${term} < end && ${name}_row${index} + ${i}u < ${count}`;
      return `      if (${exists}) { ${register}.${'xyzw'[i]} = read_${name}(${at(index)} + ${i}u); }`;
    });
    return `      ${register} = vec4f();\n${numbers}`;
  };

  const value = (i: number, p: number): string =>
    alongK ? `${name}${i}.${'xyzw'[p]}` : `${name}${Math.floor(i / 4)}_${p}.${'xyzw'[i % 4]}`;

  const fetchPlane = (variable: string, plane: number): string =>
    `      let ${variable} = ${name}_tile[buffer][${plane}][${lane}];`;

  return {
    memory: `var<workgroup> ${name}_tile: array<array<array<vec4f, ${lanes}>, ${planes}>, ${buffers}>;`,
    declare: (tile) =>
      [
        `  let ${name}_start = (u.${name}_start + batch * u.${name}_stride) / ${unit}u;`,
        `  let ${name}_first = ${tile} * ${size}u;`,
        repeat(reads, declareRead),
        repeat(reads, (index) => `  var ${name}_next${index} = vec4f();`),
      ].join('\n'),
    read: repeat(reads, readVector),
    advance: repeat(reads, (index) => `      ${at(index)} += ${alongK ? `${step / unit}u` : `${step}u * ${line}`};`),
    store: (buffer) =>
      repeat(
        reads,
        (index) => `      ${name}_tile[${buffer}][${name}_plane${index}][${name}_lane${index}] = ${name}_next${index};`,
      ),
    fetch: (quad) => (alongK ? repeat(each, (i) => fetchPlane(`${name}${i}`, quad * each + i)) : ''),
    fetchTerm: (quad, p) =>
      alongK ? '' : repeat(each / 4, (g) => fetchPlane(`${name}${g}_${p}`, ((quad * 4 + p) * each) / 4 + g)),
    value,
    vector: (g, p) =>
      alongK ? `vec4f(${[0, 1, 2, 3].map((i) => value(4 * g + i, p)).join(', ')})` : `${name}${g}_${p}`,
  };
}
