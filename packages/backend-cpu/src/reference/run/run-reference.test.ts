import { describe, expect, it } from 'vitest';
import { run } from '../../../test/support/run-kernel.ts';
import { compareStored } from './compare-stored.ts';
import { NAN, type OutputIntervals } from './run-data.ts';

const { NaN: nan } = Number;

const exactly = ({ lo, hi, nan: nans }: OutputIntervals): number[] => {
  expect([...lo].map((value) => value + 0)).toEqual([...hi].map((value) => value + 0));
  expect([...nans].every((each) => each === NAN.no)).toBe(true);
  return [...lo].map((value) => value + 0);
};

describe('points and axes', () => {
  it('index, rowIndex and extent count from both ends', () => {
    const y = run(
      { inputs: {} },
      (_, k) => {
        const place = k.add(k.mul(k.index(0), 100), k.add(k.mul(k.index(-2), 10), k.index(2)));
        return k.add(k.mul(k.rowIndex(-1), 1000), k.add(k.mul(k.extent(-1), 10_000), place));
      },
      { shape: [2, 2, 3], folded: 1, outputs: {} },
      {},
    );
    const want = [0, 1].flatMap((a) => [0, 1].flatMap((b) => [0, 1, 2].map((c) => 30_000 + 1010 * b + 100 * a + c)));
    expect(exactly(y)).toEqual(want);
  });

  it('strides: transposed, repeated, with gaps; rows and parameters', () => {
    const y = run(
      { inputs: { x: 'f32', r: { type: 'f32', level: 'row' } }, params: { p: 'f32' } },
      ({ x, r, p }, k) => k.add(k.add(x, r), p),
      { shape: [2, 3], folded: 1, inputs: { x: { strides: [1, 3] }, r: { strides: [2] } } },
      {
        inputs: { x: new Float32Array([1, 2, nan, 3, 4, nan, 5, 6]), r: new Float32Array([10, nan, 20]) },
        params: { p: 100 },
      },
    );
    expect(exactly(y)).toEqual([111, 113, 115, 122, 124, 126]);
  });

  it('more points than are evaluated at once', () => {
    const y = run({ inputs: {} }, (_, k) => k.index(0), { shape: [10_000] }, {});
    expect(exactly(y).every((value, index) => value === index)).toBe(true);
  });

  it('no points, no rows, rows of nothing', () => {
    const sum = (shape: number[]) =>
      run({ inputs: { x: 'f32' } }, ({ x }, k) => k.fold('sum', x), { shape, folded: 1 }, {});
    expect(exactly(sum([0, 3]))).toEqual([]);
    expect(exactly(sum([2, 0]))).toEqual([0, 0]);
    const greatest = run({ inputs: { x: 'i32' } }, ({ x }, k) => k.fold('max', x), { shape: [1, 0], folded: 1 }, {});
    expect(exactly(greatest)).toEqual([-(2 ** 31)]);
  });
});

describe('folds', () => {
  const x = new Float32Array([1, 2, 3, 4, 5, 6]);

  it('over two axes, of every level, and of what depends on a fold', () => {
    const y = run(
      { inputs: { x: 'f32' } },
      ({ x: value }, k) => {
        const above = k.fold('count', k.gt(value, k.fold('min', value)));
        return k.add(k.toF32(above), k.fold('sum', k.add(k.fold('max', value), k.f32(0.5))));
      },
      { shape: [1, 2, 3], folded: 2 },
      { inputs: { x } },
    );
    // 5 above the minimum; six times 6.5.
    expect(exactly(y)).toEqual([44]);
  });

  it('argmax of nearly equal values accepts each of them', () => {
    const y = run(
      { inputs: { x: 'f32' } },
      ({ x: value }, k) => k.fold('argmax', k.exp(value)),
      { shape: [1, 4], folded: 1 },
      { inputs: { x: new Float32Array([0, 1, 0.5, 1 + 2 ** -23]) } },
    );
    expect(y.choices.get(0)).toEqual([1, 3]);
    expect(compareStored(y, new Uint32Array([3]))).toBeUndefined();
    expect(compareStored(y, new Uint32Array([2]))).toMatchObject({ wrong: 1, got: 2, want: 'one of 1, 3' });
    expect(y.uselessShare).toBe(0);
  });

  it('a row of 50,257', () => {
    const values = Float32Array.from({ length: 50_257 }, (_, index) => (index === 50_256 ? 7 : index % 3));
    const y = run(
      { inputs: { x: 'f32' } },
      ({ x: value }, k) => k.fold('sum', value),
      { shape: [1, 50_257], folded: 1 },
      { inputs: { x: values } },
    );
    expect(exactly(y)).toEqual([values.reduce((sum, value) => sum + value, 0)]);
  });
});

describe('contraction', () => {
  it('a product beyond the range is not rounded to infinity before it is added', () => {
    const spec = { inputs: { a: 'f32', b: 'f32', c: 'f32' } } as const;
    const data = {
      inputs: { a: new Float32Array([2 ** 64]), b: new Float32Array([2 ** 64]), c: new Float32Array([-(2 ** 127)]) },
    };
    const added = run(spec, ({ a, b, c }, k) => k.add(c, k.mul(a, b)), { shape: [1] }, data);
    expect(added.lo[0]).toBeLessThanOrEqual(2 ** 127);
    expect(added.hi[0]).toBe(Infinity);
    const subtracted = run(spec, ({ a, b, c }, k) => k.sub(c, k.neg(k.mul(a, b))), { shape: [1] }, data);
    expect(subtracted.lo[0]).toBeLessThanOrEqual(2 ** 127);
    const chosen = run(spec, ({ a, b, c }, k) => k.add(c, k.select(k.lt(c, 0), k.mul(a, b), c)), { shape: [1] }, data);
    expect(chosen.lo[0]).toBeLessThanOrEqual(2 ** 127);
    const summed = run(
      spec,
      ({ a, b, c }, k) => k.fold('sum', k.add(c, k.spread(k.mul(k.fold('max', a), k.fold('max', b))))),
      { shape: [1, 1], folded: 1 },
      data,
    );
    expect(summed.lo[0]).toBeLessThanOrEqual(2 ** 127);
    // Anything else sees infinity: what comes after does not bring it back.
    const scaled = run(spec, ({ a, b, c }, k) => k.mul(k.mul(a, b), k.abs(c)), { shape: [1] }, data);
    expect(exactly(scaled)).toEqual([Infinity]);
  });
});

describe('subnormals', () => {
  const spec = { inputs: { x: 'f32' } } as const;
  const data = { inputs: { x: new Float32Array([2 ** -130, nan, -0]) } };

  it('are joined with 0 where something is done with them', () => {
    const y = run(spec, ({ x }, k) => k.neg(x), { shape: [3] }, data);
    expect([y.lo[0], y.hi[0]]).toEqual([-(2 ** -130), -0]);
    const kept = run(spec, ({ x }, k) => k.neg(x), { shape: [3] }, data, { subnormals: 'kept' });
    expect([kept.lo[0], kept.hi[0]]).toEqual([-(2 ** -130), -(2 ** -130)]);
    const compared = run(spec, ({ x }, k) => k.toF32(k.gt(x, 0)), { shape: [3] }, data);
    expect([compared.lo[0], compared.hi[0]]).toEqual([0, 1]);
  });

  it('copies keep every bit', () => {
    const y = run(spec, ({ x }, k) => k.select(k.bool(true), x, k.f32(3)), { shape: [3] }, data);
    expect([...y.copies.values()]).toEqual([0x00080000, 0x7fc00000, 0x80000000]);
    expect(compareStored(y, data.inputs.x)).toBeUndefined();
    expect(compareStored(y, new Float32Array([0, nan, -0]))).toMatchObject({ index: 0, wrong: 1 });
    expect(compareStored(y, new Float32Array([2 ** -130, nan, 0]))).toMatchObject({ index: 2, got: 0 });
  });

  it('a copy of another dtype keeps its value', () => {
    const halves = new Uint16Array([0x0001, 0x7e01, 0x3c00]);
    const call = { shape: [3], inputs: { x: { dtype: 'f16' } } } as const;
    const y = run(spec, ({ x }, k) => k.select(k.bool(true), x, k.f32(3)), call, { inputs: { x: halves } });
    expect(y.copies.size).toBe(0);
    expect([...y.lo]).toEqual([2 ** -24, Infinity, 1]);
    expect([...y.nan]).toEqual([NAN.no, NAN.must, NAN.no]);
  });
});

describe('select and gather', () => {
  it('give the hull where it is open which', () => {
    const y = run(
      { inputs: { x: 'f32' } },
      // exp(1) is not known to the last bit.
      ({ x }, k) => k.select(k.lt(k.exp(x), Math.fround(Math.E)), x, k.f32(5)),
      { shape: [2] },
      { inputs: { x: new Float32Array([1, 0]) } },
    );
    expect([y.lo[0], y.hi[0]]).toEqual([1, 5]);
    expect([y.lo[1], y.hi[1]]).toEqual([0, 0]);
  });

  const table = { inputs: { t: { type: 'f32', access: 'gather', rank: 2 }, i: 'i32' } } as const;
  const data = { inputs: { t: new Float32Array([1, 2, 3, nan, 4, 5, 6]), i: new Int32Array([-1, 0, 1, 2, 3]) } };

  it('read by index in the own strides, and otherwise outside', () => {
    const y = run(
      table,
      ({ t, i }, k) => k.gather(t, [k.u32(1), i], k.f32(-7)),
      { shape: [5], inputs: { t: { shape: [2, 3], strides: [4, 1] } } },
      data,
    );
    expect(exactly(y)).toEqual([-7, 4, 5, 6, -7]);
  });

  it('at an index of which only a range is known give the hull of all', () => {
    const y = run(
      table,
      ({ t, i }, k) => {
        const near = k.toI32(k.mul(k.exp(k.f32(0)), 1.5));
        return k.gather(t, [k.u32(0), k.add(k.mul(near, 0), k.sub(i, i))], k.f32(-7));
      },
      { shape: [1], inputs: { t: { shape: [2, 3], strides: [4, 1] } } },
      data,
    );
    expect(exactly(y)).toEqual([1]);
    const open = run(
      table,
      // exp(0) may be a little less than 1.
      ({ t, i }, k) => k.gather(t, [k.u32(0), k.add(k.toI32(k.exp(k.f32(0))), i)], k.f32(-7)),
      { shape: [3], inputs: { t: { shape: [2, 3], strides: [4, 1] } } },
      data,
    );
    expect([...open.lo]).toEqual([-7, 1, 2]);
    expect([...open.hi]).toEqual([1, 2, 3]);
  });

  it('at more than 64 are anything', () => {
    const wide = run(
      { inputs: { t: { type: 'f32', access: 'gather', rank: 1 } } },
      ({ t }, k) => k.gather(t, [k.xor(k.bitcast('u32', k.exp(k.f32(3))), k.index(0))], 0),
      { shape: [2], inputs: { t: { shape: [65] } } },
      { inputs: { t: new Float32Array(65) } },
    );
    expect([...wide.anything]).toEqual([1, 1]);
    expect(wide.uselessShare).toBe(1);
  });
});
