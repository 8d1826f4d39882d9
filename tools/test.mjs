// @ts-check
// `npm test`: every test of every package. The last line is the plain count `N passed, N failed`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setUpChromium } from '../software-devices/chromium/setup.mjs';
import { setUpBun } from '../software-devices/bun/setup.mjs';
import { setUpDeno } from '../software-devices/deno/setup.mjs';
import { setUp as setUpIntelDriver } from '../software-devices/intel-driver/setup.mjs';
import { setUp as setUpLevelZero } from '../software-devices/level-zero-cpu/setup.mjs';
import { setUp as setUpVulkan } from '../software-devices/vulkan/setup.mjs';
import { prepare } from './lib/prepare.mjs';
import { run, runMain } from './lib/run.mjs';
import { countTests, formatCounts } from './lib/test-report.mjs';

await runMain(async () => {
  const prepared = await prepare();
  if (prepared !== 0) return prepared;
  // Without them the tests of the GPU backends run on what the machine has. CONCORD_REQUIRE makes a missing one a failure.
  setUpVulkan();
  setUpLevelZero();
  setUpIntelDriver();
  await setUpChromium();
  setUpDeno();
  setUpBun();

  const folder = mkdtempSync(join(tmpdir(), 'concord-test-'));
  try {
    const file = join(folder, 'report.json');
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const code = await run('vitest', ['run', ...reporters, ...process.argv.slice(2)]);
    if (code > 128) return code;
    const counts = countTests(readReport(file), code);
    console.log(formatCounts(counts));
    return code || (counts.failed > 0 || counts.passed === 0 ? 1 : 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** @param {string} file */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new Error('vitest ended without a report; the lines above say why');
  }
}
