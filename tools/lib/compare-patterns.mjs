import { expect } from 'vitest';

// Loaded before each file of tests, of which one process may run many.
const ONCE = Symbol.for('concord.compare-patterns');
const shared = /** @type {Record<symbol, boolean | undefined>} */ (globalThis);

/**
 * A pattern among expected fields is compared with the text in its place. As an object without fields of its own it would
 * stand for anything in `toMatchObject`.
 *
 * @param {unknown} received
 * @param {unknown} expected
 */
function matchesPattern(received, expected) {
  if (!(expected instanceof RegExp) || received instanceof RegExp) return undefined;
  return typeof received === 'string' && expected.test(received);
}

if (shared[ONCE] !== true) {
  shared[ONCE] = true;
  expect.addEqualityTesters([matchesPattern]);
}
