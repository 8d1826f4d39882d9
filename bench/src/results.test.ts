import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { exampleResults } from '../test/example-results.ts';
import { casesOf, type LimitCase } from './limits/cases.ts';
import type { Peer } from './peer.ts';
import { caseResult, loadResults, parseResults, saveResults } from './results.ts';

it('comes back as it was written, rounds on one line', () => {
  const path = mkdtempSync(join(tmpdir(), 'concord-bench-'));
  try {
    const folder = pathToFileURL(`${path}/new/`);
    saveResults(folder, exampleResults());
    expect(loadResults(folder)).toEqual(exampleResults());
    expect(readFileSync(new URL('results.json', folder), 'utf8')).toContain('"rounds": [1, 2, 3]');
    writeFileSync(new URL('results.json', folder), '{"version": 1,');
    expect(() => loadResults(folder)).toThrow(/results\.json is not JSON/);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});

it('refuses another layout and what is not whole', () => {
  expect(() => parseResults('{"version": 2}', 'x.json')).toThrow('x.json has layout 2, not 1');
  expect(() => parseResults('{}', 'x.json')).toThrow('x.json has layout none, not 1');
  expect(() => parseResults('{"version": 1, "arena": "a", "device": "b", "machine": {}}', 'x.json')).toThrow(
    'x.json lacks "contestants"',
  );
});

it('takes the median of the rounds, and counts each operand once', () => {
  const [gemm] = casesOf('quick') as [LimitCase];
  const peer: Peer = { name: 'a', role: 'ours', version: '1', prepare: () => Promise.reject(new Error('no')) };
  const torch = { name: 'torch', ms: 1 };
  expect(caseResult(gemm, [{ peer, rounds: [3, 1, 2] }], [], 'least').entries[0]?.ms).toBe(1);
  expect(caseResult(gemm, [{ peer, rounds: [3, 1, 2] }], [torch])).toEqual({
    op: 'gemm',
    case: '16',
    flops: 2 * 16 ** 3,
    traffic: 4 * 3 * 256,
    entries: [torch, { name: 'a', ms: 2, rounds: [3, 1, 2] }],
  });
});
