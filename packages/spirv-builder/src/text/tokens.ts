import { SpirvTextError } from './spirv-text-error.ts';

/** A word of a text and where it starts, counted from 1. */
export interface Token {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** The words of a text without its comments. What stands in quotes is one word, with its quotes and line breaks. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let lineStart = 0;
  // A comment; a word, whose quoted parts may hold anything; a line break.
  const pattern = /;[^\n]*|(?:"[^"\\]*(?:\\[^][^"\\]*)*"|[^\s";]+)+|"|\n/g;
  for (const match of text.matchAll(pattern)) {
    const [word] = match;
    const token = { text: word, line, column: match.index - lineStart + 1 };
    if (word === '"') throw new SpirvTextError('a string does not end', { line, column: token.column });
    if (word !== '\n' && !word.startsWith(';')) tokens.push(token);
    const lastBreak = word.lastIndexOf('\n');
    if (lastBreak < 0) continue;
    line += word.split('\n').length - 1;
    lineStart = match.index + lastBreak + 1;
  }
  return tokens;
}

/** The text within the quotes of a word; undefined when it is not one quoted string. */
export function unquote(word: string): string | undefined {
  const inner = /^"([^"\\]*(?:\\[^][^"\\]*)*)"$/.exec(word)?.[1];
  return inner?.replace(/\\([^])/g, '$1');
}
