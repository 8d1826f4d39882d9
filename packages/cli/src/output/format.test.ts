import { expect, test } from 'vitest';
import { formatBytes, formatDuration, plural } from './format.ts';

test.each([
  [0, '0 B'],
  [512, '512 B'],
  [1536, '1.5 KiB'],
  [128 * 2 ** 20, '128 MiB'],
  [16 * 2 ** 30, '16 GiB'],
  [15.7 * 2 ** 30, '15.7 GiB'],
  [Number.MAX_SAFE_INTEGER, 'no limit'],
])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

test.each([
  [0.2, '0 ms'],
  [340.4, '340 ms'],
  [999.7, '1.0 s'],
  [12_340, '12.3 s'],
  [245_000, '4 min 05 s'],
])('%d ms are %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

test('counts in words', () => {
  expect([plural(1, 'case'), plural(0, 'case'), plural(1200, 'case')]).toEqual(['1 case', '0 cases', '1,200 cases']);
});
