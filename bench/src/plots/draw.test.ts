import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { exampleResults } from '../../test/example-results.ts';
import { drawResults } from './draw.ts';
import { plotsOf } from './series.ts';

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

it('draws ours with an option as well', async () => {
  const path = mkdtempSync(join(tmpdir(), 'concord-bench-'));
  try {
    const results = exampleResults();
    const contestants = [...results.contestants, { name: 'with option', role: 'option' } as const];
    const cases = results.cases.map((each) => ({
      ...each,
      entries: [...each.entries, { name: 'with option', ms: 1 }],
    }));
    await drawResults(pathToFileURL(`${path}/`), { ...results, contestants, cases });
    for (const name of ['gemm.svg', 'gemm_f16.svg']) {
      expect(readFileSync(join(path, name), 'utf8')).toContain('with option');
    }
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});

it('writes an SVG for each, in which everybody is named', async () => {
  const path = mkdtempSync(join(tmpdir(), 'concord-bench-'));
  try {
    const results = exampleResults();
    const [gemm] = results.cases;
    if (gemm === undefined) throw new Error('the example has cases');
    const larger = { ...gemm, case: '2048', flops: 160e9 };
    await drawResults(pathToFileURL(`${path}/`), { ...results, cases: [...results.cases, larger] });
    expect(readdirSync(path).sort()).toEqual(['elementwise.svg', 'gemm.svg', 'gemm_f16.svg']);
    const svg = readFileSync(join(path, 'gemm.svg'), 'utf8');
    for (const text of ['gemm, Example 1', 'TFLOP/s', 'concord', 'second', 'torch', 'roofline', '2048']) {
      expect(svg).toContain(text);
    }
    expect(svg).not.toContain('NaN');
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});
