import { expect, test } from 'vitest';
import { StageTimes } from './stages.ts';

test('adds up a stage that runs in parts, also when one fails', async () => {
  const times = new StageTimes();
  expect(times.measure('cut', () => 1)).toBe(1);
  await expect(times.measureAsync('cut', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(() => times.measure('rank', () => JSON.parse('{'))).toThrow(SyntaxError);
  expect(Object.keys(times.ms)).toEqual(['cut', 'rank']);
});
