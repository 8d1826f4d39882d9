import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../../test/expect-error.ts';
import { checkAttention } from './attention.validate.ts';

const attention = (fields: object) =>
  checkAttention({
    batch: 2,
    heads: 3,
    seqQ: 4,
    seqKv: 5,
    headDim: 6,
    scale: 0.5,
    ...fields,
  });

const ZERO = 'seq_q, seq_kv, and head_dim must all be > 0';

describe('attention', () => {
  it.each(['batch', 'heads', 'seqQ', 'seqKv', 'headDim'])('%s must be a size', (name) => {
    expectInvalid(() => attention({ [name]: -1 }), `${name} must be a non-negative safe integer, got -1`);
    expectInvalid(() => attention({ [name]: 1.5 }), `${name} must be a non-negative safe integer, got 1.5`);
  });

  it('scale, causal and dtype have their types', () => {
    expectInvalid(() => attention({ scale: undefined }), 'scale must be a number, got undefined');
    expectInvalid(() => attention({ scale: '1' }), 'scale must be a number, got "1"');
    expectInvalid(() => attention({ causal: 1 }), 'causal must be a boolean, got 1');
    expectInvalid(() => attention({ dtype: 'bf16' }), 'dtype must be one of f32, f16, got "bf16"');
  });

  it.each(['seqQ', 'seqKv', 'headDim'])('%s 0', (name) => {
    expectInvalid(() => attention({ [name]: 0 }), ZERO);
  });

  it.each([
    [0, '0'],
    [-0, '0'],
    [-1, '-1'],
    [Infinity, 'Infinity'],
    [-Infinity, '-Infinity'],
    [Number.NaN, 'NaN'],
    // Become 0 and Infinity as float32.
    [1e-60, '1e-60'],
    [1e60, '1e+60'],
  ])('scale %d', (scale, shown) => {
    expectInvalid(() => attention({ scale }), `scale must be a positive finite number, got ${shown}`);
  });

  it('batch or heads 0 is a no-op', () => {
    expect(attention({ batch: 0 })).toBeNull();
    expect(attention({ heads: 0 })).toBeNull();
  });

  it('checks in order: types, sizes, scale, no-op', () => {
    expectInvalid(() => attention({ seqQ: 0, dtype: 'x' }), 'dtype must be one of f32, f16, got "x"');
    expectInvalid(() => attention({ seqQ: 0, scale: 0, batch: 0 }), ZERO);
    expectInvalid(() => attention({ scale: 0, batch: 0 }), 'scale must be a positive finite number, got 0');
  });

  it('fills in the defaults and rounds scale to float32', () => {
    expect(attention({ scale: 0.1 })).toMatchObject({ causal: false, dtype: 'f32', scale: Math.fround(0.1) });
    expect(attention({ causal: true })).toMatchObject({ causal: true });
  });

  it('operands are packed', () => {
    expect(attention({})?.operands).toEqual([
      { name: 'q', elements: 144 },
      { name: 'k', elements: 180 },
      { name: 'v', elements: 180 },
      { name: 'o', elements: 144, output: true },
    ]);
  });

  it('overflow', () => {
    expectInvalid(() => attention({ seqQ: Number.MAX_SAFE_INTEGER }), 'q spans more than 2^53 bytes');
    expectInvalid(() => attention({ seqKv: 2 ** 52 }), 'k spans more than 2^53 bytes');
  });
});
