import { describe, expect, it } from 'vitest';
import { findLeaks, formatWindows, type SoakWindow } from './soak.ts';

const MIB = 2 ** 20;
const windows = (deviceBytes: (index: number) => number): SoakWindow[] =>
  Array.from({ length: 20 }, (_, index) => ({
    ops: 100 * (index + 1),
    microsPerOp: 50,
    deviceBytes: deviceBytes(index),
    rssBytes: 200 * MIB,
    heapBytes: 10 * MIB,
    handles: 2,
  }));

describe('findLeaks', () => {
  it('finds memory that keeps growing', () => {
    expect(findLeaks(windows((index) => (10 + index) * MIB))).toEqual(['device memory grew by 59 %']);
  });

  it('forgives warming up, a step early on, and what is too small to matter', () => {
    expect(findLeaks(windows((index) => (index < 4 ? index : 40) * MIB))).toEqual([]);
    expect(findLeaks(windows((index) => 1000 * index))).toEqual([]);
    expect(findLeaks(windows((index) => index * MIB).slice(0, 3))).toEqual([]);
  });
});

it('a window is a row', () => {
  const [, , first] = formatWindows(windows(() => 3 * MIB)).split('\n');
  expect(first).toBe('| 100 | 50 | 3.0 | 200.0 | 10.0 | 2 |');
});
