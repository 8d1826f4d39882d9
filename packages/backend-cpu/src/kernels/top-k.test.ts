import fc from 'fast-check';
import { expect, it } from 'vitest';
import { topK } from './top-k.ts';

/** Words of few numbers, so that there are equals, and of special ones. */
const word = fc.oneof(
  fc.constantFrom(0, 0x8000_0000, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffff_ffff, 1),
  fc.integer({ min: 0, max: 0xffff_ffff }),
);

/** Places of a row, the greatest of its elements first. NaN stands above Infinity, and a sort that is stable leaves equals as they are. */
function sortedPlaces(row: Float32Array, sign: 1 | -1): number[] {
  const rank = (x: number): number => (Number.isNaN(x) ? 2 ** 200 : Math.max(-(2 ** 190), Math.min(x, 2 ** 190)));
  return [...row.keys()].sort((x, y) => sign * (rank(row[y] as number) - rank(row[x] as number)));
}

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
        for (let at = 0; at < rows; at++) {
          const elements = new Float32Array(input.buffer, 4 * at * columns, columns);
          const want = sortedPlaces(elements, largest ? 1 : -1).slice(0, k);
          expect([...indices.subarray(at * k, (at + 1) * k)]).toEqual(want);
          expect([...values.subarray(at * k, (at + 1) * k)]).toEqual(want.map((place) => input[at * columns + place]));
        }
      },
    ),
  );
});
