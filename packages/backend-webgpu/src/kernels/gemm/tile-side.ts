import { repeat } from '../wgsl/snippets.ts';
import { type Fit, PAD, type Tile } from './tile.ts';

/** The options of {@link tileSide} for one operand. */
export interface TileSideParams {
  readonly name: 'a' | 'b';
  /** WGSL: rows of op(A), or columns of op(B). */
  readonly count: string;
  /** Rows (columns) of the tile, and those of one invocation. */
  readonly size: number;
  readonly each: number;
  /** WGSL: number of the invocation along m (n). */
  readonly lane: string;
  /** True if neighbours in memory are neighbours along k. */
  readonly alongK: boolean;
  readonly step: Tile['step'];
  readonly slices: Tile['slices'];
  readonly buffers: Tile['buffers'];
  readonly threads: number;
  readonly fit: Fit;
}

/** Source text for one operand's strip of a tile. */
export interface TileSide {
  /** Declares the workgroup memory. */
  readonly memory: string;
  /** Declares what the reads need; `tile` is the number of the tile along m (n). */
  declare(tile: string): string;
  /** Reads a strip to registers: the one that begins at term `p`. */
  readonly read: string;
  /** Moves on to the next strip, if there is one. */
  readonly advance: string;
  /** Puts the registers into `buffer` of workgroup memory. */
  readonly store: string;
  /** Gets the invocation's vectors for term p of its slice out of `buffer`. */
  fetch(p: number): string;
  /** Value of the invocation's row (column) i at term p. */
  value(i: number, p: number): string;
  /** Values of its rows (columns) 4g .. 4g + 3 at term p. */
  vector(g: number, p: number): string;
}

/**
 * Workgroup memory is `[buffer][slice][term][four rows]`, vectors of the values of four neighbouring rows (columns) at one
 * term. Vector g of an invocation is vector `g * lanes + lane` of the tile, where there are `lanes = size / each` invocations
 * along it; so neighbouring invocations read neighbouring vectors.
 *
 * Rows beyond the edge of the matrix are read as its last one: nothing that comes of them is stored. Terms beyond `end` are
 * zeros, as every sum would have them.
 */
export function tileSide(params: TileSideParams): TileSide {
  const { name, count, size, each, lane, alongK, step, slices, buffers, threads, fit } = params;
  const reads = (size * step) / 4 / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`a strip of ${size} x ${step} is not shared by ${threads} evenly`);
  const wide = fit !== 'any';
  const perUnit = wide ? ' / 4u' : '';
  const line = `${name}_line`;
  const depth = step / slices;
  const reading = wayOfReading(wide, alongK)(params);

  const declareRead = (i: number): string => `${reading.declare(i, `(lane + ${i * threads}u)`)}
${slices > 1 ? `  let ${name}_slice${i} = ${name}_term${i} / ${depth}u;` : ''}
  let ${name}_depth${i} = ${name}_term${i}${slices > 1 ? ` % ${depth}u` : ''};
  var ${name}_at${i} = ${name}_start + ${reading.place(i)};
  var ${name}_next${i} = vec4f();`;
  const readNext = (i: number): string => `${name}_next${i} = ${reading.read(i)};`;
  const readWithin = (i: number): string => `
        ${name}_next${i} = vec4f();
        if (p + ${name}_term${i} < end) { ${readNext(i)} }`;
  // One condition for all of a strip costs less than one for each read.
  const readPart = `
      if (p + ${step}u <= end) {
${repeat(reads, readNext)}
      } else {${repeat(reads, readWithin)}
      }`;
  // Where reads are not guarded, the last strip is read once more rather than one beyond it.
  const distance = fit === 'full' ? `select(0u, ${name}_step, p < end)` : `${name}_step`;

  const fetched = (g: number, p: number): string => `${name}${g}_${p}`;
  const strip = `array<array<vec4f, ${size / 4 + PAD}>, ${depth}>`;
  return {
    memory: `var<workgroup> ${name}_tile: array<${slices > 1 ? `array<${strip}, ${slices}>` : strip}, ${buffers}>;`,
    declare: (tile) => `  let ${name}_start = (u.${name}_start + batch * u.${name}_stride)${perUnit};
  let ${line} = u.${name}_ld${perUnit};
  let ${name}_step = ${alongK ? `${step}u${perUnit}` : `${step}u * ${line}`};
  let ${name}_first = ${tile} * ${size}u;
  let ${name}_last = ${count} - 1u;
${repeat(reads, declareRead)}`,
    read: fit === 'full' ? repeat(reads, readNext) : readPart,
    advance: repeat(reads, (i) => `      ${name}_at${i} += ${distance};`),
    store: repeat(reads, (i) => reading.store(i)),
    fetch: (p) =>
      repeat(each / 4, (g) => {
        const vector = `[${p}][${lane} + ${(g * size) / each}u]`;
        return `      let ${fetched(g, p)} = ${name}_tile[buffer]${slices > 1 ? '[slice]' : ''}${vector};`;
      }),
    value: (i, p) => `${fetched(Math.floor(i / 4), p)}.${'xyzw'[i % 4]}`,
    vector: fetched,
  };
}

/** The code by which an invocation loads four numbers of a strip at a time; `i` numbers these fours. */
interface Reading {
  /** WGSL: declares, for what invocation `slot` brings, the (first) term in the strip as `<name>_term<i>`, and its rows. */
  declare(i: number, slot: string): string;
  /** WGSL: where they lie in memory for the first strip. */
  place(i: number): string;
  /** WGSL: reads them at `<name>_at<i>` as a vector. */
  read(i: number): string;
  /** WGSL: writes `<name>_next<i>` to workgroup memory. */
  store(i: number): string;
}

function wayOfReading(wide: boolean, alongK: boolean): (params: TileSideParams) => Reading {
  if (wide) return alongK ? vectorAlongK : vectorAcross;
  return alongK ? singlesAlongK : singlesAcross;
}

/** WGSL: the place in workgroup memory of four i's first term, or `plus` terms on. */
function cell({ name, slices }: TileSideParams, i: number, plus = 0): string {
  return `${name}_tile[buffer]${slices > 1 ? `[${name}_slice${i}]` : ''}[${name}_depth${i} + ${plus}u]`;
}

/** Memory has rows as neighbours: four of them are a vector there and here. */
function vectorAcross(params: TileSideParams): Reading {
  const { name, size, fit } = params;
  const first = (i: number): string => `${name}_first + ${name}_four${i} * 4u`;
  return {
    declare: (i, slot) => `
  let ${name}_term${i} = ${slot} / ${size / 4}u;
  let ${name}_four${i} = ${slot} % ${size / 4}u;
  let ${name}_row${i} = ${fit === 'full' ? first(i) : `min(${first(i)}, ${name}_last)`};`,
    place: (i) => `(begin + ${name}_term${i}) * ${name}_line + ${name}_row${i} / 4u`,
    read: (i) => `read_${name}(${name}_at${i})`,
    store: (i) => `      ${cell(params, i)}[${name}_four${i}] = ${name}_next${i};`,
  };
}

/** Memory has terms as neighbours, and gives four of a row as a vector, which is transposed on the way. */
function vectorAlongK(params: TileSideParams): Reading {
  const { name, step, fit } = params;
  const row = (i: number): string => `${name}_first + ${name}_row${i}`;
  return {
    declare: (i, slot) => `
  let ${name}_term${i} = ${slot} % ${step / 4}u * 4u;
  let ${name}_row${i} = ${slot} / ${step / 4}u;`,
    place: (i) =>
      `${fit === 'full' ? `(${row(i)})` : `min(${row(i)}, ${name}_last)`} * ${name}_line + (begin + ${name}_term${i}) / 4u`,
    read: (i) => `read_${name}(${name}_at${i})`,
    store: (i) =>
      repeat(4, (j) => {
        const element = `[${name}_row${i} / 4u][${name}_row${i} % 4u]`;
        return `      ${cell(params, i, j)}${element} = ${name}_next${i}[${j}];`;
      }),
  };
}

/** Memory has rows as neighbours, one by one. Neighbouring invocations take neighbouring rows, each of four quarters. */
function singlesAcross(params: TileSideParams): Reading {
  const { name, size } = params;
  const quarter = size / 4;
  const rows = (i: number): string =>
    repeat(4, (j) => {
      const row = `${name}_first + ${name}_row${i} + ${j * quarter}u`;
      return `  let ${name}_row${i}_${j} = min(${row}, ${name}_last);`;
    });
  return {
    declare: (i, slot) => `
  let ${name}_term${i} = ${slot} / ${quarter}u;
  let ${name}_row${i} = ${slot} % ${quarter}u;
${rows(i)}`,
    place: (i) => `(begin + ${name}_term${i}) * ${name}_line`,
    read: (i) => readFour(name, i),
    store: (i) =>
      repeat(4, (j) => {
        const element = `[${name}_row${i} / 4u + ${(j * quarter) / 4}u][${name}_row${i} % 4u]`;
        return `      ${cell(params, i)}${element} = ${name}_next${i}[${j}];`;
      }),
  };
}

/** Memory has terms as neighbours, one by one. Neighbouring invocations take neighbouring terms, each of four rows. */
function singlesAlongK(params: TileSideParams): Reading {
  const { name, step } = params;
  const rows = (i: number): string =>
    repeat(4, (j) => {
      const row = `${name}_first + ${name}_four${i} * 4u + ${j}u`;
      return `  let ${name}_row${i}_${j} = min(${row}, ${name}_last) * ${name}_line;`;
    });
  return {
    declare: (i, slot) => `
  let ${name}_term${i} = ${slot} % ${step}u;
  let ${name}_four${i} = ${slot} / ${step}u;
${rows(i)}`,
    place: (i) => `begin + ${name}_term${i}`,
    read: (i) => readFour(name, i),
    store: (i) => `      ${cell(params, i)}[${name}_four${i}] = ${name}_next${i};`,
  };
}

/** WGSL: a number of each of four rows. */
function readFour(name: string, i: number): string {
  const numbers = [0, 1, 2, 3].map((j) => `read_${name}(${name}_at${i} + ${name}_row${i}_${j})`);
  return `vec4f(${numbers.join(', ')})`;
}
