import { expect, it } from 'vitest';
import { formatOverhead, type Overhead } from './overhead.ts';

const overhead: Overhead = {
  ...{ queueMicros: 2, doneMicros: 3, flushMicros: 1, roundTripMicros: 30, readMicros: 9 },
  background: { idleCpuMs: 0.4, productRows: 2048, productMs: 987.6, worstGapMs: 21 },
};

it('says what an op costs, and what the caller keeps', () => {
  const lines = formatOverhead(overhead).split('\n');
  expect(lines).toContain('| one op and `synchronize` | 30.0 |');
  expect(lines).toContain('| CPU time of the process in two seconds without work | 0.40 |');
  expect(lines).toContain('| longest wait of a timer of 1 ms during a product of 2048, 988 ms | 21.0 |');
});

it('has no second table for a separate device', () => {
  const { background: _, ...device } = overhead;
  expect(formatOverhead(device)).not.toContain('What the caller keeps');
});
