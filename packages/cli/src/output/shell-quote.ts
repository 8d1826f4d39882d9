/** A word as a POSIX shell reads it back, whatever it holds: for lines that people paste. */
export function shellQuote(word: string): string {
  // In single quotes everything is itself but the quote, which is written outside of them.
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Does what {@link shellQuote} does, but keeps plain words as they are. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word);
}

/**
 * The command line that runs one case.
 *
 * @param backend - the backend as it is typed, with the options that say where it is from
 */
export function replayCommand(id: string, backend: string, forced: readonly string[] = []): string {
  const variables = forced.length === 0 ? '' : `CONCORD_VARIANT=${shellQuote(forced.join(','))} `;
  return `${variables}npx concord conformance --backend ${backend} --filter ${shellQuote(id)}`;
}
