import { expect, test } from 'vitest';
import { plainText } from './plain-text.ts';

test('drops badges, link targets, tags and comments', () => {
  expect(plainText('[![ci](a.svg)](https://ci) # Title')).toBe(' # Title');
  expect(plainText('see [the guide](./guide.md "x") or [this][1]')).toBe('see the guide or this');
  expect(plainText('<p align="center">Hello <b>you</b></p>')).toBe('Hello you');
  expect(plainText('a <!-- no --> b')).toBe('a  b');
  expect(plainText('Title\n=====\n```sh\nls\n```\n| a |\n|---|')).toBe('Title\n\n\nls\n\n| a |\n');
  expect(plainText('[1]: https://example.org\ntext')).toBe('\ntext');
});

test('keeps what only looks like a tag', () => {
  expect(plainText('Promise<void> and x < y > z')).toBe('Promise<void> and x < y > z');
});

test('keeps the line of everything', () => {
  const text = 'a\n<!-- one\ntwo -->\nb\n<img\n  src="x">\nc [long\nlink](\ntarget) d\n![alt\ntext](x)\nend';
  const lines = plainText(text).split('\n');
  expect(lines).toHaveLength(text.split('\n').length);
  expect(lines[3]).toBe('b');
  expect(lines.at(-1)).toBe('end');
});
