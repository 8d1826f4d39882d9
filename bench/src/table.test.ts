import { describe, expect, it } from 'vitest';
import { exampleResults } from '../test/example-results.ts';
import type { Results } from './results.ts';
import {
  formatResults,
  formatTable,
  judge,
  judgeMeans,
  rooflineMs,
  standingsOf,
  type Target,
  targetsOf,
} from './table.ts';
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

it('finds the targets of a case; a later one takes the place of an earlier one', () => {
  const target = { arenas: ['here'], op: 'gemm', against: 'limit', atLeast: 0.9 } as const;
  const peers = { ...target, against: 'peers', atLeast: 1.8 } as const;
  const closer = { ...target, cases: ['1024'], atLeast: 0.5 };
  const targets = [target, peers, closer];
  const result = (name: string): Parameters<typeof targetsOf>[1] => ({
    op: 'gemm',
    case: name,
    traffic: 0,
    entries: [],
  });
  expect(targetsOf('here', result('1024'), targets)).toEqual([peers, closer]);
  expect(targetsOf('here', result('512'), targets)).toEqual([target, peers]);
  expect(targetsOf('there', result('512'), targets)).toEqual([]);
});

describe('judging', () => {
  const standings = standingsOf(exampleResults());
  const [gemm, f16] = standings;
  const target: Target = { arenas: ['webgpu-example'], op: 'gemm', against: 'limit', atLeast: 0.5 };
  if (gemm === undefined || f16 === undefined) throw new Error('the example has no products');

  it('holds ours against the limit, the peers and another case of ours', () => {
    expect(judge(gemm, target, standings)).toMatchObject({ found: 0.5, isMet: true });
    expect(judge(gemm, { ...target, atLeast: 0.51 }, standings)).toMatchObject({ found: 0.5, isMet: false });
    expect(judge(gemm, { ...target, against: 'peers' }, standings)).toMatchObject({ found: 2 });
    expect(judge(gemm, { ...target, against: { case: '1024' } }, standings)).toMatchObject({ found: 1 });
    expect(judge(gemm, { ...target, against: { case: 'none' } }, standings)).toEqual({
      target: { ...target, against: { case: 'none' } },
    });
    expect(judge(f16, target, standings)).toEqual({ target });
    expect(judge(gemm, { ...target, against: { peers: ['first', 'third'] } }, standings)).toMatchObject({ found: 3 });
    const other: Target = { ...target, against: { op: 'gemm', case: '1024' } };
    expect(judge({ ...f16, ours: { name: 'concord', ms: 4 } }, other, standings)).toMatchObject({ found: 0.5 });
  });

  it('judges another contestant if the target says so', () => {
    expect(judge(gemm, { ...target, of: 'second' }, standings)).toMatchObject({ found: 0.25, isMet: false });
    expect(judge(gemm, { ...target, of: 'nobody' }, standings)).not.toHaveProperty('found');
  });

  it('takes the geometric mean of all cases, if all were measured', () => {
    const mean: Target = { ...target, mean: true, atLeast: 0.4 };
    const twice = [gemm, { ...gemm, limit: { name: 'torch', ms: 0.5 } }];
    expect(judgeMeans('webgpu-example', twice, [target, mean])[0]?.found).toBeCloseTo(Math.sqrt(0.5 * 0.25), 10);
    const { limit: _, ...unknown } = gemm;
    expect(judgeMeans('webgpu-example', [gemm, unknown], [mean])).toEqual([{ target: mean }]);
    expect(judgeMeans('elsewhere', twice, [mean])).toEqual([]);
  });
});

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
