import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { batchedGemm, gemm as gemmDefinition, gemmF16 as gemmF16Definition } from './gemm.ts';

const HUGE = Number.MAX_SAFE_INTEGER;
const square = { m: 2, n: 3, k: 4 };
/** With fields of any type, as a JavaScript program may pass them. */
const gemm = (fields: object, outputIsNull = false) => gemmDefinition.check({ ...square, ...fields }, outputIsNull);
const batched = (fields: object, outputIsNull = false) =>
  batchedGemm.check({ ...square, strideA: 8, strideB: 12, strideC: 6, batchCount: 2, ...fields }, outputIsNull);

describe('gemm: types', () => {
  it.each(['m', 'n', 'k', 'lda', 'ldb', 'ldc'])('%s must be a size', (name) => {
    for (const value of [-1, 0.5, Number.NaN, Infinity, 2 ** 53, '2', 2n, {}, true]) {
      expectInvalid(() => gemm({ [name]: value }), new RegExp(`^${name} must be a non-negative safe integer, got `));
    }
  });

  it('shows the value that is wrong', () => {
    expectInvalid(() => gemm({ m: Number.NaN }), 'm must be a non-negative safe integer, got NaN');
    expectInvalid(() => gemm({ n: 2 ** 53 }), 'n must be a non-negative safe integer, got 9007199254740992');
    expectInvalid(() => gemm({ k: '4' }), 'k must be a non-negative safe integer, got "4"');
    expectInvalid(() => gemm({ k: undefined }), 'k must be a non-negative safe integer, got undefined');
  });

  it.each(['transA', 'transB'])('%s must be N, T or C', (name) => {
    expectInvalid(() => gemm({ [name]: 'n' }), `${name} must be one of N, T, C, got "n"`);
    expectInvalid(() => gemm({ [name]: true }), `${name} must be one of N, T, C, got true`);
  });

  it.each(['alpha', 'beta'])('%s must be a number, NaN and infinities included', (name) => {
    expectInvalid(() => gemm({ [name]: '1' }), `${name} must be a number, got "1"`);
    for (const value of [Number.NaN, Infinity, -0, 1e300]) {
      expect(gemm({ [name]: value })).toMatchObject({ [name]: Math.fround(value) });
    }
  });

  it('dtype must be f32, f16 or bf16', () => {
    expectInvalid(() => gemm({ dtype: 'f64' }), 'dtype must be one of f32, f16, bf16, got "f64"');
    expectInvalid(() => gemm({ dtype: null }), 'dtype must be one of f32, f16, bf16, got null');
  });

  it('comes before zero sizes', () => {
    expectInvalid(() => gemm({ m: 0, transA: 'X' }, true));
    expectInvalid(() => gemm({ m: 0, n: -1 }, true));
    expectInvalid(() => gemm({ m: 0, lda: 0.5 }, true));
  });
});

describe('gemm: defaults and rounding', () => {
  it('fills in alpha 1, beta 0, no transposition, f32 and packed rows', () => {
    expect(gemm({})).toMatchObject({
      alpha: 1,
      beta: 0,
      transA: false,
      transB: false,
      dtype: 'f32',
      lda: 4,
      ldb: 3,
      ldc: 3,
      batchCount: 1,
      strideA: 0,
      strideB: 0,
      strideC: 0,
    });
  });

  it.each(['T', 'C'])('%s transposes, and the packed row is the stored one', (trans) => {
    expect(gemm({ transA: trans, transB: trans })).toMatchObject({
      transA: true,
      transB: true,
      lda: 2,
      ldb: 4,
      ldc: 3,
    });
  });

  it('rounds alpha and beta to float32', () => {
    expect(gemm({ alpha: 0.1, beta: 1e-60 })).toMatchObject({ alpha: Math.fround(0.1), beta: 0 });
  });
});

describe('gemm: zero sizes', () => {
  it('m or n 0 is a no-op, with any output', () => {
    for (const outputIsNull of [true, false]) {
      expect(gemm({ m: 0 }, outputIsNull)).toBeNull();
      expect(gemm({ n: 0 }, outputIsNull)).toBeNull();
    }
  });

  it('k 0 is a no-op with a null output only', () => {
    expect(gemm({ k: 0 }, true)).toBeNull();
    expect(gemm({ k: 0 }, false)?.operands).toEqual([
      { name: 'a', dtype: 'f32', elements: 0 },
      { name: 'b', dtype: 'f32', elements: 0 },
      { name: 'c', dtype: 'f32', elements: 6, output: true },
    ]);
  });

  it('comes before leading dimensions and overflow', () => {
    expect(gemm({ m: 0, k: HUGE, n: HUGE, lda: 1 })).toBeNull();
    expect(gemm({ k: 0, ldc: 1 }, true)).toBeNull();
  });
});

describe('gemm: leading dimensions, extents, overflow', () => {
  it.each([
    [{ lda: 3 }, 'lda must be at least 4, the length of a stored row, got 3'],
    [{ lda: 1, transA: 'T' }, 'lda must be at least 2, the length of a stored row, got 1'],
    [{ ldb: 2 }, 'ldb must be at least 3, the length of a stored row, got 2'],
    [{ ldb: 3, transB: 'C' }, 'ldb must be at least 4, the length of a stored row, got 3'],
    [{ ldc: 2 }, 'ldc must be at least 3, the length of a stored row, got 2'],
    [{ k: 0, ldc: 2 }, 'ldc must be at least 3, the length of a stored row, got 2'],
  ])('%j', (fields, detail) => {
    expectInvalid(() => gemm(fields), detail);
  });

  it('an extent runs from the first to the last element', () => {
    // (rows - 1) * ld + columns
    expect(gemm({ lda: 10, ldb: 20, ldc: 30 })?.operands).toEqual([
      { name: 'a', dtype: 'f32', elements: 14 },
      { name: 'b', dtype: 'f32', elements: 63 },
      { name: 'c', dtype: 'f32', elements: 33, output: true },
    ]);
    expect(gemm({ transA: 'T', transB: 'T', lda: 10, ldb: 20 })?.operands).toMatchObject([
      { elements: 3 * 10 + 2 },
      { elements: 2 * 20 + 4 },
      {},
    ]);
  });

  it('sizes whose extent passes 2^53 bytes', () => {
    expectInvalid(() => gemm({ m: HUGE, n: 1, k: 0 }), 'c spans more than 2^53 bytes');
    expectInvalid(() => gemm({ m: 2 ** 27, n: 1, k: 2 ** 27 }), 'a spans more than 2^53 bytes');
    expectInvalid(() => gemm({ ldb: HUGE }), 'b spans more than 2^53 bytes');
  });
});

describe('gemmF16', () => {
  const gemmF16 = (fields: object) => gemmF16Definition.check({ ...square, ...fields }, false);

  it('is gemm with dtype f16', () => {
    expect(gemmF16({})).toEqual(gemm({ dtype: 'f16' }));
    expect(gemmF16({ dtype: 'f16' })).toEqual(gemm({ dtype: 'f16' }));
    expect(gemmF16Definition.check({ ...square, k: 0 }, true)).toBeNull();
  });

  it('refuses another dtype', () => {
    expectInvalid(() => gemmF16({ dtype: 'f32' }), 'gemmF16 has dtype f16, got f32');
    expectInvalid(() => gemmF16({ dtype: 'f8' }), 'dtype must be one of f32, f16, got "f8"');
  });
});

describe('batchedGemm', () => {
  it.each(['strideA', 'strideB', 'strideC', 'batchCount'])('%s must be a size', (name) => {
    expectInvalid(() => batched({ [name]: -1 }), `${name} must be a non-negative safe integer, got -1`);
    expectInvalid(() => batched({ [name]: undefined }), `${name} must be a non-negative safe integer, got undefined`);
  });

  it('batchCount, m or n 0 is a no-op; k 0 with a null output', () => {
    expect(batched({ batchCount: 0 })).toBeNull();
    expect(batched({ m: 0 })).toBeNull();
    expect(batched({ n: 0 })).toBeNull();
    expect(batched({ k: 0 }, true)).toBeNull();
    expect(batched({ k: 0 })).not.toBeNull();
  });

  it('no two C coincide', () => {
    const detail = (strideC: number, ldc = 3) =>
      `strideC must keep the C of two batches apart, got ${strideC}: ldc is ${ldc}, one C 2 x 3`;
    for (const strideC of [5, 0, 2, 3]) expectInvalid(() => batched({ strideC }), detail(strideC));
    expectInvalid(() => batched({ ldc: 10, strideC: 12 }), detail(12, 10));
    expect(batched({ strideC: 0, batchCount: 1 })).not.toBeNull();
  });

  it('the C of a batch may interleave, as heads that are merged in place do', () => {
    // Rows of 2 batches side by side: 3 columns each, 6 a row.
    expect(batched({ ldc: 6, strideC: 3 })).toMatchObject({ ldc: 6, strideC: 3, operands: [{}, {}, { elements: 12 }] });
    const detail = 'strideC must keep the C of two batches apart, got 3: ldc is 6, one C 2 x 3';
    expectInvalid(() => batched({ ldc: 6, strideC: 3, batchCount: 3 }), detail);
    expect(batched({ ldc: 9, strideC: 3, batchCount: 3 })).not.toBeNull();
    // One row each: the batches are the rows.
    expect(batched({ m: 1, ldc: 3, strideC: 3, batchCount: 9 })).not.toBeNull();
  });

  it('inputs may be broadcast or overlap', () => {
    expect(batched({ strideA: 0, strideB: 1 })?.operands).toMatchObject([{ elements: 8 }, { elements: 13 }, {}]);
  });

  it('extents reach over the batch', () => {
    expect(batched({ strideA: 100, strideB: 200, strideC: 300, batchCount: 3 })?.operands).toEqual([
      { name: 'a', dtype: 'f32', elements: 208 },
      { name: 'b', dtype: 'f32', elements: 412 },
      { name: 'c', dtype: 'f32', elements: 606, output: true },
    ]);
    expect(batched({ k: 0 })?.operands).toMatchObject([{ elements: 0 }, { elements: 0 }, { elements: 12 }]);
  });

  it('leading dimensions first, then strides, then overflow', () => {
    expectInvalid(() => batched({ ldc: 2, strideC: 0 }), 'ldc must be at least 3, the length of a stored row, got 2');
    expectInvalid(() => batched({ strideA: HUGE }), 'a spans more than 2^53 bytes');
    expectInvalid(() => batched({ strideC: HUGE, strideA: 0, strideB: 0 }), 'c spans more than 2^53 bytes');
    expectInvalid(() => batched({ batchCount: HUGE, strideA: 0, strideB: 0 }), 'c spans more than 2^53 bytes');
  });
});

describe('dtypeB', () => {
  const scales = {};
  const quant = (fields: object, quantB: object = {}) =>
    gemm({ transB: 'T', dtypeB: 'i4', k: 5, quantB: { block: 2, scales, ...quantB }, ...fields });

  it('is a feature where it is not dtype', () => {
    expect(gemm({ dtypeB: 'f32' })).toMatchObject({ dtypeB: undefined, needs: [] });
    expect(gemm({ dtypeB: 'bf16' })).toMatchObject({ dtypeB: 'bf16', needs: ['dtypeB bf16'] });
    expect(gemm({ dtypeB: 'bf16' })?.operands[1]).toEqual({ name: 'b', dtype: 'bf16', elements: 12 });
    expectInvalid(() => gemm({ dtypeB: 'i32' }), 'dtypeB must be one of f32, f16, bf16, i8, u8, i4, u4, got "i32"');
  });

  it('lays out integers and their blocks', () => {
    expect(quant({}, { zeros: {} })).toMatchObject({
      ldb: 6,
      quantB: {
        block: 2,
        blocks: 3,
        zero: 0,
        scales: { dtype: 'f32', strides: [0, 3, 1] },
        zeros: { dtype: 'i4', strides: [0, 4, 1] },
      },
      operands: [
        { name: 'a' },
        // Rows of 6, the last of 5: 17 halves of bytes.
        { name: 'b', dtype: 'u8', elements: 9 },
        { name: 'quantB.scales', dtype: 'f32', elements: 9 },
        { name: 'quantB.zeros', dtype: 'u8', elements: 6 },
        { name: 'c' },
      ],
    });
    expect(quant({ dtypeB: 'u4' })).toMatchObject({ quantB: { zero: 8 } });
    expect(quant({ dtypeB: 'u8' }, { offsets: {} })).toMatchObject({ quantB: { zero: 0, offsets: { dtype: 'f32' } } });
  });

  it('refuses what it has no meaning for', () => {
    expectInvalid(() => gemm({ quantB: { block: 2, scales } }), 'quantB needs a dtypeB of integers, got f32');
    expectInvalid(() => gemm({ transB: 'T', dtypeB: 'i8' }), 'dtypeB i8 needs quantB');
    expectInvalid(() => quant({ transB: 'C' }), "dtypeB i4 needs transB 'T'");
    expectInvalid(() => quant({ ldb: 7 }), 'ldb must be even for i4, so that rows begin at bytes, got 7');
    expectInvalid(() => quant({}, { block: 0 }), 'quantB.block must be a positive safe integer, got 0');
    expectInvalid(() => quant({}, { scales: undefined }), 'quantB.scales must be given');
    expectInvalid(() => quant({}, { zeros: {}, offsets: {} }), 'quantB takes zeros or offsets, not both');
    expectInvalid(
      () => quant({}, { zeros: { dtype: 'u4' } }),
      'quantB.zeros.dtype must be one of i4, f32, f16, got "u4"',
    );
    expectInvalid(
      () => quant({}, { scales: { strides: [0, 1] } }),
      'quantB.scales.strides must have 3 elements [batch, row, block], got 2',
    );
    expectInvalid(
      () => quant({}, { zeros: { strides: [0, 3, 1] } }),
      'quantB.zeros.strides[1] must be even for i4, so that rows begin at bytes, got 3',
    );
    const ofThree = { strides: [3, 3, 1] };
    const several = { transB: 'T', dtypeB: 'i8', k: 5, strideA: 10, quantB: { block: 2, scales: ofThree } };
    expect(batched({ ...several, strideB: 15 })).toMatchObject({ quantB: { scales: ofThree } });
    expectInvalid(
      () => batched({ ...several, strideB: 0 }),
      'quantB.scales.strides[0] must be 0 where strideB is, got 3: there is one B',
    );
    expectInvalid(() => quant({}, { zero: {} }), 'quantB has no field zero; did you mean zeros?');
  });
});
