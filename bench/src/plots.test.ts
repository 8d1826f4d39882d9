import { expect, it } from 'vitest';
import { exampleResults } from '../test/example-results.ts';
import { drawResults, plotsOf } from './plots.ts';

it('has a plot for each family, with the roofline where it holds', () => {
  const [gemm, f16, add] = plotsOf(exampleResults());
  expect(gemm).toMatchObject({ name: 'gemm', unit: 'TFLOP/s' });
  expect(gemm?.points.map(({ who, size, speed }) => [who, size, speed])).toEqual([
    ...[
      ['concord', 1024, 10],
      ['first', 1024, 20 / 6],
      ['second', 1024, 5],
      ['torch', 1024, 20],
    ],
    ['roofline', 1024, 40],
  ]);
  expect(f16?.points.map(({ who }) => who)).toEqual(['concord']);
  // Ours failed: the others are drawn all the same.
  expect(add).toMatchObject({ name: 'elementwise', unit: 'TB/s' });
  expect(add?.points.map(({ who }) => who)).toEqual(['second', 'torch', 'roofline']);
});

it('draws ours with an option as well', () => {
  const results = exampleResults();
  const contestants = [...results.contestants, { name: 'with option', role: 'option' } as const];
  const cases = results.cases.map((each) => ({ ...each, entries: [...each.entries, { name: 'with option', ms: 1 }] }));
  const drawn = new Map(drawResults({ ...results, contestants, cases }));
  for (const name of ['gemm.svg', 'gemm_f16.svg']) expect(drawn.get(name)).toContain('with option');
});

it('draws an SVG for each, in which everybody is named, with curves over sizes and bars', () => {
  const results = exampleResults();
  const [gemm] = results.cases as [(typeof results.cases)[0]];
  const more = [
    { ...gemm, case: '2048', flops: 160e9 },
    { ...gemm, case: '1x<2' },
  ];
  const drawn = new Map(drawResults({ ...results, cases: [...results.cases, ...more] }));
  expect([...drawn.keys()]).toEqual(['gemm.svg', 'gemm_f16.svg', 'elementwise.svg']);
  const svg = drawn.get('gemm.svg') ?? '';
  for (const text of ['gemm, Example 1', 'TFLOP/s', 'concord', 'second', 'torch', 'roofline', '2,048', '1x&#60;2']) {
    expect(svg).toContain(text);
  }
  // Of five that have times: a curve each, dots but for the roofline; bars of three, marks of a limit and the roofline.
  expect(
    [svg.match(/<path /g), svg.match(/<circle /g), svg.match(/stroke-dasharray/g)].map((all) => all?.length),
  ).toEqual([5, 8, 1]);
  expect(svg.match(/<rect[^>]*fill="#0072b2"/g)).toHaveLength(2);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});
