// @ts-check
// `npm test`: tests of every package on every device, in minutes. `npm run test:all` runs all there are, and with `--rest`
// those alone that `npm test` leaves out. Named tests run whole: `npm test -- --project backend-cpu`.
// The last line is the plain count `N passed, N failed, N skipped`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from './lib/prepare.mjs';
import { run, runMain } from './lib/run.mjs';
import { CPU_MINUTES } from './lib/test-parts.mjs';
import { devicesOf } from './lib/set-up-devices.mjs';
import { countTests, formatCounts } from './lib/test-report.mjs';

const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== '--all' && arg !== '--rest');
const part = given.includes('--rest') ? 'rest' : given.includes('--all') || args.length > 0 ? 'all' : 'share';

await runMain(async () => {
  // Without devices the tests of the GPU backends run on the machine's. CONCORD_REQUIRE makes a missing one a failure.
  const setUp = join(import.meta.dirname, 'lib', 'set-up-devices.mjs');
  const codes = await Promise.all([prepare(), run(process.execPath, [setUp, ...devicesOf(args)])]);
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) return failed;

  const folder = mkdtempSync(join(tmpdir(), 'concord-test-'));
  try {
    const file = join(folder, 'report.json');
    const progress = join(import.meta.dirname, 'lib', 'progress-reporter.mjs');
    const reporters = ['default', progress, 'json'].map((name) => `--reporter=${name}`);
    if (args.length === 0) console.log(expectation());
    const env = { CONCORD_TEST_PART: part };
    const code = await run('vitest', ['run', ...reporters, `--outputFile.json=${file}`, ...args], { env });
    if (code > 128) return code;
    const counts = countTests(readReport(file), code);
    console.log(formatCounts(counts));
    return code || (counts.failed > 0 || counts.passed === 0 ? 1 : 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** The expected duration, and the other tests. */
function expectation() {
  const cores = availableParallelism();
  const minutes = Math.ceil(CPU_MINUTES[part] / cores);
  const which = { share: 'a share of the tests', rest: 'the tests that npm test leaves out', all: 'all tests' }[part];
  const others = part === 'share' ? '; npm run test:all runs all of them' : '';
  return `Running ${which}: about ${minutes} min on ${cores} cores that are idle${others}`;
}

/** @param {string} file */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error('vitest ended without a report; the lines above say why');
  }
}
