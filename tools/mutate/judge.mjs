// @ts-check
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { toolEnvironment } from '../lib/run.mjs';
import { FAILURE_VARIABLE } from './first-failure.mjs';
import { FAULT_VARIABLE, plant } from './faults.mjs';
import { stagesOf } from './stages.mjs';

/**
 * The outcome of a fault. `invalid`: the fault itself is no program, or vitest failed, which says nothing of the tests.
 *
 * @typedef {object} Verdict
 * @property {import('./faults.mjs').Fault} fault
 * @property {'killed' | 'survived' | 'invalid' | 'stopped'} end
 * @property {string} by - the test that failed and why
 * @property {Kill} [kill]
 *
 * @typedef {import('./stages.mjs').Stage} Stage
 * @typedef {import('./first-failure.mjs').Failure} Failure
 * @typedef {{ stage: Stage, failure: Failure }} Kill
 */

/**
 * Judges a fault by the tests that speak for its file, stage by stage, until one fails.
 *
 * @param {import('./faults.mjs').Fault} fault
 * @param {AbortSignal} signal
 * @returns {Promise<Verdict>}
 */
export async function judge(fault, signal) {
  try {
    plant(readFileSync(join(root, fault.file), 'utf8'), fault);
    for (const stage of stagesOf(fault.file)) {
      const failure = await runStage(stage, fault, signal);
      if (signal.aborted) return { fault, end: 'stopped', by: '' };
      if (failure === undefined) continue;
      const by = `${stage.project}: ${failure.test}: ${failure.why}`;
      return isNoProgram(failure.why)
        ? { fault, end: 'invalid', by }
        : { fault, end: 'killed', by, kill: { stage, failure } };
    }
    return { fault, end: 'survived', by: '' };
  } catch (error) {
    return { fault, end: 'invalid', by: String(error) };
  }
}

/**
 * The tests that killed faults and fail without a fault too, so that they killed nothing.
 *
 * @param {readonly Verdict[]} verdicts
 * @param {AbortSignal} signal
 * @returns {Promise<string[]>} what failed, and why
 */
export async function failingAnyway(verdicts, signal) {
  /** @type {Map<string, Kill[]>} */
  const byStage = new Map();
  for (const { kill } of verdicts) {
    if (kill === undefined || kill.failure.file === '') continue;
    const key = JSON.stringify([kill.stage.project, kill.stage.part, kill.stage.env]);
    byStage.set(key, [...(byStage.get(key) ?? []), kill]);
  }
  const failing = [];
  for (const kills of byStage.values()) {
    const files = [...new Set(kills.map(({ failure }) => failure.file))];
    const tests = kills.map(({ failure }) => failure.test.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
    // A file that does not load fails whatever test is asked for.
    const only = [...new Set(tests)].filter(Boolean).join('|') || 'no test';
    const failure = await runStage({ .../** @type {Kill} */ (kills[0]).stage, files, only }, undefined, signal);
    if (failure !== undefined && !signal.aborted) failing.push(`${failure.file} ${failure.test}: ${failure.why}`);
  }
  return failing;
}

/**
 * Runs the tests of a stage in their own processes, until the first one fails.
 *
 * @param {Stage} stage
 * @param {import('./faults.mjs').Fault | undefined} fault
 * @param {AbortSignal} signal
 * @returns {Promise<Failure | undefined>}
 * @throws {Error} when vitest itself fails
 */
async function runStage({ project, files, part, exclude = [], only, env }, fault, signal) {
  const folder = mkdtempSync(join(tmpdir(), 'concord-mutate-'));
  const failed = join(folder, 'failure.json');
  const args = [
    ...['run', '--project', project, '--maxWorkers=1', '--passWithNoTests', '--testTimeout=0'],
    `--reporter=${join(import.meta.dirname, 'first-failure.mjs')}`,
    ...exclude.flatMap((pattern) => ['--exclude', pattern]),
    // In one argument: names of tests may begin with a dash.
    ...(only === undefined ? [] : [`--testNamePattern=${only}`]),
    ...files,
  ];
  try {
    const { code, output } = await runVitest(args, signal, {
      ...env,
      CONCORD_REQUIRE: 'webgpu,level-zero,wasm',
      CONCORD_TEST_PART: part,
      [FAULT_VARIABLE]: fault === undefined ? '' : JSON.stringify(fault),
      [FAILURE_VARIABLE]: failed,
    });
    const failure = existsSync(failed) ? JSON.parse(readFileSync(failed, 'utf8')) : undefined;
    if (code !== 0 && failure === undefined && !signal.aborted) throw new Error(`vitest failed: ${output}`);
    return failure;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {readonly string[]} args
 * @param {AbortSignal} signal
 * @param {Record<string, string>} env
 * @returns {Promise<{ code: number | null, output: string }>} the output's last lines
 */
function runVitest(args, signal, env) {
  return new Promise((resolve, reject) => {
    // In its own process group: with a fault, tests may leave processes running.
    const child = spawn('vitest', args, {
      ...{ cwd: root, env: { ...toolEnvironment(), ...env }, detached: true },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (output = (output + String(chunk)).slice(-20_000)));
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // None of it is left.
      }
    };
    signal.addEventListener('abort', kill);
    child.once('error', reject);
    child.once('exit', (code) => {
      signal.removeEventListener('abort', kill);
      kill();
      resolve({ code, output: output.trim().split('\n').slice(-5).join(' | ') });
    });
    if (signal.aborted) kill();
  });
}

/**
 * Returns whether a failure says that the changed source is no program.
 *
 * @param {string} failure
 */
export function isNoProgram(failure) {
  return /SyntaxError|PARSE_ERROR|Transform failed/.test(failure);
}
