import { expect, test } from 'vitest';
import { vectorBlocks } from './vectorise.ts';
import { DIMENSIONS, Vocabulary } from './vocabulary.ts';

test('gives the rows in blocks, without the passages that have no direction', () => {
  const vocabulary = new Vocabulary();
  const texts = [['one'], [], ['two'], ['three', 'one'], ['four']].map((tokens) => vocabulary.learn(tokens));
  const blocks = [...vectorBlocks(texts, vocabulary, 2)].map(({ values, passages }) => ({
    rows: values.length / DIMENSIONS,
    passages,
  }));
  expect(blocks).toEqual([
    { rows: 2, passages: [0, 2] },
    { rows: 2, passages: [3, 4] },
  ]);
});

test('clears the row that an earlier block has filled', () => {
  const vocabulary = new Vocabulary();
  const texts = [['one'], ['two']].map((tokens) => vocabulary.learn(tokens));
  const lengths = [...vectorBlocks(texts, vocabulary, 1)].map(({ values }) => values.filter((x) => x !== 0).length);
  expect(lengths).toEqual([1, 1]);
});

test('gives nothing for nothing', () => {
  expect([...vectorBlocks([], new Vocabulary(), 4)]).toEqual([]);
});
