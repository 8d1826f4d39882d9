/** The message of any thrown value, even where it is no error or its message cannot be read. */
export function messageOf(thrown: unknown): string {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : String(thrown);
    if (typeof text === 'string') return text;
  } catch {
    // Objects without a prototype, proxies and getters that throw: they have nothing to say.
  }
  return 'an error without a message';
}
