import { tokenize } from './tokenize.ts';

const SNIPPET_WORDS = 36;

/** The part of a text with most of the words looked for, in lines of at most `width` characters without the marks. */
export function snippet(text: string, wanted: string[], width: number, mark: (word: string) => string): string[] {
  const isWanted = (word: string): boolean => tokenize(word).some((token) => wanted.includes(token));
  const words = text.split(/\s+/).filter((word) => !/^#+$/.test(word));
  const found = words.map(isWanted);
  const counts = words.map((_, start) => found.slice(start, start + SNIPPET_WORDS).filter(Boolean).length);
  const start = Math.max(0, Math.min(counts.indexOf(Math.max(...counts)), words.length - SNIPPET_WORDS));
  const end = start + SNIPPET_WORDS;
  const shown = `${start > 0 ? '... ' : ''}${words.slice(start, end).join(' ')}${end < words.length ? ' ...' : ''}`;
  return wrap(shown, width).map((line) => line.replace(/\S+/g, (word) => (isWanted(word) ? mark(word) : word)));
}

/** Breaks a text at blanks into lines of at most `width` characters; a longer word stays whole. */
function wrap(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S.{0,${width - 1}}(?!\\S)|\\S+`, 'g')) ?? [];
}
