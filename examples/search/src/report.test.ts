import type { Attempt } from '@concord/backend-core';
import { expect, test } from 'vitest';
import { colorsFor } from '@concord/example-command';
import { formatResult, gpuSummary } from './report.ts';
import type { SearchResult } from './search.ts';

const device = { vendor: 'host', name: 'CPU', type: 'cpu', driver: 'Node.js' } as const;
const selected: Attempt = { provider: 'cpu', outcome: 'selected', device, message: 'works' };
const result: SearchResult = {
  question: 'parse options',
  folder: '/x',
  words: ['parse', 'options'],
  hits: [{ file: 'docs/a.md', line: 12, text: 'How to parse the options of a program.', score: 0.4321 }],
  best: 0.4321,
  average: 0.0123,
  files: 1234,
  passages: 50_000,
  skipped: { binary: 2, unreadable: 1 },
  backend: 'cpu',
  device,
  attempts: [selected],
  matrixBytes: 50_000 * 4096,
  ms: { read: 1.25, cut: 345.6, score: 12_345 },
  check: { passed: true, largestDifference: 1.2e-8, allowed: 3.4e-4, worstShare: 0.1, scores: 50_000 },
};

test('shows what was found, where, how fast and on what', () => {
  const text = formatResult(result, { colors: colorsFor({ write: () => 0 }), width: 80, verbose: false });
  for (const part of ['50,000 passages from 1,234 files', ' 1. 0.432  docs/a.md:12', 'How to parse the options']) {
    expect(text).toContain(part);
  }
  for (const part of ['1.3 ms', '346 ms', '12.3 s', '195 MiB', '2 binary, 1 unreadable', 'cpu: CPU [cpu], Node.js']) {
    expect(text).toContain(part);
  }
  expect(text.replaceAll(/\s+/g, ' ')).toContain('passed: 50,000 scores against the float64 oracle, largest');
  expect(text).not.toContain('\u001b');
  expect(text).not.toContain('Backends tried');
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('says with --verbose what the registry tried, and in colour what matters', () => {
  const colors = colorsFor({ write: () => 0, isTTY: true });
  expect(formatResult(result, { colors, width: 80, verbose: true })).toContain('Backends tried:\n*  cpu');
});

test('tells in one line why there is no GPU', () => {
  expect(gpuSummary([selected])).toContain('no GPU backend');
  const missing: Attempt = { provider: 'webgpu', outcome: 'unavailable', reason: 'no-device', message: 'no adapter' };
  expect(gpuSummary([missing, selected])).toBe('not used: webgpu: no adapter');
  const on = (type: 'discrete' | 'software'): Attempt => ({
    ...selected,
    provider: 'webgpu',
    device: { ...device, type },
  });
  expect(gpuSummary([on('discrete')])).toContain('yes');
  expect(gpuSummary([on('software')])).toContain('only a software device');
  const passedOver = { ...on('software'), outcome: 'not-tried' } as const;
  expect(gpuSummary([selected, passedOver])).toBe(`not used: webgpu has only a software device, ${device.name}`);
});
