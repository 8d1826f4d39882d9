import fc from 'fast-check';
import { expect, it } from 'vitest';
import { topKReference } from '../reference/top-k.ts';
import { topK } from './top-k.ts';

/** Words of few numbers, so that there are equals, and of special ones. */
const word = fc.oneof(
  fc.constantFrom(0, 0x8000_0000, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffff_ffff, 1),
  fc.integer({ min: 0, max: 0xffff_ffff }),
);

it('is what sorting gives, with every bit of what is selected', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(word, { minLength: 1, maxLength: 90 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.boolean(),
      (rows, row, share, largest) => {
        const columns = row.length;
        const k = Math.max(1, Math.round(share * columns));
        const input = Int32Array.from({ length: rows * columns }, (_, i) => row[(i * 7) % columns] as number);
        const [values, indices] = [new Int32Array(rows * k), new Int32Array(rows * k)];
        topK({ rows, columns, k, largest, dtype: 'f32', operands: [] }, input, values, indices);
        const want = topKReference({ rows, columns, k, largest }, new Float32Array(input.buffer));
        expect([...indices]).toEqual([...want]);
        const picked = [...want].map((place, i) => input[Math.floor(i / k) * columns + place]);
        expect([...values]).toEqual(picked);
      },
    ),
  );
});
