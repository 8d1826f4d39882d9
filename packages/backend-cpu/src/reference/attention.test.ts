import type { AttentionShape } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { attentionReference } from './attention.ts';

const base = { batch: 1, heads: 1, seqQ: 1, seqKv: 1, headDim: 1, scale: 1 };
const attention = (fields: Partial<AttentionShape>, q: number[], k: number[], v: number[]) =>
  attentionReference({ ...base, ...fields }, q, k, v);

function expectClose(got: ArrayLike<number>, want: readonly number[], relative = 1e-15): void {
  expect(got).toHaveLength(want.length);
  want.forEach((value, i) =>
    expect(Math.abs((got[i] as number) - value)).toBeLessThanOrEqual(relative * Math.abs(value)),
  );
}

describe('attentionReference: golden values', () => {
  it('equal scores average V', () => {
    const { value } = attention({ seqKv: 2, headDim: 2 }, [1, 0], [1, 0, 1, 0], [1, 2, 3, 4]);
    expect([...value]).toEqual([2, 3]);
  });

  // Python: decimal with 40 digits, weights exp(0.5), exp(1), exp(1.5).
  it('three keys, scale 0.5', () => {
    const shape = { seqKv: 3, headDim: 2, scale: 0.5 };
    const { value, magnitude, scoreMagnitude, spread } = attention(
      shape,
      [1, 2],
      [1, 0, 0, 1, 1, 1],
      [1, 10, 2, -20, 3, 30],
    );
    expectClose(value, [2.320156667829806, 10.913731249558129], 1e-14);
    expectClose(magnitude, [2.320156667829806, 23.20156667829806], 1e-14);
    expectClose(scoreMagnitude, [1.5]);
    expectClose(spread.slice(0, 1), [16.48532226508184], 1e-14);
  });

  // Python: as above, with scale 0.100000001490116119384765625, which is float32(0.1).
  it('scale is rounded to float32; causal sees no later key', () => {
    const { value } = attention({ seqQ: 2, seqKv: 2, causal: true, scale: 0.1 }, [1, 2], [1, 3], [5, 7]);
    expectClose(value, [5, 6.197375323089035], 1e-15);
  });

  it('causal with more queries than keys, and the other way round', () => {
    // All scores are 0: the running means of what is visible.
    const rows = [10, 20, 60];
    const more = attention({ seqQ: 3, seqKv: 2, causal: true }, [0, 0, 0], [0, 0], rows.slice(0, 2));
    expect([...more.value]).toEqual([10, 15, 15]);
    const fewer = attention({ seqQ: 2, seqKv: 3, causal: true }, [0, 0], [0, 0, 0], rows);
    expect([...fewer.value]).toEqual([10, 15]);
  });

  it('heads and batches are kept apart', () => {
    const { value } = attention(
      { batch: 2, heads: 2, seqQ: 2 },
      [1, 2, 3, 4, 5, 6, 7, 8],
      [1, 2, 3, 4],
      [10, 20, 30, 40],
    );
    expect([...value]).toEqual([10, 10, 20, 20, 30, 30, 40, 40]);
  });

  it('large scores do not overflow', () => {
    const { value } = attention({ seqKv: 2, scale: 1000 }, [1000], [1000, 999], [3, 4]);
    expect([...value]).toEqual([3]);
  });
});

describe('attentionReference: fields', () => {
  // All scores are 0: means of what is visible.
  const mean = (fields: Parameters<typeof attentionReference>[0] | object, values: number[], mask?: number[]) =>
    attentionReference(
      { ...base, seqKv: values.length, ...fields },
      Array.from({ length: 9 }, () => 0),
      values.map(() => 0),
      values,
      mask,
    ).value;

  it('causalOffset and window; a query that sees nothing gives 0', () => {
    expect([...mean({ seqQ: 3, causal: true, causalOffset: -1 }, [10, 20])]).toEqual([0, 10, 15]);
    expect([...mean({ seqQ: 3, causal: true, causalOffset: 1, window: 2 }, [10, 20, 30, 40])]).toEqual([15, 25, 35]);
    expect([...mean({ seqQ: 4, window: 1 }, [10, 20])]).toEqual([15, 20, 0, 0]);
  });

  // Python: exp(2 tanh(1/2)) and exp(2 tanh(3/2)) as weights of 5 and 7.
  it('softcap', () => {
    const { value, scoreSpread } = attention({ seqKv: 2, softcap: 2 }, [1], [1, 3], [5, 7]);
    expectClose(value, [6.416153758896754], 1e-14);
    expect(scoreSpread[0]).toBeGreaterThan(0);
  });

  it('a mask is added, repeats where a stride is 0, and hides by -Infinity', () => {
    const half = Math.log(0.5);
    const masked = (strides: [number, number, number, number], mask: number[]) =>
      [...mean({ seqQ: 2, mask: { strides } }, [30, 60], mask)].map((x) => Math.round(x * 1e9) / 1e9);
    expect(masked([0, 0, 0, 1], [0, half])).toEqual([40, 40]);
    expect(masked([0, 0, 2, 1], [half, 0, -Infinity, 0])).toEqual([50, 60]);
    expect(masked([0, 0, 1, 0], [-Infinity, 5])).toEqual([0, 45]);
  });

  it('grouped heads and strides', () => {
    const shape = { ...base, heads: 4, kvHeads: 2, strides: { v: [0, 3, 1] as const } };
    expect([...attentionReference(shape, [1, 1, 1, 1], [1, 1], [10, 0, 0, 20]).value]).toEqual([10, 10, 20, 20]);
  });

  it('-Infinity and NaN is NaN', () => {
    const mask = { mask: { strides: [0, 0, 0, 1] as const } };
    expect([
      ...attentionReference({ ...base, seqKv: 2, ...mask }, [1], [1, Number.NaN], [1, 1], [0, -Infinity]).value,
    ]).toEqual([Number.NaN]);
  });
});

describe('attentionReference: NaN', () => {
  const nan = Number.NaN;

  it('in a query, a visible key or a visible value', () => {
    expect([...attention({ seqQ: 2 }, [nan, 1], [1], [1]).value]).toEqual([nan, 1]);
    expect([...attention({ seqKv: 2 }, [1], [1, nan], [1, 1]).value]).toEqual([nan]);
    expect([...attention({ seqKv: 2, headDim: 2 }, [1, 1], [1, 1, 1, 1], [1, nan, 1, 1]).value]).toEqual([1, nan]);
  });

  it('in a key and value that causal hides is not felt', () => {
    const shape = { seqQ: 2, seqKv: 2, causal: true };
    expect([...attention(shape, [1, 1], [1, nan], [5, nan]).value]).toEqual([5, nan]);
  });
});
