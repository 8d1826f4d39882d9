// @ts-check
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { toolEnvironment } from '../lib/run.mjs';
import { FAULT_VARIABLE, LOADED_VARIABLE } from './fault-plugin.mjs';
import { FAILURE_VARIABLE } from './first-failure.mjs';
import { plant } from './plant.mjs';
import { stagesOf } from './stages.mjs';

const REPORTER = `--reporter=${join(import.meta.dirname, 'first-failure.mjs')}`;

/**
 * The outcome of a fault. `invalid`: the fault itself is no program, or vitest failed, which says nothing of the tests.
 *
 * @typedef {object} Verdict
 * @property {import('./plant.mjs').NamedFault} fault
 * @property {'killed' | 'survived' | 'invalid' | 'stopped'} end
 * @property {string} by - the test that failed and why; of a survivor, whether tests loaded it
 * @property {Kill} [kill]
 *
 * @typedef {{ stage: import('./stages.mjs').Stage, failure: import('./first-failure.mjs').Failure }} Kill
 */

/**
 * Judges a fault by the tests that speak for its file, stage by stage, until one fails.
 *
 * @param {import('./plant.mjs').NamedFault} fault
 * @param {AbortSignal} signal
 * @returns {Promise<Verdict>}
 */
export async function judge(fault, signal) {
  try {
    plant(readFileSync(join(root, fault.file), 'utf8'), fault);
    let isLoaded = false;
    for (const stage of stagesOf(fault.file)) {
      const { failure, loaded } = await runStage(stage, fault, signal);
      if (signal.aborted) return { fault, end: 'stopped', by: '' };
      isLoaded ||= loaded;
      if (failure === undefined) continue;
      const by = `${stage.project}: ${failure.test}: ${failure.why}`;
      if (isNoProgram(failure.why)) return { fault, end: 'invalid', by };
      return { fault, end: 'killed', by, kill: { stage, failure } };
    }
    return { fault, end: 'survived', by: isLoaded ? '' : 'no test loads the file' };
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
  const kills = verdicts.flatMap(({ kill }) => (kill !== undefined && kill.failure.file !== '' ? [kill] : []));
  const stages = new Map(kills.map(({ stage }) => [keyOf(stage), stage]));
  const failing = [];
  for (const [key, stage] of stages) {
    const failures = kills.filter((kill) => keyOf(kill.stage) === key).map(({ failure }) => failure);
    const files = [...new Set(failures.map(({ file }) => file))];
    const tests = [...new Set(failures.map(({ test }) => test.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)))];
    // A file that does not load fails whatever test is asked for.
    const only = tests.filter((test) => test !== '').join('|') || 'no test';
    const { failure } = await runStage({ ...stage, files, only }, undefined, signal);
    if (failure !== undefined && !signal.aborted) failing.push(`${failure.file} ${failure.test}: ${failure.why}`);
  }
  return failing;
}

/** @param {import('./stages.mjs').Stage} stage */
function keyOf({ project, part, env }) {
  return JSON.stringify([project, part, env]);
}

/**
 * Runs the tests of a stage in their own processes, until the first one fails.
 *
 * @param {import('./stages.mjs').Stage} stage
 * @param {import('./plant.mjs').Fault | undefined} fault
 * @param {AbortSignal} signal
 * @returns {Promise<{ failure: import('./first-failure.mjs').Failure | undefined, loaded: boolean }>}
 * @throws {Error} when vitest itself fails
 */
async function runStage(stage, fault, signal) {
  const folder = mkdtempSync(join(tmpdir(), 'concord-mutate-'));
  try {
    const [failure, loaded] = [join(folder, 'failure.json'), join(folder, 'loaded')];
    const { code, output } = await runVitest(stage, signal, {
      ...stage.env,
      CONCORD_REQUIRE: 'webgpu,level-zero,wasm',
      CONCORD_TEST_PART: stage.part,
      [FAULT_VARIABLE]: fault === undefined ? '' : JSON.stringify(fault),
      [LOADED_VARIABLE]: loaded,
      [FAILURE_VARIABLE]: failure,
    });
    const found = existsSync(failure) ? JSON.parse(readFileSync(failure, 'utf8')) : undefined;
    if (code !== 0 && found === undefined && !signal.aborted) throw new Error(`vitest failed: ${output}`);
    return { failure: found, loaded: existsSync(loaded) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {import('./stages.mjs').Stage} stage
 * @param {AbortSignal} signal
 * @param {Record<string, string>} env
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function runVitest({ project, files, exclude = [], only }, signal, env) {
  const args = [
    ...['run', '--project', project, '--maxWorkers=1', '--passWithNoTests', '--testTimeout=0', REPORTER],
    ...exclude.flatMap((pattern) => ['--exclude', pattern]),
    // In one argument: names of tests may begin with a dash.
    ...(only === undefined ? [] : [`--testNamePattern=${only}`]),
    ...files,
  ];
  return new Promise((resolve, reject) => {
    // In its own process group: with a fault, tests may leave processes running.
    const child = spawn('vitest', args, {
      ...{ cwd: root, env: { ...toolEnvironment(), ...env }, detached: true },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output = (output + String(chunk)).slice(-20_000);
      });
    }
    const kill = () => killGroup(child.pid);
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

/** @param {number | undefined} group */
function killGroup(group) {
  try {
    if (group !== undefined) process.kill(-group, 'SIGKILL');
  } catch {
    // None of it is left.
  }
}

/**
 * Returns whether a failure says that the changed source is no program.
 *
 * @param {string} failure
 */
export function isNoProgram(failure) {
  return /SyntaxError|PARSE_ERROR|Transform failed/.test(failure);
}
