import { expect, test } from 'vitest';
import { plainText } from './plain-text.ts';

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
