import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../test/expect-error.ts';
import { topK as definition } from './top-k.ts';

const topK = (fields: object) => definition.check({ rows: 3, columns: 7, k: 2, ...fields }, false);

describe('topK', () => {
  it('fills in the defaults; values are float32, indices u32', () => {
    expect(topK({})).toEqual({
      rows: 3,
      columns: 7,
      k: 2,
      largest: true,
      dtype: 'f32',
      operands: [
        { name: 'input', dtype: 'f32', elements: 21 },
        { name: 'values', dtype: 'f32', elements: 6, output: true },
        { name: 'indices', dtype: 'u32', elements: 6, output: true },
      ],
    });
    expect(topK({ largest: false, k: 7 })).toMatchObject({ largest: false, k: 7 });
  });

  it.each(['rows', 'columns', 'k'])('%s must be a size', (name) => {
    expectInvalid(() => topK({ [name]: -1 }), `${name} must be a non-negative safe integer, got -1`);
    expectInvalid(() => topK({ [name]: undefined }), `${name} must be a non-negative safe integer, got undefined`);
  });

  it('types, then sizes, then no-ops', () => {
    expectInvalid(() => topK({ largest: 1 }), 'largest must be a boolean, got 1');
    expectInvalid(() => topK({ dtype: 'f64', rows: 0 }), 'dtype must be one of f32, f16, got "f64"');
    expectInvalid(() => topK({ k: 8, rows: 0 }), 'k must be at most columns, 7, got 8');
    expect(topK({ rows: 0 })).toBeNull();
    expect(topK({ k: 0, columns: 0 })).toBeNull();
    expectInvalid(() => topK({ columns: 2 ** 32 }), 'columns must be below 2^32, the range of indices, got 4294967296');
    expectInvalid(() => topK({ rows: 2 ** 50 }), 'input spans more than 2^53 bytes');
  });
});
