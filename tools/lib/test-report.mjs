// @ts-check

/** @typedef {{ status: string }} Assertion */
/** @typedef {{ status: string, assertionResults: Assertion[] }} TestFile */

/**
 * Counts the tests in vitest's JSON report.
 *
 * @param {{ testResults: TestFile[] }} report
 * @param {number} exitCode vitest's own
 */
export function countTests(report, exitCode) {
  const statuses = report.testResults.flatMap((file) => file.assertionResults.map((test) => test.status));
  const passed = statuses.filter((status) => status === 'passed').length;
  // A file that did not load reports no test at all, and an unhandled error none that failed: neither may look like 0.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = statuses.filter((status) => status === 'failed').length + broken;
  const skipped = statuses.filter((status) => status !== 'passed' && status !== 'failed').length;
  return { passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed, skipped };
}

/** @param {ReturnType<typeof countTests>} counts */
export function formatCounts({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
