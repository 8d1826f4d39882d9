import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { expect, it } from 'vitest';
import { faultOf, type TrialMultiply, wrongProduct } from './trial.ts';

const sizes = { m: 131, n: 67, k: 130 };
const { m, n, k } = sizes;

const faultOfProduct = (multiply: TrialMultiply) => faultOf('the units', () => wrongProduct(sizes, multiply));

/** The correct work of an engine, with a chance to spoil each result. */
const multiply =
  (spoil: (value: number, row: number, column: number) => number): TrialMultiply =>
  (a, b) => {
    const c = new Uint16Array(m * n);
    for (let row = 0; row < m; row++) {
      for (let column = 0; column < n; column++) {
        let sum = 0;
        for (let p = 0; p < k; p++) {
          sum += f16BitsToF32(a[row * k + p] as number) * f16BitsToF32(b[p * n + column] as number);
        }
        c[row * n + column] = f32ToF16Bits(spoil(sum, row, column));
      }
    }
    return Promise.resolve(c);
  };

it('finds nothing wrong with what is right', async () => {
  expect(await faultOfProduct(multiply((value) => value))).toBeUndefined();
});

it('says where the first wrong number is', async () => {
  const fault = await faultOfProduct(
    multiply((value, row, column) => (row === 130 && column === 66 ? value + 1 : value)),
  );
  expect(fault?.reason).toMatch(/^the trial of the units gave -?\d+ instead of -?\d+ at row 130, column 66/);
});

it('takes a transposed product for wrong', async () => {
  const right: TrialMultiply = multiply((value) => value);
  const transposed: TrialMultiply = async (a, b) => {
    const c = await right(a, b);
    return c.map((_, index) => c[(index % n) * n + Math.floor(index / n)] as number);
  };
  expect((await faultOfProduct(transposed))?.reason).toContain('instead of');
});

it('takes what was never written, and what is missing, for wrong', async () => {
  expect((await faultOfProduct(() => Promise.resolve(new Uint16Array(m * n))))?.reason).toContain('gave 0 instead of');
  expect((await faultOfProduct(() => Promise.resolve(new Uint16Array())))?.reason).toContain('gave NaN instead of');
});

it('takes a failure for a fault', async () => {
  const fault = await faultOfProduct(() => Promise.reject(new Error('does not build')));
  expect(fault).toEqual({ reason: 'the trial of the units failed', log: 'does not build' });
});
