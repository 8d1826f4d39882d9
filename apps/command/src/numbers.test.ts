import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { atLeast, integer } from './numbers.ts';

test('takes integers within the range and nothing else', () => {
  expect(['0', '7', '256'].map(integer(0, 256))).toEqual([0, 7, 256]);
  for (const text of ['257', '-1', '1.5', '', 'many', '0x10', '1e2']) {
    expect(() => integer(0, 256)(text), text).toThrow(InvalidArgumentError);
  }
});

test('takes numbers from a minimum on and nothing else', () => {
  expect(['0', '0.8', '1e-3'].map(atLeast(0))).toEqual([0, 0.8, 0.001]);
  for (const text of ['-0.1', '', 'hot', 'Infinity'])
    expect(() => atLeast(0)(text), text).toThrow(InvalidArgumentError);
});
