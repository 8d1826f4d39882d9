// @ts-check
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../lib/paths.mjs';
import { countTests } from '../lib/progress-reporter.mjs';
import { DIVIDED, environmentOf, LONG, partOf, sampleOfTenth, testsOf, TURN_OF, TURNS } from '../lib/test-parts.mjs';

test('every file that is named is there, in one list only', () => {
  const files = [...DIVIDED, ...Object.keys(LONG)];
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(new Set(files).size).toBe(files.length);
});

test('what the share leaves out is what the rest runs, beside the files that are divided', () => {
  for (const folder of ['packages/backend-webgpu', 'packages/conformance', 'packages/backend-core']) {
    const divided = DIVIDED.filter((file) => file.startsWith(`${folder}/`)).map((file) =>
      file.slice(folder.length + 1),
    );
    expect(testsOf('rest', folder).include).toEqual([...divided, ...testsOf('share', folder).exclude]);
  }
  expect(testsOf('share', 'packages/conformance').exclude).toContain('test/mutants.test.ts');
  expect(testsOf('rest', 'packages/backend-core').include).toEqual([]);
  expect(testsOf('all', 'packages/conformance')).toEqual({ include: undefined, exclude: [] });
});

const ALL_TURNS = Array.from({ length: TURNS }, (_, i) => String(i + 1));

test('what one turn leaves out is in one of the others', () => {
  const here = Object.keys(TURN_OF).filter((file) => file.startsWith('packages/backend-webgpu/'));
  for (const file of here) {
    const inFolder = file.slice('packages/backend-webgpu/'.length);
    const run = ALL_TURNS.filter(
      (turn) => !testsOf('rest', 'packages/backend-webgpu', turn).exclude.includes(inFolder),
    );
    expect(run).toEqual([String(TURN_OF[file])]);
  }
  expect(Object.keys(TURN_OF).filter((file) => !(file in LONG || DIVIDED.includes(file)))).toEqual([]);
});

test('a share of conformance ends where the rest begins, and each turn where the next one does', () => {
  const parts = [environmentOf('share'), ...ALL_TURNS.map((turn) => environmentOf('rest', turn))];
  const begins = parts.map((env) => env['CONCORD_SAMPLE_AFTER'] ?? '0');
  expect([...begins, '1']).toEqual(['0', ...parts.map((env) => env['CONCORD_SAMPLE'])]);
  expect(environmentOf('rest')).toEqual({ ...parts[1], CONCORD_SAMPLE: '1' });
  expect(environmentOf('all')).toEqual({});
  for (const wrong of ['0', '9', '1.5', 'one']) {
    expect(() => environmentOf('rest', wrong)).toThrow(`CONCORD_TEST_TURN must be 1 to 8, got ${wrong}`);
  }
  const tenths = [sampleOfTenth('share'), ...ALL_TURNS.map((turn) => sampleOfTenth('rest', turn))];
  expect([...tenths.map((env) => env.CONCORD_SAMPLE_AFTER), '0.1']).toEqual([
    '0',
    ...tenths.map((env) => env.CONCORD_SAMPLE),
  ]);
  expect(sampleOfTenth('all')).toEqual({ CONCORD_SAMPLE: '0.1', CONCORD_SAMPLE_AFTER: '0' });
});

test('the part is one of three', () => {
  expect([{}, { CONCORD_TEST_PART: 'rest' }].map(partOf)).toEqual(['all', 'rest']);
  expect(() => partOf({ CONCORD_TEST_PART: 'some' })).toThrow('must be share, rest or all, got some');
});

test('a file that did not load and an error outside of every test count as failed', () => {
  const file = (/** @type {string} */ state, /** @type {string[]} */ ...states) => ({
    state: () => state,
    children: { allTests: () => states.map((own) => ({ result: () => ({ state: own }) })) },
  });
  const fine = file('passed', 'passed', 'skipped');
  expect(countTests([fine, file('failed', 'failed', 'passed')], 1)).toEqual({ passed: 2, failed: 1, skipped: 1 });
  expect(countTests([fine, file('failed')], 0)).toEqual({ passed: 1, failed: 1, skipped: 1 });
  expect(countTests([fine], 1)).toEqual({ passed: 1, failed: 1, skipped: 1 });
  expect(countTests([fine], 0)).toEqual({ passed: 1, failed: 0, skipped: 1 });
});
