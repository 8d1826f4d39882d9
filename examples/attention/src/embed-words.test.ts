import { expect, test } from 'vitest';
import { embedWords } from './embed-words.ts';

const PASSAGES = [['apple', 'tree', 'garden'], ['pear', 'tree', 'garden'], []];

test('gives nothing for a word that no passage has, and zeros where nothing tells words apart', () => {
  expect([...embedWords(['apple', 'plum'], PASSAGES).keys()]).toEqual(['apple']);
  expect(
    embedWords(['alone'], [['alone']])
      .get('alone')
      ?.some(Number.isNaN),
  ).toBe(false);
});
