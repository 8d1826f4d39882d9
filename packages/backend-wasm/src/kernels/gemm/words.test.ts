import { expect, test } from 'vitest';
import { type GivenWords, type PlannedWord, PRODUCT, type ProductWords, productWords } from './product-words.ts';
import { type GivenVectorWords, VECTOR, type VectorWords, vectorWords } from './vector.ts';

/** An object whose property of each name is the number of the name. */
function numbered<T extends object>(names: readonly string[]): T {
  return Object.fromEntries(names.map((name, i) => [name, i + 1])) as T;
}

test('words that are written out have the order in which code reads them', () => {
  const { names } = PRODUCT;
  const given = numbered<GivenWords>(names);
  expect(productWords(given, numbered<Pick<ProductWords, PlannedWord>>(names))).toEqual(names.map((_, i) => i + 1));
  const vector = VECTOR.names;
  const plan = numbered<Pick<VectorWords, 'tile' | 'tiles'>>(vector);
  expect(vectorWords(numbered<GivenVectorWords>(vector), plan)).toEqual(vector.map((_, i) => i + 1));
});
