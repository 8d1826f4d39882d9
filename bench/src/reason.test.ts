import { expect, it } from 'vitest';
import { reasonOf } from './options.ts';

it('is one line, and names what is not installed', async () => {
  expect(reasonOf(new Error('first\nsecond'))).toBe('first');
  expect(reasonOf('a text')).toBe('a text');
  expect(reasonOf(new Error("Cannot find package 'vega' imported from /x.js"))).toBe('vega is not installed');
  expect(reasonOf(new Error('spawn python3 ENOENT'))).toBe('python3 is not installed');
});
