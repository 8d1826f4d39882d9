/**
 * Returns the first key that an object of a JSON text has twice, or that is `__proto__`: `JSON.parse` accepts both
 * silently.
 *
 * @param text - valid JSON
 */
export function repeatedKey(text: string): string | undefined {
  /** The keys of each object that is open, undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const key = JSON.parse(last) as string;
      const keys = open.at(-1) as Set<string>;
      if (keys.has(key) || key === '__proto__') return key;
      keys.add(key);
    } else last = token;
  }
  return undefined;
}
