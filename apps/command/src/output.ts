import cliProgress from 'cli-progress';
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

/** Breaks a text at blanks into lines of at most `width` characters; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S.{0,${width - 1}}(?!\\S)|\\S+`, 'g')) ?? [];
}

/** Writes a result: as one JSON object with `--json`, else as text. */
export function writeResult(stdout: Output, json: boolean | undefined, result: object, text: () => string): void {
  stdout.write(`${json === true ? JSON.stringify(result) : text()}\n`);
}

/** `Label  value`, one line each, the values below each other. */
export function factLines(facts: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(facts).map((label) => label.length));
  return Object.entries(facts)
    .map(([label, value]) => `${label.padEnd(width)}  ${value}`)
    .join('\n');
}

/** `1 word`, `1,024 words`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}

/** A bar on a terminal; nothing elsewhere. */
export interface Progress {
  readonly update: (done: number, total: number, note?: string) => void;
  /** Clears the line. */
  readonly stop: () => unknown;
}

/**
 * @param what - in front of the bar
 * @param more - of cli-progress
 */
export function progressOn(stderr: Output, what: string, more: cliProgress.Options = {}): Progress {
  const bar = new cliProgress.SingleBar({
    stream: stderr as NodeJS.WriteStream,
    format: `${what} {bar} {percentage}% ETA {eta_formatted} {note}`,
    clearOnComplete: true,
    // The program handles Ctrl-C itself.
    gracefulExit: false,
    ...more,
  });
  return {
    update: (done, total, note = '') => {
      if (bar.isActive) bar.update(done, { note });
      else bar.start(total, done, { note });
    },
    stop: () => bar.isActive && bar.stop(),
  };
}
