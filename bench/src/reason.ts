/** The first line of a message; of a package that cannot be found, its name alone. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const missing = /^Cannot find (?:package|module) '([^']+)'/.exec(message)?.[1];
  return missing === undefined ? (message.split('\n')[0] as string) : `${missing} is not installed`;
}
