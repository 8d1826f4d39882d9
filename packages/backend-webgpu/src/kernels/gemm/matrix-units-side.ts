import { repeat } from '../wgsl/repeat.ts';
import { type MatrixUnitsFit, PAD, stripShape, UNIT, VECTOR } from './matrix-units-tile.ts';

/** What {@link matrixUnitsSide} is told of one operand. */
export interface MatrixUnitsSideParams {
  readonly name: 'a' | 'b';
  /** WGSL: rows of op(A), or columns of op(B). */
  readonly count: string;
  /** Rows (columns) of the tile. */
  readonly size: number;
  /** Whether neighbours in memory are neighbours along k. */
  readonly alongK: boolean;
  readonly step: number;
  readonly threads: number;
  readonly fit: MatrixUnitsFit;
  /** Where the strip begins in workgroup memory, in vectors. */
  readonly place: number;
}

/** Source text for one operand's strip of a tile. */
export interface MatrixUnitsSide {
  /** Declares what the reads need; `tile` is the number of the tile along m (n). */
  declare(tile: string): string;
  /** Reads a strip to registers: the one that begins at term `p`. */
  readonly read: string;
  /** Moves on to the next strip, if there is one. */
  advance(condition: string): string;
  /** Puts the registers into workgroup memory. */
  readonly store: string;
  /** Loads the matrix at row (column) `at` of the subgroup's piece, which begins at `first`, and at term `UNIT * iteration` of the strip. */
  load(at: number, first: string): string;
}

/** WGSL: `apart(line)` numbers eight lines such that those after one another are four apart. */
export const APART: string = /* wgsl */ `
fn apart(line: u32) -> u32 { return (line & 0xfffffff8u) | ((line & 1u) << 2u) | ((line >> 1u) & 3u); }
`;

/**
 * A strip lies in workgroup memory as in storage: line by line, a line being a piece of a stored row. The matrix units take
 * it by rows or by columns. It is copied by vectors of 16 bytes, which stay the bits that they are.
 */
export function matrixUnitsSide(params: MatrixUnitsSideParams): MatrixUnitsSide {
  const { name, count, size, alongK, step, threads, fit, place } = params;
  const { line, lines } = stripShape(size, alongK, step);
  const perLine = line - PAD;
  const reads = (lines * perLine) / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`a strip of ${size} x ${step} is not shared by ${threads} evenly`);

  /**
   * Eight invocations write to workgroup memory at a time. Two lines of four vectors do so to different banks if they are four lines
   * apart, not if they are neighbours.
   */
  const lineOf = (index: string): string => (perLine === 4 ? `apart(${index})` : index);

  /** Declares for one vector that an invocation brings: its place in the strip and in memory. */
  const declareRead = (index: number): string => {
    const slot = `(lane + ${index * threads}u)`;
    const [row, term] = alongK
      ? [`${name}_line${index}`, `${name}_vector${index} * ${VECTOR}u`]
      : [`${name}_vector${index} * ${VECTOR}u`, `${name}_line${index}`];
    return `
  let ${name}_line${index} = ${lineOf(`${slot} / ${perLine}u`)};
  let ${name}_vector${index} = ${slot} % ${perLine}u;
  let ${name}_row${index} = ${name}_first + ${row};
  let ${name}_term${index} = ${term};
  var ${name}_at${index} = ${name}_start + ${
    alongK
      ? `${name}_row${index} * ${name}_ld + (begin + ${name}_term${index}) / ${VECTOR}u`
      : `(begin + ${name}_term${index}) * ${name}_ld + ${name}_row${index} / ${VECTOR}u`
  };
  var ${name}_next${index} = vec4u();`;
  };
  const readVector = (index: number): string => {
    const next = `${name}_next${index}`;
    const value = `${name}[${name}_at${index}]`;
    if (fit === 'full') return `      ${next} = ${value};`;
    return `      ${next} = vec4u();
      if (p + ${name}_term${index} < end && ${name}_row${index} < ${count}) { ${next} = ${value}; }`;
  };
  const kind = name === 'a' ? 'subgroup_matrix_left' : 'subgroup_matrix_right';
  const byRows = name === 'a' ? alongK : !alongK;
  return {
    declare: (tile) =>
      [
        `  let ${name}_start = (u.${name}_start + batch * u.${name}_stride) / ${VECTOR}u;`,
        `  let ${name}_ld = u.${name}_ld / ${VECTOR}u;`,
        `  let ${name}_step = ${alongK ? `${step / VECTOR}u` : `${step}u * ${name}_ld`};`,
        `  let ${name}_first = ${tile} * ${size}u;`,
        repeat(reads, declareRead),
      ].join('\n'),
    read: repeat(reads, readVector),
    advance: (condition) =>
      repeat(reads, (index) => `      ${name}_at${index} += select(0u, ${name}_step, ${condition});`),
    store: repeat(
      reads,
      (index) =>
        `    strips[${place}u + ${name}_line${index} * ${line}u + ${name}_vector${index}] = ${name}_next${index};`,
    ),
    load: (at, first) => {
      const offset = alongK
        ? `${place + at * line}u + iteration * ${UNIT / VECTOR}u + ${first} * ${line}u`
        : `${place + at / VECTOR}u + iteration * ${UNIT * line}u + ${first} / ${VECTOR}u`;
      return `subgroupMatrixLoad<${kind}<f16, ${UNIT}, ${UNIT}>, ${byRows ? 'row' : 'col'}_major>(&strips, ${offset}, ${line}u)`;
    },
  };
}
