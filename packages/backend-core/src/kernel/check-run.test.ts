import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { checkRun } from './check-run.ts';
import { areDistinct } from './check-run.ts';
import { defineKernel, type RunDomain } from './index.ts';

const negate = defineKernel('negate', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.neg(x) }));
const sums = defineKernel('sums', { inputs: { x: 'f32', w: { type: 'f32', level: 'row' } } }, ({ x, w }, k) => ({
  y: k.mul(x, w),
  total: k.fold('sum', x),
}));
const table = defineKernel('table', { inputs: { t: { type: 'i32', access: 'gather', rank: 2 } } }, ({ t }, k) => ({
  y: k.gather(t, [k.index(0), k.index(1)], 0),
}));

type Fields = Partial<RunDomain> & { inputs?: object; outputs?: object };
const negated = (call: Fields) => checkRun(negate, { shape: [2, 3], ...call } as never);
const refused = (call: Fields, words: string | RegExp) => expectInvalid(() => negated(call), words);
const summed = (call: Fields) => checkRun(sums, { shape: [2, 3, 4], folded: 1, ...call } as never);
const looked = (call: Fields) => checkRun(table, { shape: [2, 3], ...call } as never);

describe('the domain', () => {
  it('has at most 8 axes of sizes below 2^32', () => {
    expect(negated({ shape: [] })).toMatchObject({ shape: [], rowCount: 1, rowLength: 1, inputs: [{ extent: 1 }] });
    expect(negated({ shape: [1, 1, 1, 1, 1, 1, 1, 7] }).rowCount).toBe(7);
    refused({ shape: Array.from({ length: 9 }, () => 1) }, 'shape must have at most 8 axes, got 9');
    refused({ shape: [1, 2 ** 32] }, 'shape[1] must be below 2^32, got 4294967296');
    refused({ shape: 5 as never }, 'shape must be an array of integers, got 5');
    refused({ shape: [1, -1] }, 'shape[1] must be a non-negative safe integer, got -1');
  });

  it('has fewer than 2^53 points', () => {
    const detail = 'the domain [2097152, 4294967295, 1024] must have fewer than 2^53 points';
    refused({ shape: [2 ** 21, 2 ** 32 - 1, 1024] }, detail);
    const repeated = { inputs: { x: { strides: [0, 0] } } };
    refused({ shape: [2 ** 21, 2 ** 32 - 1], ...repeated }, 'output y spans more than 2^53 bytes');
  });

  it('with a 0 in it stores nothing, whatever the rest', () => {
    const none = negated({
      shape: [0, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1],
      outputs: { y: { strides: [0, 0, 0, 0] } },
    });
    expect(none).toMatchObject({ inputs: [{ extent: 0 }], outputs: [{ extent: 0 }] });
  });

  it('says which axes are folded, where there are rows and only there', () => {
    expect(summed({})).toMatchObject({ folded: 1, rowCount: 6, rowLength: 4 });
    expect(summed({ folded: 3 })).toMatchObject({
      rowCount: 1,
      rowLength: 24,
      outputs: [{}, { shape: [], extent: 1 }],
    });
    expect(summed({ shape: [2, 0], folded: 1 })).toMatchObject({
      rowLength: 0,
      outputs: [{ extent: 0 }, { extent: 2 }],
    });
    const forgotten = 'kernel sums has values of rows: folded must say how many of the last axes make a row';
    for (const folded of [undefined as never, 0]) expectInvalid(() => summed({ folded }), forgotten);
    expectInvalid(() => summed({ folded: 4 }), 'folded 4 exceeds the 3 axes of shape');
    expectInvalid(() => summed({ folded: -1 }), 'folded must be a non-negative safe integer, got -1');
    refused({ folded: 1 }, 'kernel negate folds nothing: folded must be left out');
    expect(negated({ folded: 0 }).folded).toBe(0);
  });

  it('has at most 2^32 - 1 elements a row', () => {
    const views = { inputs: { x: { strides: [0, 0] } } };
    const detail = 'the folded axes have 4294967296 elements, more than 2^32 - 1';
    expectInvalid(() => summed({ shape: [2 ** 16, 2 ** 16], folded: 2, ...views }), detail);
  });

  it.each([
    ['index', 1, 1, 0, 'axes'],
    ['index', -2, 1, 0, 'axes'],
    ['extent', 0, 0, 0, 'axes'],
    ['rowIndex', 1, 2, 1, 'axes that are not folded'],
    ['rowIndex', -1, 1, 1, 'axes that are not folded'],
  ] as const)('%s(%d) of %d axes, %d of them folded', (kind, axis, rank, folded, what) => {
    const kernel = defineKernel('axes', {}, (_, k) => ({ y: k.spread(k[kind](axis)) }));
    const shape = Array.from({ length: rank }, () => 2);
    const detail = `kernel axes asks for ${kind}(${axis}) of ${rank - folded} ${what}`;
    expectInvalid(() => checkRun(kernel, folded > 0 ? { shape, folded } : { shape }), detail);
    const more = [...shape, 2];
    expect(checkRun(kernel, folded > 0 ? { shape: more, folded } : { shape: more }).shape).toEqual(more);
  });
});

describe('layouts', () => {
  it('are dense unless they say otherwise; strides of axes of size 1 do not matter', () => {
    expect(summed({})).toMatchObject({
      inputs: [
        { name: 'x', dtype: 'f32', shape: [2, 3, 4], strides: [12, 4, 1], extent: 24 },
        { name: 'w', access: 'row', shape: [2, 3], strides: [3, 1], extent: 6 },
      ],
      outputs: [{ extent: 24 }, { name: 'total', access: 'row', strides: [3, 1] }],
    });
    expect(negated({ shape: [1, 3], inputs: { x: { strides: [99, 1] } } }).inputs[0]).toMatchObject({
      strides: [0, 1],
      extent: 3,
    });
  });

  it('repeat an input with stride 0 and reach from the first to the last element', () => {
    const { inputs, outputs } = negated({
      inputs: { x: { strides: [0, 5] } },
      outputs: { y: { strides: [1, 10], dtype: 'bf16' } },
    });
    expect(inputs[0]).toMatchObject({ strides: [0, 5], extent: 11 });
    expect(outputs[0]).toMatchObject({ strides: [1, 10], dtype: 'bf16', extent: 22 });
    refused({ inputs: { x: { strides: [2 ** 52, 1] } } }, 'input x spans more than 2^53 bytes');
  });

  it('have one stride per axis of their level', () => {
    refused({ inputs: { x: { strides: [1] } } }, 'strides of input x must have 2 elements, got [1]');
    expectInvalid(
      () => summed({ inputs: { w: { strides: [1, 1, 1] } } }),
      'strides of input w must have 2 elements, got [1, 1, 1]',
    );
    refused(
      { outputs: { y: { strides: [1, -1] } } },
      'strides of output y[1] must be a non-negative safe integer, got -1',
    );
    refused({ outputs: { y: { strides: 'ab' } } }, 'strides of output y must be an array of integers, got "ab"');
  });

  it.each([
    ['f32', ['f32', 'f16', 'bf16']],
    ['i32', ['i32', 'i8']],
    ['u32', ['u32', 'u8']],
  ] as const)('%s may be stored as %s', (type, dtypes) => {
    const copy = defineKernel('copy', { inputs: { x: type } }, ({ x }) => ({ y: x }));
    const check = (x: string, y: string) =>
      checkRun(copy, { shape: [2], inputs: { x: { dtype: x } }, outputs: { y: { dtype: y } } } as never);
    for (const dtype of dtypes) {
      expect(check(dtype, dtypes[0])).toMatchObject({ inputs: [{ type, dtype }], outputs: [{ type, dtype: type }] });
      expect(check(dtypes[0], dtype)).toMatchObject({ outputs: [{ type, dtype }] });
    }
    for (const dtype of ['f32', 'f16', 'bf16', 'i32', 'u32', 'i8', 'u8', 'f64']) {
      if ((dtypes as readonly string[]).includes(dtype)) continue;
      expectInvalid(
        () => check(dtype, dtypes[0]),
        `dtype of input x must be one of ${dtypes.join(', ')}, got "${dtype}"`,
      );
    }
  });

  it('of a gather input have their own shape', () => {
    expect(looked({ inputs: { t: { shape: [5, 7], strides: [0, 2], dtype: 'i8' } } }).inputs[0]).toMatchObject({
      access: 'gather',
      shape: [5, 7],
      strides: [0, 2],
      dtype: 'i8',
      extent: 13,
    });
    expect(looked({ inputs: { t: { shape: [0, 7] } } }).inputs[0]).toMatchObject({ extent: 0 });
    expectInvalid(() => looked({}), 'the shape of input t must be an array of integers, got undefined');
    expectInvalid(() => looked({ inputs: { t: { shape: [5] } } }), 'the shape of input t must have 2 axes, got 1');
    expectInvalid(
      () => looked({ inputs: { t: { shape: [5, 2 ** 32] } } }),
      'the shape of input t[1] must be below 2^32, got 4294967296',
    );
  });

  it('of outputs keep elements apart', () => {
    const detail = (strides: string) =>
      `strides ${strides} of output y may let elements of shape [2, 3] coincide: sorted, each must exceed what the lesser ones reach`;
    for (const strides of [
      [0, 1],
      [2, 1],
      [1, 1],
      [4, 2],
    ]) {
      refused({ outputs: { y: { strides } } }, detail(`[${strides.join(', ')}]`));
    }
    expect(negated({ outputs: { y: { strides: [1, 2] } } }).outputs[0]?.extent).toBe(6);
  });
});

describe('areDistinct', () => {
  it('never says so of elements that coincide', () => {
    const axis = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 12 }));
    fc.assert(
      fc.property(fc.array(axis, { maxLength: 4 }), (axes) => {
        let places = [0];
        for (const [size, stride] of axes) {
          places = places.flatMap((place) => Array.from({ length: size }, (_, i) => place + i * stride));
        }
        const isDistinct = new Set(places).size === places.length;
        const claimed = areDistinct(
          axes.map(([size]) => size),
          axes.map(([, stride]) => stride),
        );
        if (claimed) expect(isDistinct).toBe(true);
        return true;
      }),
      { numRuns: 2000 },
    );
  });

  it('says so of dense, permuted and spaced views', () => {
    expect(areDistinct([2, 3, 4], [12, 4, 1])).toBe(true);
    expect(areDistinct([2, 3, 4], [1, 2, 6])).toBe(true);
    expect(areDistinct([2, 3], [100, 7])).toBe(true);
    expect(areDistinct([1, 1], [0, 0])).toBe(true);
    expect(areDistinct([], [])).toBe(true);
  });
});

describe('an output that is written by index', () => {
  const y = { type: 'f32', access: 'scatter', rank: 2, mode: 'set' } as const;
  const kernel = defineKernel('k', { inputs: { x: 'f32' }, outputs: { y } }, ({ x }, k) => ({
    y: k.scatter(x, [k.index(0), k.index(1)]),
  }));

  it('has its own shape and strides, and needs the feature', () => {
    const checked = checkRun(kernel, { shape: [2, 3], outputs: { y: { shape: [5, 4], strides: [8, 2] } } });
    expect(checked.outputs).toMatchObject([{ access: 'scatter', shape: [5, 4], strides: [8, 2], extent: 39 }]);
    expect(checked.needs).toEqual(['scatter']);
  });

  it('must say its shape, of its rank, with distinct elements', () => {
    const check = (view: object) => () => checkRun(kernel, { shape: [2, 3], outputs: { y: view } });
    expectInvalid(check({}), /the shape of output y/);
    expectInvalid(check({ shape: [5] }), /must have 2 axes, got 1/);
    expectInvalid(check({ shape: [5, 4], strides: [1, 2] }), /may let elements of shape \[5, 4\] coincide/);
  });
});
