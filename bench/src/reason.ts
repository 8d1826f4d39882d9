/** The first line of a message; of a package or program that cannot be found, its name. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const missing = /^(?:Cannot find (?:package|module) '|spawn )([^' ]+)(?:'| ENOENT$)/.exec(message)?.[1];
  return missing === undefined ? (message.split('\n')[0] as string) : `${missing} is not installed`;
}
