// @ts-check
import { expect, test } from 'vitest';
import { countTests, formatCounts } from '../lib/test-report.mjs';

/** @param {string[]} statuses */
const file = (status = 'passed', ...statuses) => ({
  status,
  assertionResults: statuses.map((one) => ({ status: one })),
});

test('passed, failed and skipped tests are counted over all files', () => {
  const report = { testResults: [file('passed', 'passed', 'pending'), file('failed', 'failed', 'passed', 'todo')] };
  expect(formatCounts(countTests(report, 1))).toBe('2 passed, 1 failed, 2 skipped');
});

test('nothing skipped is said too', () => {
  expect(formatCounts(countTests({ testResults: [file('passed', 'passed')] }, 0))).toBe(
    '1 passed, 0 failed, 0 skipped',
  );
});

test('a file that did not load counts as failed', () => {
  const report = { testResults: [file('passed', 'passed'), file('failed')] };
  expect(formatCounts(countTests(report, 1))).toBe('1 passed, 1 failed, 0 skipped');
});

test('an error outside every test counts as failed', () => {
  expect(formatCounts(countTests({ testResults: [file('passed', 'passed')] }, 1))).toBe(
    '1 passed, 1 failed, 0 skipped',
  );
});
