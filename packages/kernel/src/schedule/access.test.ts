import fc from 'fast-check';
import { expect, it } from 'vitest';
import { accessOf } from './access.ts';

it('a vector begins at a multiple of its width wherever it stands, and neighbours are dense, apart or one', () => {
  const strides = fc.array(fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 8, 12, 16), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(strides, fc.nat(3), fc.constantFrom(1, 2, 4), fc.nat(8), (own, place, width, offset) => {
      const axis = place % own.length;
      const access = accessOf({ strides: own, axis, width, offset });
      const stride = own[axis] as number;
      if (stride === 0) expect(access).toBe('constant');
      else if (stride > 1) expect(access).toBe('strided');
      else {
        // Where each axis but that of the neighbours may stand: any place has the remainder of one of these.
        const starts = own.reduce(
          (all, step, at) => (at === axis ? all : all.flatMap((start) => [0, 1, 2, 3].map((i) => start + i * step))),
          [offset],
        );
        const isAligned = width > 1 && starts.every((start) => start % width === 0);
        expect(access).toBe(isAligned ? 'vector' : 'dense');
      }
    }),
    { numRuns: 3000 },
  );
});
