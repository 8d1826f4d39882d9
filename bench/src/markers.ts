/**
 * Replaces what is between `<!-- NAME -->` and `<!-- end NAME -->` on lines of their own.
 *
 * @throws {Error} where a part is asked for that nobody has, or a marker has no end
 */
export function fillMarkers(text: string, parts: ReadonlyMap<string, string>): string {
  const lines: string[] = [];
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const name = /^<!-- (.+) -->$/.exec(line)?.[1];
    if (open === undefined) lines.push(line);
    if (name === undefined) continue;
    if (open === undefined) {
      const part = parts.get(name);
      if (part === undefined)
        throw new Error(`no results for the marker ${name}; there are: ${[...parts.keys()].join(', ')}`);
      lines.push('', part, '');
      open = name;
    } else if (name === `end ${open}`) {
      lines.push(line);
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`the marker ${open} has no end`);
  return lines.join('\n');
}
