import { expect, test } from 'vitest';
import { wrap } from './wrap.ts';

test('breaks at blanks, and leaves long words whole', () => {
  expect(wrap('one two three fourteen', 7)).toEqual(['one two', 'three', 'fourteen']);
  expect(wrap('', 7)).toEqual([]);
});
