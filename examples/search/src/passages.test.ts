import { expect, test } from 'vitest';
import { cutPassages, plainText } from './passages.ts';

const words = (count: number, word = 'word'): string => Array.from({ length: count }, () => word).join(' ');
const cut = (text: string): { line: number; words: number }[] =>
  cutPassages('a.md', text).map((passage) => ({ line: passage.line, words: passage.text.split(' ').length }));

test('joins paragraphs until there are 80 words, and names file and first line', () => {
  const text = `\n\n${words(50)}\n\n${words(60)}\n\n${words(30)}\n`;
  expect(cut(text)).toEqual([
    { line: 3, words: 110 },
    { line: 7, words: 30 },
  ]);
  expect(cutPassages('docs/a.md', text)[0]?.file).toBe('docs/a.md');
});

test('cuts a long paragraph, each piece with the line it starts on', () => {
  const text = [words(100), words(100), words(100)].join('\n');
  expect(cut(text)).toEqual([
    { line: 1, words: 120 },
    { line: 2, words: 120 },
    { line: 3, words: 60 },
  ]);
});

test('a heading starts a passage and stays with what follows', () => {
  const text = `# Title\n${words(30)}\n\n## Next\n\n${words(5)}`;
  expect(cutPassages('a.md', text).map((passage) => passage.text)).toEqual([
    `# Title ${words(30)}`,
    `## Next ${words(5)}`,
  ]);
});

test('a heading after a fragment does not leave the fragment alone', () => {
  expect(cut('# One\n\nshort\n\n# Two\n\nshort too')).toEqual([{ line: 1, words: 7 }]);
});

test('counts lines by any line end, and gives nothing for an empty file', () => {
  expect(cut(`${words(80)}\r\n\r\n\r\n${words(120)}`)[1]).toEqual({ line: 4, words: 120 });
  expect(cut('')).toEqual([]);
  expect(cut(' \n\t\n')).toEqual([]);
});

test.each([
  ['[![ci](a.svg)](https://ci) # Title', ' # Title'],
  ['see [the guide](./guide.md "x") or [this][1]', 'see the guide or this'],
  ['<p align="center">Hello <b>you</b></p>', 'Hello you'],
  ['a <!-- no --> b', 'a  b'],
  ['=====', ''],
  ['```sh', ''],
  ['|---|:-:|', ''],
  ['[1]: https://example.org', ''],
])('of %j it leaves %j', (line, text) => {
  expect(plainText(line)).toBe(text);
});

test('keeps what only looks like a tag', () => {
  expect(plainText('Promise<void> and x < y > z')).toBe('Promise<void> and x < y > z');
});
