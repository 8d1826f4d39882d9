import { expect, test } from 'vitest';
import { snippet } from './snippet.ts';

/** As long as what colours a word on a terminal. */
const MARK = '{{{{';
const mark = (word: string): string => `<${word}>`;
const filler = (count: number): string => Array.from({ length: count }, (_, i) => `w${i}`).join(' ');

test('emphasises the words looked for, whatever their case and punctuation', () => {
  expect(snippet('Report: a Security, problem', ['security', 'report'], 80, mark)).toEqual([
    '<Report:> a <Security,> problem',
  ]);
});

test('shows the part with most of them', () => {
  const [line = ''] = snippet(`alpha ${filler(60)} alpha beta ${filler(60)}`, ['alpha', 'beta'], 1000, mark);
  expect(line).toMatch(/^\.\.\. /);
  expect(line).toMatch(/ \.\.\.$/);
  expect(line).toContain('<alpha> <beta>');
});

test('keeps to the width, counted without the emphasis', () => {
  const lines = snippet(filler(30), ['w3'], 20, (word) => `${MARK}${word}${MARK}`);
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) expect(line.replaceAll(MARK, '').length).toBeLessThanOrEqual(20);
});
