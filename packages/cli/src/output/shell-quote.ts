/** A word as a POSIX shell reads it back, whatever it holds: for lines that people paste. */
export function shellQuote(word: string): string {
  // In single quotes everything is itself but the quote, which is written outside of them.
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** As {@link shellQuote}, but plain words stay as they are. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word);
}
