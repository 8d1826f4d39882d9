import { expect, it } from 'vitest';
import { UsageError } from './exit.ts';
import { parseCeilings, parseThreads } from './options.ts';

it('takes two positive numbers for the ceilings', () => {
  expect(parseCeilings(undefined)).toBeUndefined();
  expect(parseCeilings('67,4.8')).toEqual({ tflops: 67, tbps: 4.8, source: 'given' });
  for (const text of ['67', '67,', 'a,b', '67,-1', '1,2,3']) expect(() => parseCeilings(text)).toThrow(UsageError);
});

it('takes a positive number of threads', () => {
  expect(parseThreads(undefined)).toBeUndefined();
  expect(parseThreads('2')).toBe(2);
  for (const text of ['0', '-1', '1.5', 'all', '']) expect(() => parseThreads(text)).toThrow(UsageError);
});
