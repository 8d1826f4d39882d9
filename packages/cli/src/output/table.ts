import Table from 'cli-table3';
import type { Colors } from './colors.ts';

/** Text, or text that reaches over several columns. */
export type TableCell = string | { readonly content: string; readonly colSpan: number };

/** Options of {@link plainTable}. */
export interface TableOptions {
  /** Columns of numbers. */
  readonly right?: readonly number[];
  /** Columns' widths, the two blanks between them included; longer text is wrapped. Default: what the text needs. */
  readonly widths?: readonly number[];
}

/** A table of aligned columns without a frame. */
export function plainTable(
  head: readonly string[],
  rows: readonly (readonly TableCell[])[],
  colors: Colors,
  { right = [], widths }: TableOptions = {},
): string {
  const table = new Table({
    head: head.map((title) => colors.bold(title)),
    colAligns: head.map((_, column) => (right.includes(column) ? 'right' : 'left')),
    ...(widths === undefined ? {} : { colWidths: [...widths], wordWrap: true }),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    chars: FRAMELESS,
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

const FRAMELESS = Object.fromEntries(
  ['', '-mid', '-left', '-right']
    .flatMap((end) => [`top${end}`, `bottom${end}`, `left${end}`, `right${end}`, `mid${end}`])
    .concat('left-mid', 'middle')
    .map((name) => [name, '']),
);
