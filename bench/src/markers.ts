/**
 * Replaces the text between `<!-- NAME -->` and `<!-- end NAME -->`, each on a line by itself.
 *
 * @throws {Error} where a part is asked for that is not there, or a marker has no end
 */
export function fillMarkers(text: string, parts: ReadonlyMap<string, string>): string {
  return text.replaceAll(/^<!-- (?!end )(.+) -->\n(?:[^]*?^(<!-- end \1 -->)$)?/gm, (_, name: string, end?: string) => {
    const part = parts.get(name);
    if (part === undefined)
      throw new Error(`no results for the marker ${name}; there are: ${[...parts.keys()].join(', ')}`);
    if (end === undefined) throw new Error(`the marker ${name} has no end`);
    return `<!-- ${name} -->\n\n${part}\n\n${end}`;
  });
}
