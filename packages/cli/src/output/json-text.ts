/**
 * The text of `value` as JSON. NaN and the infinities, for which JSON has no numbers, become the strings `"NaN"`, `"Infinity"`
 * and `"-Infinity"`.
 */
export function toJsonText(value: unknown): string {
  const spell = (_: string, part: unknown): unknown =>
    typeof part === 'number' && !Number.isFinite(part) ? String(part) : part;
  return `${JSON.stringify(value, spell, 2)}\n`;
}
