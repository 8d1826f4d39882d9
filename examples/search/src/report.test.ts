import type { Attempt } from '@concord/backend-core';
import { expect, test } from 'vitest';
import { formatResult, type SearchResult, snippet } from './report.ts';

const device = { vendor: 'host', name: 'CPU', type: 'cpu', driver: 'Node.js' } as const;
const selected: Attempt = { provider: 'cpu', outcome: 'selected', device, message: 'works' };
const result: SearchResult = {
  question: 'parse options',
  folder: '/x',
  words: ['parse', 'options'],
  hits: [{ file: 'docs/a.md', line: 12, text: 'How to parse the options of a program.', score: 0.4321 }],
  files: 1234,
  passages: 50_000,
  skipped: 3,
  backend: 'cpu',
  device,
  attempts: [selected],
  ms: { read: 345.6, search: 12_345 },
  check: { passed: true, largestDifference: 1.2e-8, allowed: 3.4e-4, scores: 50_000 },
};

const format = (shown: SearchResult, verbose: boolean, isTTY = false): string =>
  formatResult(shown, { write: () => 0, isTTY, columns: 80 }, verbose);
const onGpu: SearchResult = { ...result, backend: 'webgpu', device: { ...device, name: 'GPU', type: 'discrete' } };

test('shows what was found, where, how fast and on what', () => {
  const text = format(onGpu, false);
  for (const part of ['50,000 passages from 1,234 files', ' 1. 0.432  docs/a.md:12', 'How to parse the options']) {
    expect(text).toContain(part);
  }
  for (const part of ['read 346 ms, search 12345 ms', '3 files, binary or unreadable', 'webgpu: GPU [discrete]']) {
    expect(text.replaceAll(/\s+/g, ' ')).toContain(part);
  }
  expect(text).toContain('passed: 50000 scores against the float64 oracle, off by 1.2e-8 of 3.4e-4 allowed');
  expect(text).not.toContain('\u001b');
  expect(text).not.toContain('Backends tried');
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('marks the words looked for, and a check that failed', () => {
  const text = format(
    { ...result, check: { passed: false, largestDifference: 1, allowed: 0, scores: 2 } },
    false,
    true,
  );
  expect(text).toContain('\u001b[33mparse\u001b[39m the \u001b[33moptions');
  expect(text).toContain('\u001b[31mFAILED');
});

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
