import { expect, test } from 'vitest';
import { html } from '../../html/html.ts';
import { drawAxes, linearAxis, linePath, logAxis, plotFile } from './axes.ts';

test('marks whole numbers, or powers of ten and between them where there is room', () => {
  expect(linearAxis([0, 20], [0, 100], '').ticks).toEqual([0, 5, 10, 15, 20]);
  expect(logAxis([1, 100], [0, 100], '').ticks).toEqual([1, 2, 5, 10, 20, 50, 100]);
  expect(logAxis([0.1, 1000], [0, 100], '').ticks).toEqual([0.1, 1, 10, 100, 1000]);
  expect(logAxis([0.3, 40], [0, 100], '').ticks).toEqual([0.5, 1, 2, 5, 10, 20]);
  expect(logAxis([256, 8192], [0, 100], '', [256, 8192]).ticks).toEqual([256, 8192]);
});

test('draws grid lines from side to side, titles and a line', () => {
  const [x, y] = [logAxis([1, 100], [50, 250], 'rows'), linearAxis([0, 10], [110, 10], 'GB/s')];
  expect(
    linePath(x, y, [
      [10, 5],
      [100, 10],
    ]),
  ).toBe('M150,60L250,10');
  const axes = drawAxes(x, y).text;
  expect(axes).toContain('<line y1="10" y2="110" />');
  expect(axes).toContain('<line x1="50" x2="250" />');
  expect(axes).toMatch(/x="150\.0" y="148" text-anchor="middle">rows</);
  expect(axes.match(/class="tick"/g)).toHaveLength(7 + 6);
});

test('is a file that escapes what it shows', () => {
  const file = plotFile(100, 50, 'a < b', '', html`<g />`);
  expect(file).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 100 50"/);
  expect(file).toContain('a &#60; b');
});
