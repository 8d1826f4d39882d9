import { describe, expect, it } from 'vitest';
import { exampleResults } from '../test/example-results.ts';
import type { Target } from './ratios.ts';
import type { Results } from './results.ts';
import { formatResults, formatTable } from './table.ts';
import { figureOf } from './turns.ts';

const target: Target = { arenas: ['webgpu-example'], op: 'gemm', against: 'peers', atLeast: 1.8 };

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
    const targets: Target[] = [target, { ...target, against: 'limit', atLeast: 0.9 }];
    expect(formatTable(exampleResults(), targets).split('\n')).toEqual([
      '| op | case | unit | concord | limit | of the limit | of the roofline | against first | against second | wanted |',
      '|---|---|---|---|---|---|---|---|---|---|',
      '| gemm | 1024 | TFLOP/s | 10.0 | 20.0 | 0.50x | 0.25x | 3.00x | 2.00x | 1.8x over the peers: met; 0.9x of the limit: **missed** |',
      '| gemm_f16 | 1024 | TFLOP/s | 10.0 | – | – | – | – | failed |  |',
      '| binary_add | 1000 | TB/s | – | 2.00 | – | – | – | – |  |',
    ]);
  });

  it('shows a third digit where a target was missed that the rounded ratio would meet', () => {
    const results = exampleResults();
    const [first] = results.cases;
    const entries = first?.entries.map((entry) => (entry.name === 'torch' ? { ...entry, ms: 0.992 } : entry));
    const cases = [{ ...first, entries }] as Results['cases'];
    expect(formatTable({ ...results, cases }, [{ ...target, against: 'limit', atLeast: 0.5 }])).toContain(
      '| 0.5x of the limit: 0.496x, **missed** |',
    );
  });

  it('leaves out the columns without a value', () => {
    const { ceilings: _, contestants, ...rest } = exampleResults();
    const alone = { ...rest, contestants: contestants.filter(({ role }) => role === 'ours') };
    expect(formatTable(alone).split('\n')[0]).toBe('| op | case | unit | concord |');
  });
});

describe('formatResults', () => {
  it('says what it ran on, who took part, and why others did not', () => {
    const text = formatResults(exampleResults(), [{ ...target, op: 'binary_add' }]);
    expect(text).toContain(
      'Example 1, driver 2, a CPU, 4 cores; linux x64, Node v20; 2026-01-02; medians of 7 rounds of 20 ms',
    );
    expect(text).toContain('1.8x over the peers: not measured');
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
