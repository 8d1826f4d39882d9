import { BackendError } from '@concord/backend-core';
import { expect, it } from 'vitest';
import { EXIT, exitCodeOf, NotHere, oneOf, parseCeilings, positive, reasonOf, UsageError } from './options.ts';

it('tells a wrong command and a machine without the device from a failure', () => {
  expect(exitCodeOf(new Error('no'))).toBe(EXIT.failed);
  expect(exitCodeOf(new UsageError('--device takes'))).toBe(EXIT.usage);
  expect(exitCodeOf(Object.assign(new Error('no'), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' }))).toBe(EXIT.usage);
  expect(exitCodeOf(new NotHere('no case'))).toBe(EXIT.notHere);
  expect(exitCodeOf(Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' }))).toBe(EXIT.notHere);
  const unavailable = new BackendError('BACKEND_UNAVAILABLE', 'no GPU', { reason: 'no-device' });
  expect(exitCodeOf(unavailable)).toBe(EXIT.notHere);
});

it('is one line, and names what is not installed', async () => {
  expect(reasonOf(new Error('first\nsecond'))).toBe('first');
  expect(reasonOf('a text')).toBe('a text');
  expect(reasonOf(new Error("Cannot find package 'vega' imported from /x.js"))).toBe('vega is not installed');
  expect(reasonOf(new Error('spawn python3 ENOENT'))).toBe('python3 is not installed');
});

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
