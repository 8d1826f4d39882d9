import { repeat } from '../wgsl/repeat.ts';
import type { Fit } from './flash-tile.ts';
import { elementAt, type Form, rowOf, vectorAt } from './form.wgsl.ts';

/** WGSL: `read_q`, `read_k`, `read_v`: four neighbouring elements of a row; zeros beyond its end. */
export function readFunctions(fit: Fit, form: Form): string {
  return (['q', 'k', 'v'] as const).map((name) => readFunction(name, fit, form)).join('\n');
}

function readFunction(name: 'q' | 'k' | 'v', fit: Fit, form: Form): string {
  const row = rowOf(form, name);
  const vector = vectorAt(form, name, `(head + row * ${row}) / 4u + four`);
  const body = {
    full: `return ${vector};`,
    wide: `if (4u * four >= u.head_dim) { return vec4f(); }
  return ${vector};`,
    any: `var value = vec4f();
  let at = head + row * ${row} + 4u * four;
${repeat(4, (c) => `  if (4u * four + ${c}u < u.head_dim) { value[${c}] = ${elementAt(form, name, `at + ${c}u`)}; }`)}
  return value;`,
  }[fit];
  return `fn read_${name}(head: u32, row: u32, four: u32) -> vec4f {
  ${body}
}`;
}

/** Source text that brings a piece of an operand from memory to registers, and from there to workgroup memory. */
export interface Stage {
  /** Number of registers, vectors of four. */
  readonly registers: number;
  /** Reads to registers, those from `x<register>` on. */
  fetch(register: number, at: { readonly row: string; readonly column: string }): string;
  store(register: number): string;
}

/** The options of {@link stageTransposed}. */
interface TransposedParams {
  readonly name: 'q' | 'k';
  readonly rows: number;
  readonly depth: number;
  readonly unroll: number;
  readonly lanes: number;
  /** WGSL: the last row that there is. */
  readonly last: string;
}

/**
 * Brings columns of Q to `rows_tile`, or of K to `stage`, as `[column / 8][column % 8][four rows]`. Each invocation reads
 * squares of 4 x 4; eight neighbouring invocations take 2 x 4 of them, and so write to all banks together.
 */
export function stageTransposed({ name, rows, depth, unroll, lanes, last }: TransposedParams): Stage {
  const memory = name === 'q' ? 'rows_tile' : 'stage';
  const squares = (rows * depth) / 16;
  const count = Math.ceil(squares / lanes);
  const each = (line: (index: number) => string): string =>
    repeat(count, (index) => {
      const isLast = (index + 1) * lanes > squares;
      return `      ${isLast ? `if (lane < ${squares - index * lanes}u) ` : ''}{
        let slot = lane + ${index * lanes}u;
        let four = slot % 2u + 2u * (slot / 8u % ${depth / 8}u);
        let row_four = (slot / 2u % 4u) + 4u * (slot / 8u / ${depth / 8}u);
${line(index)}
      }`;
    });
  return {
    registers: 4 * count,
    fetch: (register, { row, column }) =>
      each(
        (index) => `        let row = ${row} + 4u * row_four;
${repeat(4, (c) => `        x${register + 4 * index + c} = read_${name}(${name}_head, min(row + ${c}u, ${last}), (${column}) / 4u + four);`)}`,
      ),
    store: (register) =>
      each((index) =>
        repeat(4, (c) => {
          const values = [0, 1, 2, 3].map((i) => `x${register + 4 * index + i}[${c}]`).join(', ');
          return `        ${memory}[four / ${unroll / 4}u][4u * (four % ${unroll / 4}u) + ${c}u][row_four] = vec4f(${values});`;
        }),
      ),
  };
}

/** The options of {@link stageRows}. */
interface RowsParams {
  readonly rows: number;
  /** Vectors in a row of `stage`, and in a row of V. */
  readonly width: number;
  readonly vectors: number;
  readonly unroll: number;
  readonly lanes: number;
  readonly across: number;
}

/** Brings rows of V to `stage`, as `[columns / width][slot / unroll][slot % unroll][width]`; {@link keyOfSlot} has their order. */
export function stageRows({ rows, width, vectors, unroll, lanes, across }: RowsParams): Stage {
  const step = lanes / vectors;
  if (across % step !== 0) throw new RangeError(`${lanes} invocations do not share ${rows} rows of V`);
  const count = rows / step;
  const each = (line: (index: number) => string): string =>
    repeat(count, (index) => `      {\n${line(index)}\n      }`);
  return {
    registers: count,
    fetch: (register, { row, column }) => `      {
        let first_key = ${row} + ${keyOfSlot(column, across)} + lane / ${vectors}u * 4u;
${repeat(count, (index) => {
  const key = `first_key + ${4 * ((index * step) % across) + Math.floor((index * step) / across)}u`;
  return `        x${register + index} = read_v(v_head, min(${key}, u.keys - 1u), lane % ${vectors}u);`;
})}
      }`,
    store: (register) =>
      each(
        (index) => `        let row = lane / ${vectors}u + ${index * step}u;
        let four = lane % ${vectors}u;
        stage[four / ${width}u * ${rows / unroll}u + row / ${unroll}u][row % ${unroll}u][four % ${width}u] = x${register + index};`,
      ),
  };
}

/**
 * WGSL: the key, counted from the tile's first, of a slot. An invocation's keys are `across` slots apart, and neighbours by
 * fours.
 */
export function keyOfSlot(slot: string, across: number): string {
  return `(${slot} % ${across}u * 4u + ${slot} / ${4 * across}u * ${4 * across}u + ${slot} / ${across}u % 4u)`;
}
