import { expect, test } from 'vitest';
import { tokenize } from './tokenize.ts';

test('takes words and numbers of any script, in lower case', () => {
  expect(tokenize('Ärger mit Node 20.19: Прощай!')).toEqual(['ärger', 'mit', 'node', '20', '19', 'прощай']);
});

test('leaves out stop words, single letters and addresses', () => {
  expect(tokenize('How do I report a security problem x?')).toEqual(['report', 'security', 'problem']);
  expect(tokenize('see https://example.org/a?b=c now')).toEqual(['see', 'now']);
  expect(tokenize('how do I?')).toEqual([]);
});

test('takes composed and decomposed letters for the same', () => {
  expect(tokenize('cafe\u0301')).toEqual(tokenize('caf\u00e9'));
});
