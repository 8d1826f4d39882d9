import { repeat } from '../wgsl/repeat.ts';
import { BLOCK, LINE, type MatrixUnitsFit, UNIT, VECTOR } from './matrix-units-tile.ts';

/** The options of {@link matrixUnitsSide} for one operand. */
export interface MatrixUnitsSideParams {
  readonly name: 'a' | 'b';
  /** WGSL: rows of op(A), or columns of op(B). */
  readonly count: string;
  /** Rows (columns) of the tile, and of the piece of it that a subgroup takes. */
  readonly size: number;
  readonly piece: number;
  /** True if neighbours in memory are neighbours along k. */
  readonly alongK: boolean;
  readonly threads: number;
  readonly fit: MatrixUnitsFit;
}

/** Source text for one operand's strips of a tile: {@link UNIT} terms each. */
export interface MatrixUnitsSide {
  /** Declares what the reads need; `tile` is the number of the tile along m (n). */
  declare(tile: string): string;
  /** Declares a set of registers for a strip. */
  declareSet(set: number): string;
  /** Reads the strip that begins at term `p` to a set. */
  read(set: number): string;
  /** Moves on to the next strip, if there is one. */
  advance(condition: string): string;
  /** Puts a set into workgroup memory, from a block on. */
  store(set: number, place: number): string;
  /** Loads the matrix at row (column) `at` of piece `number` of the strip that begins at block `place`. */
  load(at: number, number: string, place: string): string;
}

/**
 * A strip lies in workgroup memory in blocks of 32 rows (columns). In a block lines are as in storage: where neighbours in memory
 * are neighbours along k, a line has the terms of a row and of the sixteenth after it, else 32 columns of a term. It is copied by
 * vectors of 16 bytes, which stay the bits that they are.
 *
 * Eight invocations write to workgroup memory at a time: to four lines that are two apart, or to one of two blocks, which are in
 * different banks.
 */
export function matrixUnitsSide(params: MatrixUnitsSideParams): MatrixUnitsSide {
  const { name, count, size, piece, alongK, threads, fit } = params;
  const reads = (size * UNIT) / VECTOR / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`a strip of ${size} is not shared by ${threads} evenly`);
  const each = (line: (index: number) => string): string => repeat(reads, line);

  /** Declares for one vector that an invocation brings: its place in the strip and in memory. */
  const declareRead = (i: number): string => {
    const slot = `${name}_slot${i}`;
    const places = alongK
      ? `  let ${name}_line${i} = ${slot} / 16u * 8u + ${slot} / 2u % 4u * 2u + ${slot} / 8u % 2u;
  let ${name}_row${i} = ${name}_first + ${name}_line${i};
  let ${name}_term${i} = ${slot} % 2u * ${VECTOR}u;
  let ${name}_block${i} = ${name}_line${i} / ${BLOCK}u;
  let ${name}_place${i} = ${name}_line${i} % ${UNIT}u * ${LINE}u + ${name}_line${i} / ${UNIT}u % 2u * 2u + ${slot} % 2u;`
      : `  let ${name}_block${i} = ${slot} / ${8 * UNIT}u * 2u + ${slot} / 4u % 2u;
  let ${name}_row${i} = ${name}_first + ${name}_block${i} * ${BLOCK}u + ${slot} % 4u * ${VECTOR}u;
  let ${name}_term${i} = ${slot} / 8u % ${UNIT}u;
  let ${name}_place${i} = ${name}_term${i} * ${LINE}u + ${slot} % 4u;`;
    return `
  let ${slot} = (lane + ${i * threads}u);
${places}
  var ${name}_at${i} = ${name}_start + ${
    alongK
      ? `${name}_row${i} * ${name}_ld + (begin + ${name}_term${i}) / ${VECTOR}u`
      : `(begin + ${name}_term${i}) * ${name}_ld + ${name}_row${i} / ${VECTOR}u`
  };`;
  };
  const register = (set: number, i: number): string => `${name}${set}_next${i}`;
  const readVector = (set: number, i: number): string => {
    // The place seems to depend on what was read before: else compilers put the read in front of the store of that, which then waits
    // for both.
    const value = `${name}[${name}_at${i} + (${register(set, i)}.x & u.zero)]`;
    if (fit === 'full') return `      ${register(set, i)} = ${value};`;
    return `      if (p + ${name}_term${i} < end && ${name}_row${i} < ${count}) { ${register(set, i)} = ${value}; }
      else { ${register(set, i)} = vec4u(); }`;
  };
  const kind = name === 'a' ? 'subgroup_matrix_left' : 'subgroup_matrix_right';
  const byRows = name === 'a' ? alongK : !alongK;
  return {
    declare: (tile) =>
      [
        `  let ${name}_start = (u.${name}_start + batch * u.${name}_stride) / ${VECTOR}u;`,
        `  let ${name}_ld = u.${name}_ld / ${VECTOR}u;`,
        `  let ${name}_step = ${alongK ? `${UNIT / VECTOR}u` : `${UNIT}u * ${name}_ld`};`,
        `  let ${name}_first = ${tile} * ${size}u;`,
        each(declareRead),
      ].join('\n'),
    declareSet: (set) => each((i) => `  var ${register(set, i)} = vec4u();`),
    read: (set) => each((i) => readVector(set, i)),
    advance: (condition) => each((i) => `      ${name}_at${i} += select(0u, ${name}_step, ${condition});`),
    store: (set, place) =>
      each((i) => `    strips[${place}u + ${name}_block${i}][${name}_place${i}] = ${register(set, i)};`),
    load: (at, number, place) => {
      const block = `${place} + ${Math.floor(at / BLOCK)}u + ${number} * ${piece / BLOCK}u`;
      const column = ((at % BLOCK) / UNIT) * 2;
      return `subgroupMatrixLoad<${kind}<f16, ${UNIT}, ${UNIT}>, ${byRows ? 'row' : 'col'}_major>(&strips[${block}], ${column}u, ${LINE}u)`;
    },
  };
}
