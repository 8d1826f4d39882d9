import { expect, it } from 'vitest';
import { fillMarkers } from './report.ts';

it('replaces what is between markers, and nothing else', () => {
  const text = 'before\n<!-- a b -->\nold\n<!-- note -->\n<!-- end a b -->\nafter\n';
  const filled = fillMarkers(text, new Map([['a b', 'new']]));
  expect(filled).toBe('before\n<!-- a b -->\n\nnew\n\n<!-- end a b -->\nafter\n');
  expect(fillMarkers(filled, new Map([['a b', 'new']]))).toBe(filled);
});

it('says what is missing', () => {
  expect(() => fillMarkers('<!-- a -->\n<!-- end a -->', new Map([['b', '']]))).toThrow(
    'no results for the marker a; there are: b',
  );
  expect(() => fillMarkers('<!-- a -->\n', new Map([['a', '']]))).toThrow('the marker a has no end');
});
