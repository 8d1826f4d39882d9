import type { CaseResult } from '@concord/conformance';
import { expect, test } from 'vitest';
import type { BackendRun, ConformanceRun } from '../conformance/backend-run.ts';
import { conformancePage } from './conformance-page.ts';

const environment = { date: new Date('2026-11-21T12:34:56Z'), concord: '1.2.3', host: 'Node.js v20.20.2, linux x64' };

const passed: CaseResult = { id: 'gemm/exact/m=2', op: 'gemm', status: 'passed', ms: 1 };
const wrong: CaseResult = {
  ...{ id: 'unary/range/fn=exp', op: 'unary', status: 'failed', ms: 1, detail: 'exp: 3 of 4096 wrong' },
  mismatch: {
    ...{ what: 'exp', unit: 'element', wrong: 3, total: 4096, index: 1234 },
    ...{ got: Number.NaN, want: 2.5, bound: 0.000_012_34, inputs: 'exp(0.9162907)' },
  },
};
const refused: CaseResult = { id: 'unary/refuses/<n>', op: 'unary', status: 'failed', ms: 1, detail: 'got "a" & <b>' };
const unsupported: CaseResult = {
  id: 'attention/a',
  op: 'attention',
  status: 'unsupported',
  ms: 0,
  detail: 'no kernel',
};

const cpu: BackendRun = {
  backend: 'cpu',
  device: { vendor: 'Acme', name: 'Acme <9000>', type: 'discrete', driver: 'Acme 1.2', memoryBytes: 2 ** 34 },
  versions: { conformance: '4.5.6', driver: 'Acme 1.2' },
  ...{ cases: [passed], exitCode: 0, ms: 1500 },
};
const broken: BackendRun = { ...cpu, backend: 'webgpu', cases: [passed, wrong, refused, unsupported], exitCode: 1 };
const absent: BackendRun = {
  ...{ backend: 'level-zero', device: null, versions: {}, cases: [], exitCode: 3, ms: 5 },
  notRun: {
    ...{ backend: 'level-zero', message: 'no <device>', hint: 'install a driver' },
    ...{ isRequired: false, isFailure: false },
  },
};

/** The page as text, blanks made single, with the elements left out. */
function pageOf(backends: readonly BackendRun[], rest: Partial<ConformanceRun> = {}): { page: string; text: string } {
  const page = conformancePage({ backends, selected: 4, ...rest }, environment);
  const body = page.replace(/^.*<body>/s, '');
  return { page, text: body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ') };
}

test('shows device, versions, counts and verdict of each backend', () => {
  const { text } = pageOf([cpu, broken]);
  expect(text).toContain('cpu: passed , webgpu: 2 failed');
  expect(text).toContain('Device Acme &#60;9000&#62; (discrete) Vendor Acme Memory 16 GiB Suite 4.5.6 Driver Acme 1.2');
  expect(text).toContain('✗ 2 failed ✓ 1 passed – 1 unsupported');
  expect(text).toContain('2026-11-21 12:34 UTC by concord 1.2.3 on Node.js v20.20.2, linux x64');
});

test('has a row for an op and a column for a backend', () => {
  const { page } = pageOf([cpu, broken, absent]);
  const row = page.slice(page.indexOf('<th scope="row">unary</th>')).replace(/<\/tr>.*/s, '');
  expect(row.match(/data-backend="[^"]*"/g)).toEqual(
    ['cpu', 'webgpu', 'level-zero'].map((name) => `data-backend="${name}"`),
  );
  expect(row).toMatch(/no cases.*href="#failed-webgpu-unary".*2 failed.*not run/s);
  expect(page).toContain('id="failed-webgpu-unary"');
});

test('shows where a value is first wrong, and by how much', () => {
  const { text } = pageOf([broken]);
  expect(text).toContain('exp: 3 of 4,096 elements wrong (under 0.1 %)');
  expect(text).toContain(
    'First bad element [1,234] Got NaN Want 2.5 Bound ± 0.0000123 Off by not a distance Computed from exp(0.9162907)',
  );
  expect(text).toContain('got &#34;a&#34; &#38; &#60;b&#62;');
  expect(text).toContain('Again: concord conformance --backend webgpu --filter &#39;unary/range/fn=exp&#39;');
  const origin = " --module './b.js'";
  expect(pageOf([{ ...broken, origin }]).text).toContain('--backend webgpu --module &#39;./b.js&#39; --filter');
});

test('says why something was not run, and what a backend declares to lack', () => {
  const { text } = pageOf([broken, absent]);
  expect(text).toContain('Reason no &#60;device&#62; What to do install a driver Counts as not run: no failure');
  expect(text).toContain('attention: no kernel (1 case)');
  const notRun = { ...absent.notRun, isRequired: true, isFailure: true } as NonNullable<BackendRun['notRun']>;
  expect(pageOf([{ ...absent, notRun }]).text).toContain('a failure: CONCORD_REQUIRE names it');
});

test('says that it is a part of the suite', () => {
  expect(pageOf([cpu]).text).toContain('All 4 cases');
  const { text } = pageOf([cpu], { filter: '<gemm>', sample: 0.1 });
  expect(text).toContain('Only a part of the suite: 4 cases matching &#60;gemm&#62; , a sample of 10 %');
});

test('needs no network and no script, and closes what it opens', () => {
  const { page } = pageOf([cpu, broken, absent]);
  expect(page).not.toMatch(/<script|https?:|url\(|@import|<link|<img| on\w+=/);
  const open: string[] = [];
  for (const [, end, name = ''] of page.replace(/<style>.*?<\/style>/s, '').matchAll(/<(\/?)([a-z][a-z0-9]*)/g)) {
    if (name === 'meta') continue;
    if (end === '') open.push(name);
    else expect(open.pop()).toBe(name);
  }
  expect(open).toEqual([]);
  expect(page).toContain('prefers-color-scheme: dark');
});

test('folds many failures of one op, and no few', () => {
  const many = Array.from({ length: 11 }, (_, i): CaseResult => ({ ...refused, id: `unary/${i}` }));
  expect(pageOf([{ ...broken, cases: many }]).page).toMatch(/<details\s*>/);
  expect(pageOf([broken]).page).toMatch(/<details open>/);
});
