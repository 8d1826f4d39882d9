// @ts-check
// `npm test`: tests of every package on every device, in minutes. `npm run test:all` runs all there are, and with `--rest`
// those alone that `npm test` leaves out, with CONCORD_TEST_TURN=1 to 8 an eighth of what takes longest. Named tests run
// whole: `npm test -- --project backend-cpu`.
// The last line is the plain count `N passed, N failed, N skipped`.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { prepare } from './lib/prepare.mjs';
import { run, runMain } from './lib/run.mjs';
import { CPU_MINUTES } from './lib/test-parts.mjs';
import { devicesOf } from './lib/set-up-devices.mjs';

const given = process.argv.slice(2);
const args = given.filter((arg) => arg !== '--all' && arg !== '--rest');
const part = given.includes('--rest') ? 'rest' : given.includes('--all') || args.length > 0 ? 'all' : 'share';

await runMain(async () => {
  // Without devices the tests of the GPU backends run on the machine's. CONCORD_REQUIRE makes a missing one a failure.
  const setUp = join(import.meta.dirname, 'lib', 'set-up-devices.mjs');
  const codes = await Promise.all([prepare(), run(process.execPath, [setUp, ...devicesOf(args)])]);
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) return failed;

  const progress = join(import.meta.dirname, 'lib', 'progress-reporter.mjs');
  if (args.length === 0) console.log(expectation());
  // Lavapipe compiles its shaders without optimising them: that takes longer than they run.
  const env = { CONCORD_TEST_PART: part, GALLIVM_PERF: process.env['GALLIVM_PERF'] ?? 'nopt' };
  return run('vitest', ['run', '--reporter=default', `--reporter=${progress}`, ...args], { env });
});

/** The expected duration, and the other tests. */
function expectation() {
  const cores = availableParallelism();
  const minutes = Math.ceil(CPU_MINUTES[part] / cores);
  const which = { share: 'a share of the tests', rest: 'the tests that npm test leaves out', all: 'all tests' }[part];
  const others = part === 'share' ? '; npm run test:all runs all of them' : '';
  return `Running ${which}: about ${minutes} min on ${cores} cores that are idle${others}`;
}
