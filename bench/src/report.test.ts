import { expect, it } from 'vitest';
import { exampleResults } from '../test/example-results.ts';
import { drawOverview, fillMarkers, formatAdvice } from './report.ts';

it('says what to take where, and draws a line for each run', () => {
  const results = exampleResults();
  // 2 ms of ours, 4 of the fastest peer, 1 of the limit; f16 is left out, and ours has no time for the third.
  expect(formatAdvice([results])).toBe(
    '- **On a GPU take `webgpu`.**\n  On webgpu-example it is 2.00 times as fast as the fastest other library\n  ' +
      "(one case in float32; the fastest is second).\n  It is 0.50 times as fast as the vendor's library.",
  );
  expect(formatAdvice([{ ...results, arena: 'cpu' }])).toMatch(/^- \*\*`cpu` is there because it runs everywhere\*\*/);
  const slower = results.cases.map((each) => ({
    ...each,
    entries: each.entries.map((entry) => ({ ...entry, ms: 8 / (entry.ms ?? 1) })),
  }));
  expect(formatAdvice([{ ...results, cases: slower, arena: 'wasm-2' }])).toMatch(
    /alone first is 3\.0 times as fast\.$/,
  );
  const svg = drawOverview([results, { ...results, arena: 'wasm-2' }]);
  expect(svg).toContain('>webgpu-example<');
  expect(svg.match(/r="5"/g)).toHaveLength(2 + 2 * 2);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});

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
