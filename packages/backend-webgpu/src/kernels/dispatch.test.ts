import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dispatches } from './dispatch.ts';

const small = fc.record({ groups: fc.integer({ min: 0, max: 5000 }), most: fc.integer({ min: 1, max: 40 }) });
const real = fc.record({
  groups: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  most: fc.constantFrom(65_535, 2 ** 31 - 1),
});

it('runs every workgroup once', () => {
  fc.assert(
    fc.property(small, ({ groups, most }) => {
      // As `group_index` numbers them in the shader, with the guard after it.
      const runs = dispatches(groups, most).flatMap(({ first, grid: [x, y, z] }) =>
        Array.from({ length: x * y * z }, (_, number) => first + number).filter((group) => group < groups),
      );
      expect(runs).toEqual(Array.from({ length: groups }, (_, group) => group));
    }),
  );
});

it('respects the limit in each dimension and starts few workgroups in vain', () => {
  fc.assert(
    fc.property(fc.oneof(small, real), ({ groups, most }) => {
      let next = 0;
      for (const { first, grid } of dispatches(groups, most)) {
        const [x, y, z] = grid;
        expect(first).toBe(next);
        for (const size of grid) expect(Number.isInteger(size) && size >= 1 && size <= most).toBe(true);
        next += x * y * z;
        expect(next - groups).toBeLessThan(z * (x + y));
      }
      expect(next).toBeGreaterThanOrEqual(groups);
    }),
  );
});

it.each([
  [0, 65_535, []],
  [1, 65_535, [{ first: 0, grid: [1, 1, 1] }]],
  [65_535, 65_535, [{ first: 0, grid: [65_535, 1, 1] }]],
  [65_536, 65_535, [{ first: 0, grid: [32_768, 2, 1] }]],
  [
    10,
    2,
    [
      { first: 0, grid: [2, 2, 2] },
      { first: 8, grid: [2, 1, 1] },
    ],
  ],
])('%i groups of at most %i', (groups, most, want) => {
  expect(dispatches(groups, most)).toEqual(want);
});
