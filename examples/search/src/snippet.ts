import { tokenize } from './tokenize.ts';
import { wrap } from './wrap.ts';

const SNIPPET_WORDS = 36;

/**
 * The part of a text with most of the words looked for, broken into lines of at most `width` characters.
 *
 * @param emphasise - how a word that was looked for is shown
 */
export function snippet(
  text: string,
  wanted: readonly string[],
  width: number,
  emphasise: (word: string) => string,
): string[] {
  // The marks of headings say nothing where lines are joined.
  const words = text.split(/\s+/).filter((word) => !/^#*$/.test(word));
  const isWanted = (word: string): boolean => tokenize(word).some((token) => wanted.includes(token));
  const start = bestWindow(words.map((word) => tokenize(word).filter((token) => wanted.includes(token))));
  const shown = words.slice(start, start + SNIPPET_WORDS);
  if (start > 0) shown.unshift('...');
  if (start + SNIPPET_WORDS < words.length) shown.push('...');
  // Wrapped before it is painted: colours take characters, but no columns.
  return wrap(shown.join(' '), width).map((line) =>
    line
      .split(' ')
      .map((word) => (isWanted(word) ? emphasise(word) : word))
      .join(' '),
  );
}

/** Where the window with most different words looked for starts; the first of equals. */
function bestWindow(found: readonly (readonly string[])[]): number {
  let best = 0;
  let most = 0;
  for (let start = 0; start === 0 || start + SNIPPET_WORDS <= found.length; start++) {
    const distinct = new Set(found.slice(start, start + SNIPPET_WORDS).flat()).size;
    if (distinct > most) {
      most = distinct;
      best = start;
    }
  }
  return best;
}
