import { describe, expect, it } from 'vitest';
import { exampleResults } from '../test/example-results.ts';
import { formatResults, formatTable, rooflineMs, standingsOf } from './table.ts';
import { figureOf } from './turns.ts';

it('holds ours against the fastest peer, the limit and the roofline', () => {
  const [gemm, f16, add] = standingsOf(exampleResults());
  // 2 ms of ours; 6 and 4 of the peers; 1 of the limit.
  expect(gemm).toMatchObject({ overPeer: 2, ofLimit: 0.5, rooflineMs: 0.5, peer: { name: 'second' } });
  expect(f16?.rooflineMs).toBeUndefined();
  // Ours has no time, so there is nothing to compare.
  expect(add?.ours).toBeUndefined();
  expect(add?.overPeer).toBeUndefined();
  expect(add?.ofLimit).toBeUndefined();
});

it('takes what takes longer, arithmetic or memory', () => {
  const ceilings = { tflops: 50, tbps: 4, source: '' };
  const base = { op: 'gemm', case: '', entries: [] };
  expect(rooflineMs({ ...base, flops: 50e12, traffic: 4 }, ceilings)).toBe(1000);
  expect(rooflineMs({ ...base, flops: 50, traffic: 8e12 }, ceilings)).toBe(2000);
  expect(rooflineMs({ ...base, bytes: 1, traffic: 4e9 }, ceilings)).toBe(1);
});

it('takes the median of rounds, or the least where others use the cores too', () => {
  expect(figureOf([3, 1, 2])).toBe(2);
  expect(figureOf([3, 1, 2], 'least')).toBe(1);
  const { schedule, ...rest } = exampleResults();
  expect(formatResults({ ...rest, schedule: { ...schedule, takes: 'least' } })).toContain(
    '; least of 7 rounds of 20 ms',
  );
});

describe('formatTable', () => {
  it('has ratios to the limit, the roofline and each peer, and dashes where nothing is known', () => {
    expect(formatTable(exampleResults()).split('\n')).toEqual([
      '| op | case | unit | concord | limit | of the limit | of the roofline | against first | against second |',
      '|---|---|---|---|---|---|---|---|---|',
      '| gemm | 1024 | TFLOP/s | 10.0 | 20.0 | 0.50x | 0.25x | 3.00x | 2.00x |',
      '| gemm_f16 | 1024 | TFLOP/s | 10.0 | – | – | – | – | failed |',
      '| binary_add | 1000 | TB/s | – | 2.00 | – | – | – | – |',
    ]);
  });

  it('leaves out the columns without a value', () => {
    const { ceilings: _, contestants, ...rest } = exampleResults();
    const alone = { ...rest, contestants: contestants.filter(({ role }) => role === 'ours') };
    expect(formatTable(alone).split('\n')[0]).toBe('| op | case | unit | concord |');
  });
});

describe('formatResults', () => {
  it('says what it ran on, who took part, and why others did not', () => {
    const text = formatResults(exampleResults());
    expect(text).toContain(
      'Example 1, driver 2, a CPU, 4 cores; linux x64, Node v20; 2026-01-02; medians of 7 rounds of 20 ms',
    );
    expect(text.split('\n').filter((line) => line.startsWith('- '))).toEqual([
      '- concord: this checkout',
      '- first: first@1',
      '- second: second@2; with transfers',
      '- third: not run, third is not installed',
      '- torch: torch@2; a limit',
      '- roofline: 40 TFLOP/s and 2 TB/s (measured)',
      '- failed at gemm_f16 1024: second: wrong | result',
      '- failed at binary_add 1000: concord: device lost',
    ]);
  });
});
