import { expect, test } from 'vitest';
import { unitVector } from './unit-vector.ts';
import { Vocabulary } from './vocabulary.ts';

test('knows which passages have a term, and how rare that makes it', () => {
  const vocabulary = new Vocabulary();
  vocabulary.learn(7, ['rare', 'common', 'common']);
  vocabulary.learn(9, ['common']);
  expect([...vocabulary.passagesWith('common')]).toEqual([7, 9]);
  expect(vocabulary.passagesWith('unknown').size).toBe(0);
  const weights: Record<string, number> = { rare: 1 + Math.log(3 / 2), common: 1 };
  expect(vocabulary.vectorOf(['rare', 'common'])).toEqual(unitVector(['rare', 'common'], (term) => weights[term] ?? 0));
});

test('forgets a passage as if it had never been', () => {
  const [vocabulary, other] = [new Vocabulary(), new Vocabulary()];
  for (const each of [vocabulary, other]) each.learn(1, ['apple', 'pear']);
  vocabulary.learn(2, ['apple', 'plum']);
  vocabulary.forget(2, ['apple', 'plum']);
  expect(vocabulary).toEqual(other);
  expect(vocabulary.vectorOf(['apple', 'plum'])).toEqual(other.vectorOf(['apple', 'plum']));
});
