import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { integer } from './integer.ts';

test('takes integers within the range and nothing else', () => {
  expect(['0', '7', '256'].map(integer(0, 256))).toEqual([0, 7, 256]);
  for (const text of ['257', '-1', '1.5', '', 'many', '0x10', '1e2']) {
    expect(() => integer(0, 256)(text), text).toThrow(InvalidArgumentError);
  }
});
