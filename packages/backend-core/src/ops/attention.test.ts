import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { attention as definition } from './attention.ts';

const VALID = { batch: 2, heads: 3, seqQ: 4, seqKv: 5, headDim: 6, scale: 0.5 };
const attention = (fields: object) => definition.check({ ...VALID, ...fields }, false);
const refused = (fields: object, words: string | RegExp) => expectInvalid(() => attention(fields), words);

describe('attention', () => {
  it.each(['batch', 'heads', 'seqQ', 'seqKv', 'headDim'])('%s must be a size', (name) => {
    refused({ [name]: -1 }, `${name} must be a non-negative safe integer, got -1`);
    refused({ [name]: 1.5 }, `${name} must be a non-negative safe integer, got 1.5`);
  });

  it.each([
    [{}, 4 * 5],
    [{ causal: true }, 1 + 2 + 3 + 4],
    // A token after a cache sees all of it.
    [{ causal: true, seqQ: 1, causalOffset: 4 }, 5],
    [{ causal: true, causalOffset: 1, window: 2 }, 4 * 2],
    [{ causal: true, lengths: {} }, 2 + 3 + 4 + 5],
    [{ causal: true, starts: {}, window: 3 }, 4 * 3],
  ])('%j costs the keys that are seen', (fields, keys) => {
    expect(definition.cost(attention(fields)!).operations).toBe(2 * 2 * 3 * keys * (6 + 6));
  });

  it('scale, causal and dtype have their types', () => {
    refused({ scale: undefined }, 'scale must be a number, got undefined');
    refused({ scale: '1' }, 'scale must be a number, got "1"');
    refused({ causal: 1 }, 'causal must be a boolean, got 1');
    refused({ dtype: 'bf16' }, 'dtype must be one of f32, f16, got "bf16"');
  });

  it.each([
    ['seqQ', '0, 5 and 6'],
    ['seqKv', '4, 0 and 6'],
    ['headDim', '4, 5 and 0'],
  ])('%s 0', (name, got) => {
    refused({ [name]: 0 }, `seqQ, seqKv and headDim must all be > 0, got ${got}`);
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
    refused({ scale }, `scale must be a positive finite number, got ${shown}`);
  });

  it('batch or heads 0 is a no-op', () => {
    expect(attention({ batch: 0 })).toBeNull();
    expect(attention({ heads: 0 })).toBeNull();
  });

  it('checks in order: types, sizes, scale, no-op', () => {
    refused({ seqQ: 0, dtype: 'x' }, 'dtype must be one of f32, f16, got "x"');
    refused({ seqQ: 0, scale: 0, batch: 0 }, 'seqQ, seqKv and headDim must all be > 0, got 0, 5 and 6');
    refused({ scale: 0, batch: 0 }, 'scale must be a positive finite number, got 0');
  });

  it('fills in the defaults and rounds scale to float32', () => {
    expect(attention({ scale: 0.1 })).toMatchObject({ causal: false, dtype: 'f32', scale: Math.fround(0.1) });
    expect(attention({ causal: true })).toMatchObject({ causal: true });
    expect(attention({})).toMatchObject({
      kvHeads: 3,
      softcap: 0,
      causalOffset: 0,
      window: Infinity,
      maskStrides: undefined,
      qStrides: [72, 24, 6],
      kStrides: [90, 30, 6],
      vStrides: [90, 30, 6],
      oStrides: [72, 24, 6],
    });
  });

  it('operands are packed', () => {
    expect(attention({})?.operands).toEqual([
      { name: 'q', dtype: 'f32', elements: 144 },
      { name: 'k', dtype: 'f32', elements: 180 },
      { name: 'v', dtype: 'f32', elements: 180 },
      { name: 'o', dtype: 'f32', elements: 144, output: true },
    ]);
  });

  it('overflow', () => {
    refused({ seqQ: Number.MAX_SAFE_INTEGER }, 'q spans more than 2^53 bytes');
    refused({ seqKv: 2 ** 52 }, 'k spans more than 2^53 bytes');
  });
});

describe('attention: grouped heads', () => {
  it('kvHeads divides heads, and K and V have that many', () => {
    refused({ kvHeads: 2 }, 'kvHeads 2 must divide heads 3');
    refused({ kvHeads: 0 }, 'kvHeads 0 must divide heads 3');
    refused({ kvHeads: 1.5 }, 'kvHeads must be a non-negative safe integer, got 1.5');
    const checked = attention({ heads: 6, kvHeads: 2 });
    expect(checked).toMatchObject({ kvHeads: 2, qStrides: [144, 24, 6], kStrides: [60, 30, 6] });
    expect(checked?.operands.map(({ elements }) => elements)).toEqual([288, 120, 120, 288]);
    expect(attention({ heads: 0, kvHeads: 5 })).toBeNull();
  });
});

describe('attention: softcap, offset and window', () => {
  it.each([0, -1, Infinity, Number.NaN, 1e-60])('softcap %d', (softcap) => {
    refused({ softcap }, `softcap must be a positive finite number, got ${softcap}`);
  });

  it('softcap is a float32', () => {
    refused({ softcap: '1' }, 'softcap must be a number, got "1"');
    expect(attention({ softcap: 0.1 })).toMatchObject({ softcap: Math.fround(0.1) });
  });

  it('causalOffset is any integer, window a positive one', () => {
    expect(attention({ causalOffset: -7, window: 1 })).toMatchObject({ causalOffset: -7, window: 1 });
    refused({ causalOffset: 0.5 }, 'causalOffset must be a safe integer, got 0.5');
    refused({ causalOffset: '1' }, 'causalOffset must be a safe integer, got "1"');
    refused({ window: 0 }, 'window must be a positive safe integer, got 0');
    refused({ window: Infinity }, 'window must be a positive safe integer, got Infinity');
  });
});

describe('attention: lengths and starts', () => {
  it('have a number for each batch, or one for all, and need a feature', () => {
    expect(attention({})?.needs).toEqual([]);
    const checked = attention({ lengths: {}, starts: { strides: [0] } });
    expect(checked).toMatchObject({ lengthStride: 1, startStride: 0, needs: ['lengths', 'starts'] });
    expect(checked?.operands.slice(3, 5)).toEqual([
      { name: 'lengths', dtype: 'u32', elements: 2 },
      { name: 'starts', dtype: 'i32', elements: 1 },
    ]);
    expect(attention({ starts: {} })?.needs).toEqual(['starts']);
  });

  it('refuse what is none', () => {
    refused({ lengths: 8 }, 'lengths must be { ptr, strides? }, got 8');
    refused({ starts: { strides: [0, 1] } }, 'starts.strides must have 1 element [batch], got 2');
    refused({ starts: {}, causalOffset: 1 }, 'causalOffset must be 0 where starts are given, got 1');
  });
});

describe('attention: mask', () => {
  it('is packed, or has four strides, of which 0 repeats', () => {
    expect(attention({ mask: {} })).toMatchObject({ maskStrides: [60, 20, 5, 1] });
    const strides = [0, 0, 5, 1];
    const checked = attention({ dtype: 'f16', mask: { strides } });
    strides[0] = 9;
    expect(checked?.maskStrides).toEqual([0, 0, 5, 1]);
    expect(checked?.operands).toMatchObject([
      {},
      {},
      { name: 'v', dtype: 'f16' },
      { name: 'mask', dtype: 'f32', elements: 20 },
      {},
    ]);
  });

  it('has no other form', () => {
    refused({ mask: 8 }, 'mask must be { ptr, strides?, dtype? }, got 8');
    refused({ mask: null }, 'mask must be { ptr, strides?, dtype? }, got null');
    refused({ mask: { stride: [0, 0, 0, 1] } }, 'mask has no field stride; did you mean strides?');
    refused({ mask: { strides: [0, 1] } }, 'mask.strides must have 4 elements [batch, head, query, key], got 2');
    refused({ mask: { strides: [0, 0, 0, -1] } }, 'mask.strides[3] must be a non-negative safe integer, got -1');
    const message = (own: string) => `mask.dtype must be one of ${own}, got "bf16"`;
    refused({ mask: { dtype: 'bf16' } }, message('f32, u8'));
    refused({ mask: { dtype: 'bf16' }, dtype: 'f16' }, message('f32, f16, u8'));
    refused({ mask: { dtype: 'f16' } }, 'mask.dtype must be one of f32, u8, got "f16"');
  });

  it('of another type needs a feature', () => {
    expect(attention({ mask: { dtype: 'f32' } })).toMatchObject({ maskDtype: 'f32', needs: [] });
    expect(attention({ mask: { dtype: 'u8' } })).toMatchObject({ maskDtype: 'u8', needs: ['mask u8'] });
    const own = attention({ dtype: 'f16', mask: { dtype: 'f16' } });
    expect(own).toMatchObject({ needs: ['mask f16'] });
    expect(own?.operands[3]).toMatchObject({ name: 'mask', dtype: 'f16', elements: 120 });
  });
});

describe('attention: valueDim', () => {
  it('is the columns of v and o', () => {
    const checked = attention({ valueDim: 7 });
    expect(checked).toMatchObject({ valueDim: 7, needs: ['valueDim'], vStrides: [105, 35, 7], oStrides: [84, 28, 7] });
    expect(checked?.operands.map(({ elements }) => elements)).toEqual([144, 180, 210, 168]);
    expect(attention({ valueDim: 6 })).toMatchObject({ valueDim: 6, needs: [] });
    expect(attention({})).toMatchObject({ valueDim: 6 });
  });

  it('is above 0', () => {
    refused({ valueDim: 0 }, 'valueDim must be > 0, got 0');
    refused({ valueDim: -1 }, 'valueDim must be a non-negative safe integer, got -1');
  });
});

describe('attention: lse', () => {
  it('is an output', () => {
    const checked = attention({ lse: {} });
    expect(checked).toMatchObject({ hasLse: true, needs: ['lse'] });
    expect(checked?.operands[3]).toEqual({ name: 'lse', dtype: 'f32', elements: 24, output: true });
    expect(attention({})).toMatchObject({ hasLse: false });
  });

  it('has no other form', () => {
    refused({ lse: 8 }, 'lse must be { ptr }, got 8');
    refused({ lse: { strides: [1] } }, 'lse has no field strides; it has ptr');
  });
});

describe('attention: dtypeKv', () => {
  it('is the type of k and v', () => {
    const checked = attention({ dtypeKv: 'bf16' });
    expect(checked).toMatchObject({ dtype: 'f32', dtypeKv: 'bf16', needs: ['dtypeKv bf16'] });
    expect(checked?.operands.map(({ dtype }) => dtype)).toEqual(['f32', 'bf16', 'bf16', 'f32']);
    expect(attention({ dtypeKv: 'f32' })?.needs).toEqual([]);
    expect(attention({ dtype: 'f16' })).toMatchObject({ dtypeKv: 'f16', needs: [] });
  });

  it('has no other value', () => {
    refused({ dtypeKv: 'i8' }, 'dtypeKv must be one of f32, f16, bf16, got "i8"');
    refused({ dtypeKv: 'f32', dtype: 'f16' }, 'dtypeKv must be one of f16, got "f32"');
  });
});

describe('attention: strides', () => {
  it('of each operand, packed where left out', () => {
    // Heads side by side in each row: [batch, seq, head, headDim].
    const checked = attention({ strides: { q: [72, 6, 18], o: [72, 6, 18] } });
    expect(checked).toMatchObject({ qStrides: [72, 6, 18], kStrides: [90, 30, 6], oStrides: [72, 6, 18] });
    expect(checked?.operands.map(({ elements }) => elements)).toEqual([144, 180, 180, 144]);
    const spaced = attention({ strides: { k: [0, 0, 100] } });
    expect(spaced?.operands[1]).toMatchObject({ name: 'k', elements: 4 * 100 + 6 });
  });

  it('keep the rows of o apart', () => {
    const shape = '[2, 3, 4, 6]';
    for (const o of [
      [0, 24, 6],
      [72, 24, 5],
      [72, 6, 12],
    ]) {
      refused({ strides: { o } }, `strides.o [${o.join(', ')}] may let rows of o coincide: ${shape}`);
    }
    expect(attention({ batch: 1, strides: { o: [0, 24, 6] } })).not.toBeNull();
  });

  it('have no other form', () => {
    refused({ strides: [1, 2, 3] }, 'strides has no field 0; it has q, k, v, o');
    refused({ strides: 5 }, 'strides must be an object, got 5');
    refused({ strides: { p: [] } }, 'strides has no field p; it has q, k, v, o');
    refused({ strides: { q: [1, 2] } }, 'strides.q must have 3 elements [batch, head, seq], got 2');
    refused({ strides: { v: [2 ** 52, 0, 6] } }, 'v spans more than 2^53 bytes');
  });
});
