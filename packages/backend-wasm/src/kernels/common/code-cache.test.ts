import { expect, it } from 'vitest';
import { RecentlyUsed } from './code-cache.ts';

it('keeps what was wanted last, and makes the others again', () => {
  const made: string[] = [];
  const kept = new RecentlyUsed<string>(2);
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) {
    const value = kept.get(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
    expect(value).toBe(key.toUpperCase());
  }
  expect(made).toEqual(['a', 'b', 'c', 'b']);
});
