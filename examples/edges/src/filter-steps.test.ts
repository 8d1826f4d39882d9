import { conv2dReference } from '@concord/backend-cpu/reference';
import { expect, test } from 'vitest';
import { edgePixels, picturePixels, planesOf } from './filter-picture.ts';
import { checkSteps, filterSteps, MAX_BLUR } from './filter-steps.ts';

const grey = (rows: readonly (readonly number[])[]) => ({
  width: rows[0]?.length ?? 0,
  height: rows.length,
  channels: 3 as const,
  pixels: Uint8Array.from(rows.flat().flatMap((value) => [value, value, value])),
});

function filtered(picture: ReturnType<typeof grey>, blur: number, edges: boolean): Float32Array {
  let planes: ArrayLike<number> = planesOf(picture, blur + (edges ? 1 : 0));
  for (const { shape, filter } of filterSteps(picture.width, picture.height, { blur, edges })) {
    planes = conv2dReference(shape, planes, filter).value;
  }
  return Float32Array.from(planes);
}

test('the border of a picture goes on outside of it', () => {
  const planes = planesOf({ width: 2, height: 1, channels: 3, pixels: Uint8Array.of(1, 2, 3, 4, 5, 6) }, 1);
  const plane = (left: number, right: number) => Array.from({ length: 3 }, () => [left, left, right, right]).flat();
  expect([...planes]).toEqual([...plane(1, 4), ...plane(2, 5), ...plane(3, 6)]);
});

test('a blur leaves one colour as it is, and spreads a dot', () => {
  const flat = grey(Array.from({ length: 4 }, () => [200, 200, 200, 200]));
  expect(picturePixels(filtered(flat, MAX_BLUR, false), 4, 4).pixels).toEqual(flat.pixels);
  const dot = grey([
    [0, 0, 0],
    [0, 160, 0],
    [0, 0, 0],
  ]);
  const blurred = picturePixels(filtered(dot, 1, false), 3, 3);
  expect([...blurred.pixels].filter((_, index) => index % 3 === 0)).toEqual([10, 20, 10, 20, 40, 20, 10, 20, 10]);
});

test('edges are where the brightness changes, to the right or downwards', () => {
  const step = grey([
    [0, 0, 100, 100],
    [0, 0, 100, 100],
  ]);
  const across = [0, 255, 255, 0];
  expect([...edgePixels(filtered(step, 0, true), 4, 2).pixels]).toEqual([...across, ...across]);
  const slope = grey([[10], [20], [30]]);
  // 4 times half of 20 in the middle, half of that at the border, three quarters of both.
  expect([...edgePixels(filtered(slope, 0, true), 1, 3).pixels]).toEqual([30, 60, 30]);
});

test('the sums of the largest blur are exact in float32', () => {
  const noise = grey(
    Array.from({ length: 16 }, (_, y) => Array.from({ length: 16 }, (_, x) => (x * 97 + y * 61) % 256)),
  );
  const steps = filterSteps(16, 16, { blur: MAX_BLUR, edges: true });
  const planes = planesOf(noise, MAX_BLUR + 1);
  let exact: ArrayLike<number> = planes;
  for (const { shape, filter } of steps) {
    const { value, magnitude } = conv2dReference(shape, exact, filter);
    // In units of the last bit that the blur so far can set.
    expect(magnitude.every((sum) => sum * 4 ** (2 * MAX_BLUR) < 2 ** 24)).toBe(true);
    expect(value.every((sum) => Number.isInteger(sum * 4 ** (2 * MAX_BLUR)))).toBe(true);
    exact = value;
  }
});

test('the check counts values that are not the oracle’s', () => {
  const picture = grey([
    [0, 50],
    [100, 255],
  ]);
  const steps = filterSteps(2, 2, { blur: 1, edges: true });
  const planes = planesOf(picture, 2);
  const got = filtered(picture, 1, true);
  expect(checkSteps(steps, planes, got)).toEqual({ values: 24, different: 0 });
  got[3] = (got[3] as number) + 2 ** -8;
  got[7] = Number.NaN;
  expect(checkSteps(steps, planes, got)).toEqual({ values: 24, different: 2 });
  expect(checkSteps(steps, planes, got.subarray(0, 20)).different).toBe(2 + 4);
});
