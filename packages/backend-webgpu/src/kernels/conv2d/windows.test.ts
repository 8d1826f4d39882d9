import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Conv2dSizes, type Conv2dWindow, conv2dWindows, type Range } from './windows.ts';

const size = fc.integer({ min: 1, max: 6 });
const sizes: fc.Arbitrary<Conv2dSizes> = fc.record({
  images: size,
  groups: size,
  filters: size,
  channels: size,
  outputRows: size,
  outputWidth: size,
  inputPlane: fc.integer({ min: 1, max: 30 }),
  taps: fc.integer({ min: 1, max: 9 }),
});

/** Elements from the first to the last that a window touches of input, filter and output. */
function spans(window: Conv2dWindow, of: Conv2dSizes): readonly number[] {
  const { images, groups, filters, rows, channels } = window;
  const plane = of.outputRows * of.outputWidth;
  const moreFilters = (groups.count - 1) * of.filters + filters.count - 1;
  return [
    ((images.count - 1) * of.groups * of.channels + (groups.count - 1) * of.channels + channels.count) * of.inputPlane,
    (moreFilters * of.channels + channels.count) * of.taps,
    ((images.count - 1) * of.groups * of.filters + moreFilters) * plane + rows.count * of.outputWidth,
  ];
}

const members = ({ first, count }: Range): readonly number[] => Array.from({ length: count }, (_, i) => first + i);

it('every sum once, over its channels in order, in pieces that fit', () => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: 30, max: 400 }), fc.integer({ min: 1, max: 7 }), (of, elements, channels) => {
      const next = new Map<string, number>();
      for (const window of conv2dWindows(of, { elements, channels })) {
        for (const span of spans(window, of)) expect(span).toBeLessThanOrEqual(elements);
        expect(window.channels.count).toBeLessThanOrEqual(channels);
        if (window.groups.count > 1) expect(window.filters.count).toBe(of.filters);
        if (window.images.count > 1 || window.filters.count > 1) expect(window.rows.count).toBe(of.outputRows);
        for (const image of members(window.images)) {
          for (const group of members(window.groups)) {
            for (const filter of members(window.filters)) {
              for (const row of members(window.rows)) {
                const sum = [image, group, filter, row].join();
                expect(window.channels.first).toBe(next.get(sum) ?? 0);
                next.set(sum, window.channels.first + window.channels.count);
              }
            }
          }
        }
      }
      expect(next.size).toBe(of.images * of.groups * of.filters * of.outputRows);
      expect(new Set(next.values())).toEqual(new Set([of.channels]));
    }),
  );
});

it('as few windows as can be: one when everything fits, one per image when that fits', () => {
  const of: Conv2dSizes = {
    images: 4,
    groups: 2,
    filters: 8,
    channels: 3,
    outputRows: 5,
    outputWidth: 5,
    inputPlane: 49,
    taps: 9,
  };
  const count = (elements: number): number => [...conv2dWindows(of, { elements, channels: Infinity })].length;
  expect(count(4 * 16 * 25)).toBe(1);
  expect(count(2 * 16 * 25)).toBe(2);
  expect(count(16 * 25)).toBe(8);
  expect(count(16 * 27)).toBe(4);
});
