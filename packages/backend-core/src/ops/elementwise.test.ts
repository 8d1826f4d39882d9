import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid } from '../../test/expect-error.ts';
import { BINARY_OPS, REDUCE_OPS, UNARY_OPS } from '../contract/function-names.ts';
import { binaryKernel, reduceKernel, unaryKernel } from '../kernel/index.ts';
import { binary as binaryDefinition } from './binary.ts';
import { reduce as reduceDefinition } from './reduce.ts';
import { unary as unaryDefinition } from './unary.ts';

const unary = (fields: object) => unaryDefinition.check({ op: 'neg', n: 4, ...fields }, false);
const binary = (fields: object) => binaryDefinition.check({ op: 'add', n: 4, ...fields }, false);
const reduce = (fields: object, outputIsNull = false) =>
  reduceDefinition.check({ op: 'sum', shape: [2, 3, 4], axis: 1, ...fields }, outputIsNull);

describe.each([
  ['unary', unary, UNARY_OPS, 'input'],
  ['binary', binary, BINARY_OPS, 'a'],
] as const)('%s', (_name, check, ops, first) => {
  it('takes its ops and no other', () => {
    for (const op of ops) expect(check({ op })).toMatchObject({ op, n: 4, dtype: 'f32' });
    expectInvalid(() => check({ op: 'sin' }), `op must be one of ${ops.join(', ')}, got "sin"`);
    expectInvalid(() => check({ op: undefined }), `op must be one of ${ops.join(', ')}, got undefined`);
  });

  it('n must be a size', () => {
    expectInvalid(() => check({ n: 2 ** 53 }), 'n must be a non-negative safe integer, got 9007199254740992');
    expectInvalid(() => check({ n: 1.5 }), 'n must be a non-negative safe integer, got 1.5');
    expectInvalid(() => check({ n: Number.MAX_SAFE_INTEGER }), `${first} spans more than 2^53 bytes`);
  });

  it('dtype', () => {
    expect(check({ dtype: 'f16' })).toMatchObject({ dtype: 'f16' });
    expectInvalid(() => check({ dtype: 'f64' }), 'dtype must be one of f32, f16, got "f64"');
  });

  it('n 0 is a no-op, after the types', () => {
    expect(check({ n: 0 })).toBeNull();
    expectInvalid(() => check({ n: 0, op: 'sin' }));
    expectInvalid(() => check({ n: 0, dtype: 'f64' }));
  });
});

describe('what the outputs may coincide with', () => {
  it('unary: the input', () => {
    expect(unary({})?.operands).toEqual([
      { name: 'input', dtype: 'f32', elements: 4 },
      { name: 'output', dtype: 'f32', elements: 4, output: true, mayAlias: ['input'] },
    ]);
  });

  it('binary: either input', () => {
    expect(binary({})?.operands).toEqual([
      { name: 'a', dtype: 'f32', elements: 4 },
      { name: 'b', dtype: 'f32', elements: 4 },
      { name: 'output', dtype: 'f32', elements: 4, output: true, mayAlias: ['a', 'b'] },
    ]);
  });

  it('reduce: nothing', () => {
    expect(reduce({})?.operands).toEqual([
      { name: 'input', dtype: 'f32', elements: 24 },
      { name: 'output', dtype: 'f32', elements: 8, output: true },
    ]);
  });
});

describe('reduce', () => {
  it('takes its ops and no other', () => {
    for (const op of REDUCE_OPS) expect(reduce({ op })).toMatchObject({ op });
    expectInvalid(() => reduce({ op: 'prod' }), 'op must be one of sum, max, min, mean, got "prod"');
  });

  it('types', () => {
    expectInvalid(() => reduce({ shape: 4 }), 'shape must be an array of integers, got 4');
    expectInvalid(() => reduce({ shape: [2, -1] }), 'shape[1] must be a non-negative safe integer, got -1');
    expectInvalid(() => reduce({ axis: 0.5 }), 'axis must be a safe integer, got 0.5');
    expectInvalid(() => reduce({ axis: Number.NaN }), 'axis must be a safe integer, got NaN');
    expectInvalid(() => reduce({ axis: '1' }), 'axis must be a safe integer, got "1"');
    expectInvalid(() => reduce({ axis: Object.create(null) as object }), 'axis must be a safe integer, got an object');
    expectInvalid(() => reduce({ dtype: 'f64' }), 'dtype must be one of f32, f16, got "f64"');
  });

  it('fixed messages, after types and before zero sizes', () => {
    expectInvalid(() => reduce({ shape: [], axis: 0 }), 'shape must not be empty');
    expectInvalid(() => reduce({ shape: [4, 4], axis: 5 }), 'axis 5 is out of bounds for shape of length 2');
    expectInvalid(() => reduce({ axis: 3 }), 'axis 3 is out of bounds for shape of length 3');
    expectInvalid(() => reduce({ axis: -1 }), 'axis -1 is out of bounds for shape of length 3');
    expectInvalid(() => reduce({ shape: [0, 4], axis: 2 }, true), 'axis 2 is out of bounds for shape of length 2');
    expectInvalid(() => reduce({ shape: [], axis: 0, dtype: 'x' }), 'dtype must be one of f32, f16, got "x"');
  });

  it('splits the shape at the axis', () => {
    const shape = [2, 3, 4, 5];
    expect(reduce({ shape, axis: 0 })).toMatchObject({ outer: 1, axisLength: 2, inner: 60 });
    expect(reduce({ shape, axis: 2 })).toMatchObject({ outer: 6, axisLength: 4, inner: 5 });
    expect(reduce({ shape, axis: 3 })).toMatchObject({ outer: 24, axisLength: 5, inner: 1 });
    expect(reduce({ shape: [7], axis: 0 })).toMatchObject({ outer: 1, axisLength: 7, inner: 1 });
  });

  it('no output elements: a no-op', () => {
    expect(reduce({ shape: [0, 3, 4] })).toBeNull();
    expect(reduce({ shape: [2, 3, 0] })).toBeNull();
    expect(reduce({ shape: [0, 0, 4] })).toBeNull();
    expect(reduce({ shape: [0, Number.MAX_SAFE_INTEGER, 1e15] })).toBeNull();
  });

  it('an empty axis is a no-op with a null output only', () => {
    expect(reduce({ shape: [2, 0, 4] }, true)).toBeNull();
    expect(reduce({ shape: [2, 0, 4] }, false)).toMatchObject({
      axisLength: 0,
      operands: [{ elements: 0 }, { elements: 8 }],
    });
  });

  it('overflow', () => {
    expectInvalid(() => reduce({ shape: [2 ** 26, 2 ** 26, 1] }), 'input spans more than 2^53 bytes');
    expectInvalid(() => reduce({ shape: [2 ** 40, 0, 2 ** 40] }), 'output spans more than 2^53 bytes');
    expectInvalid(() => reduce({ shape: Array.from({ length: 400 }, () => 1000) }));
  });
});

describe('as calls of a kernel', () => {
  it('unary and binary are over n points', () => {
    expect(unaryDefinition.asRun(unary({ op: 'exp', n: 5 }) as never)).toMatchObject({
      kernel: { name: 'exp', key: unaryKernel('exp').key },
      shape: [5],
      folded: 0,
    });
    expect(binaryDefinition.asRun(binary({ op: 'pow', n: 5 }) as never)).toMatchObject({
      kernel: { name: 'pow', key: binaryKernel('pow').key },
      inputs: [{ name: 'a', strides: [1] }, { name: 'b' }],
      outputs: [{ name: 'output', extent: 5 }],
    });
  });

  it('reduce folds the axis, wherever it is', () => {
    expect(reduceDefinition.asRun(reduce({ op: 'mean' }) as never)).toMatchObject({
      kernel: { key: reduceKernel('mean').key },
      shape: [2, 4, 3],
      folded: 1,
      inputs: [{ strides: [12, 1, 4], extent: 24 }],
      outputs: [{ shape: [2, 4], strides: [4, 1] }],
    });
  });

  it('sizes that become an axis of a run are below 2^32, by the names that the caller gave them', () => {
    const size = 2 ** 32;
    const refused = (call: () => unknown, name: string) =>
      expectError(call, 'UNSUPPORTED', `${name} must be below 2^32, got ${size}`);
    refused(() => unary({ n: size }), 'n');
    refused(() => binary({ n: size }), 'n');
    refused(() => reduce({ shape: [2, size], axis: 1 }), 'shape[1]');
    refused(() => reduce({ shape: [2, 2 ** 31, 3], axis: 2 }), 'the product of the sizes of shape before axis');
    refused(() => reduce({ shape: [3, 2 ** 16, 2 ** 16], axis: 0 }), 'the product of the sizes of shape after axis');
    expect(unaryDefinition.asRun(unary({ n: size - 1 }) as never).shape).toEqual([size - 1]);
    expectInvalid(() => unary({ n: 2 ** 51 }), 'input spans more than 2^53 bytes');
  });
});
