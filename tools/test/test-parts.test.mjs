// @ts-check
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../lib/paths.mjs';
import { countTests } from '../lib/progress-reporter.mjs';
import { DIVIDED, environmentOf, HALVES, LONG, partOf, sampleOfTenth, testsOf } from '../lib/test-parts.mjs';

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

test('what one half leaves out is in the other', () => {
  const left = ['1', '2'].map((half) => testsOf('rest', 'packages/backend-webgpu', half).exclude);
  const here = Object.keys(HALVES).filter((file) => file.startsWith('packages/backend-webgpu/'));
  expect(left.flat().sort()).toEqual(here.map((file) => file.slice('packages/backend-webgpu/'.length)).sort());
  expect(Object.keys(HALVES).filter((file) => !(file in LONG))).toEqual([]);
});

test('a share of conformance ends where the rest begins', () => {
  expect(environmentOf('share')['CONCORD_SAMPLE']).toBe(environmentOf('rest')['CONCORD_SAMPLE_AFTER']);
  expect(environmentOf('all')).toEqual({});
  const [first, second] = [environmentOf('rest', '1'), environmentOf('rest', '2')];
  const ends = [first['CONCORD_SAMPLE_AFTER'], second['CONCORD_SAMPLE'], second['CONCORD_SAMPLE_AFTER']];
  expect(ends).toEqual([environmentOf('rest')['CONCORD_SAMPLE_AFTER'], '1', first['CONCORD_SAMPLE']]);
  expect(() => environmentOf('rest', '3')).toThrow('must be 1 or 2, got 3');
  expect(sampleOfTenth('share').CONCORD_SAMPLE).toBe(sampleOfTenth('rest').CONCORD_SAMPLE_AFTER);
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
