import { expect } from 'vitest';

// Loaded before each file of tests, of which one process may run many.
const ONCE = Symbol.for('concord.compare-patterns');

/**
 * A pattern among expected fields is compared with the text in its place. As an object without fields of its own it would
 * stand for anything in `toMatchObject`.
 */
function matchesPattern(received, expected) {
  if (!(expected instanceof RegExp) || received instanceof RegExp) return undefined;
  return typeof received === 'string' && expected.test(received);
}

if (globalThis[ONCE] === undefined) {
  globalThis[ONCE] = true;
  expect.addEqualityTesters([matchesPattern]);
}
