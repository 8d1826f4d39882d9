import { expect, it } from 'vitest';
import { oneOf, parseCeilings, positive, UsageError } from './options.ts';

it('takes two positive numbers for the ceilings', () => {
  expect(parseCeilings(undefined)).toBeUndefined();
  expect(parseCeilings('67,4.8')).toEqual({ tflops: 67, tbps: 4.8, source: 'given' });
  for (const text of ['67', '67,', 'a,b', '67,-1', '1,2,3']) expect(() => parseCeilings(text)).toThrow(UsageError);
});

it('takes a positive integer, and one of some names', () => {
  expect(positive('--threads', '2')).toBe(2);
  for (const text of ['0', '-1', '1.5', 'all', '']) expect(() => positive('--threads', text)).toThrow(UsageError);
  expect(oneOf('--size', 'tiny', ['whole', 'tiny'])).toBe('tiny');
  expect(() => oneOf('--size', 'huge', ['whole', 'tiny'])).toThrow('--size takes whole, tiny, not huge');
});
