import picocolors from 'picocolors';

/** Where the program writes: a standard stream, or a collector in tests. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** The functions that colour text, or leave it as it is. */
export type Colors = ReturnType<typeof picocolors.createColors>;

/** Colours where the stream is a terminal, unless the environment says otherwise. */
export function colorsFor(output: Output): Colors {
  const forced = process.env['FORCE_COLOR'] ?? '';
  const isTerminal = output.isTTY === true && process.env['TERM'] !== 'dumb';
  const wanted = forced === '' ? isTerminal : forced !== '0';
  return picocolors.createColors((process.env['NO_COLOR'] ?? '') === '' && wanted);
}

/** Columns to fill: what the terminal has, within what is pleasant to read. */
export function widthOf({ columns = 100 }: Output): number {
  return Math.min(100, Math.max(40, columns));
}
