import { expect, test } from 'vitest';
import type { BenchBackend, BenchOutcome, BenchRow, BenchRun } from '../bench-run.ts';
import { copyCase, gemmCase } from '../cases/op-cases.ts';
import { benchPage } from './bench-page.ts';

const environment = { date: new Date('2026-11-21T12:34:56Z'), concord: '1.2.3', host: 'Node.js v20.20.2, linux x64' };

const device = (name: string): BenchBackend => ({
  backend: name,
  device: { vendor: 'Acme', name: `Acme <${name}>`, type: 'discrete', driver: 'Acme 1.2', memoryBytes: 2 ** 34 },
});
const absent: BenchBackend = {
  ...{ backend: 'level-zero', device: null },
  notRun: {
    ...{ backend: 'level-zero', message: 'no <device>', hint: 'install a driver' },
    ...{ isRequired: false, isFailure: false },
  },
};

const measured = (...roundSeconds: number[]): BenchOutcome => ({
  ...{ status: 'measured', firstCallMs: 12.3, callsPerRound: 40, roundSeconds },
});
const row = (benchCase: BenchRow['benchCase'], outcomes: Readonly<Record<string, BenchOutcome>>): BenchRow => ({
  benchCase,
  results: Object.entries(outcomes).map(([backend, outcome]) => ({ backend, outcome })),
});

// 2 GFLOP and 12 MB; 1 GB read and written.
const gemm = gemmCase('square', 'a <square>', 1000, 1000, 1000);
const copy = copyCase('device', 5e8);

function pageOf(rows: readonly BenchRow[], rest: Partial<BenchRun> = {}): { page: string; text: string } {
  const backends = [device('webgpu'), device('cpu'), absent];
  const run: BenchRun = { ...{ size: 'real', seconds: 1, backends, rows, isPart: false, ms: 61_000 }, ...rest };
  const page = benchPage(run, environment);
  const body = page.replace(/^.*<body>/s, '');
  return { page, text: body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ') };
}

const full = [
  row(gemm, { webgpu: measured(0.001, 0.002, 0.003), cpu: measured(0.2) }),
  row(copy, { webgpu: measured(0.01), cpu: measured(0.1) }),
];

test('shows each device with the best that it reached, and why another was not run', () => {
  const { text } = pageOf(full);
  expect(text).toContain('2 cases of size real , 1 min 01 s in all');
  expect(text).toContain('Device Acme &#60;webgpu&#62; (discrete) Vendor Acme Memory 16 GiB Driver Acme 1.2');
  expect(text).toContain('Best speed 1,000 GFLOP/s Best bandwidth 100 GB/s');
  expect(text).toContain('level-zero not run Reason no &#60;device&#62; What to do install a driver');
  expect(text).toContain('2026-11-21 12:34 UTC by concord 1.2.3 on Node.js v20.20.2, linux x64');
});

test('draws bars of one scale in each op, with the spread and the ratio', () => {
  const { page, text } = pageOf(full);
  expect(text).toMatch(/gemm GFLOP\/s, the full width is 1,8\d\d a &#60;square&#62; 1000x1000x1000/);
  expect(text).toMatch(/webgpu 1,000 7\d\d–1,8\d\d cpu 10\.0 10\.0–10\.0 0\.010×/);
  const widths = [...page.matchAll(/class="fill" style="width:([\d.]+)%"/g)].map(([, width]) => Number(width));
  expect(widths).toHaveLength(4);
  expect(widths[2]).toBe(100);
  expect((widths[0] ?? 0) / (widths[1] ?? 0)).toBeCloseTo(100, -1);
});

test('draws a roofline for each backend: a slope, a level, and a sign for each case that computes', () => {
  const { page } = pageOf(full);
  expect(page.match(/<path class="roof"/g)).toHaveLength(2);
  expect(page.match(/class="mark"/g)).toHaveLength(2);
  expect(page).toContain('gemm/square/1000x1000x1000: 1,000 GFLOP/s at 167 operations a byte');
  expect(page).toMatch(/>1,000 GFLOP\/s<.*>100 GB\/s</s);
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
});

test('has all numbers', () => {
  expect(pageOf(full).text).toContain(
    'gemm/square/1000x1000x1000 webgpu 1,000 6.00 2.00 ms 1.20 ms – 2.80 ms 12.3 ms 3 × 40',
  );
});

test('says what was not measured, and what is wrong', () => {
  const rows = [
    row(gemm, {
      webgpu: { status: 'wrong', detail: 'entry 3 is <NaN>' },
      cpu: { status: 'skipped', detail: 'would take 9 s' },
    }),
  ];
  const { text, page } = pageOf(rows, { isPart: true, op: 'ge*' });
  expect(text).toContain('Interrupted: only a part was measured A result is wrong or an op failed');
  expect(text).toContain('of the ops ge*');
  expect(text).toContain('webgpu 1 wrong or failed');
  expect(text).toContain('wrong : entry 3 is &#60;NaN&#62;');
  expect(text).toContain('skipped : would take 9 s');
  expect(page).not.toContain('<svg');
});

test('is a page also where nothing was measured, and where one number is all there is', () => {
  expect(pageOf([], { isPart: true }).text).toContain('0 cases');
  const single = { backends: [device('cpu')] };
  expect(pageOf([row(gemm, { cpu: measured(0.2) })], single).page).not.toMatch(/NaN|Infinity|undefined/);
  expect(pageOf([row(copy, { cpu: measured(0.2) })], single).page).not.toContain('class="roof"');
});

test('needs no network and no script, and closes what it opens', () => {
  const { page } = pageOf(full);
  expect(page).not.toMatch(/<script|https?:|url\(|@import|<link|<img| on\w+=/);
  const open: string[] = [];
  for (const [, end, name = '', empty] of page
    .replace(/<style>.*?<\/style>/s, '')
    .matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*?(\/?)>/g)) {
    if (empty === '/') continue;
    if (end === '') open.push(name);
    else expect(open.pop()).toBe(name);
  }
  expect(open).toEqual([]);
  expect(page).toContain('prefers-color-scheme: dark');
});
