import { expect, test } from 'vitest';
import {
  type GivenArguments,
  type PlannedArgument,
  PRODUCT,
  type ProductArguments,
  productArguments,
} from './product-arguments.ts';
import { type GivenVectorArguments, VECTOR, type VectorArguments, vectorArguments } from './vector.ts';

/** An object whose property of each name is the number of the name. */
function numbered<T extends object>(names: readonly string[]): T {
  return Object.fromEntries(names.map((name, i) => [name, i + 1])) as T;
}

test('words that are written out have the order in which code reads them', () => {
  const { names } = PRODUCT;
  const given = numbered<GivenArguments>(names);
  expect(productArguments(given, numbered<Pick<ProductArguments, PlannedArgument>>(names))).toEqual(
    names.map((_, i) => i + 1),
  );
  const vector = VECTOR.names;
  const plan = numbered<Pick<VectorArguments, 'tile' | 'tiles'>>(vector);
  expect(vectorArguments(numbered<GivenVectorArguments>(vector), plan)).toEqual(vector.map((_, i) => i + 1));
});
