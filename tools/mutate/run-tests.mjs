// @ts-check
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { toolEnvironment } from '../lib/run.mjs';
import { FAULT_VARIABLE, LOADED_VARIABLE } from './fault-plugin.mjs';
import { isHung, LOOKS_OF_A_HANG, usageOfGroup } from './processes.mjs';

const LOOK_EVERY_MS = 500;

/**
 * The outcome of a run of tests. `stopped`: by the signal of the caller.
 *
 * @typedef {object} TestRun
 * @property {'passed' | 'failed' | 'cpu' | 'hung' | 'stopped'} end
 * @property {number} cpuSeconds
 * @property {number} tests - that passed
 * @property {string} failure - the first test that failed, and the first line of why
 * @property {boolean} loaded - whether a test loaded the file with the fault
 */

/**
 * Runs tests with a fault in place, or without one, in their own processes. They end with the first test that fails;
 * after more than `maxCpuSeconds` of processor time; or when they have only waited for a minute. None of
 * these limits is one that a busy machine reaches sooner.
 *
 * @param {import('./stages.mjs').Stage} stage
 * @param {import('./plant.mjs').Fault | undefined} fault
 * @param {{ maxCpuSeconds: number, signal: AbortSignal }} options
 * @returns {Promise<TestRun>}
 */
export async function runTests(stage, fault, { maxCpuSeconds, signal }) {
  const folder = mkdtempSync(join(tmpdir(), 'concord-mutate-'));
  try {
    const [report, loaded] = [join(folder, 'report.json'), join(folder, 'loaded')];
    const { end, code, cpuSeconds, output } = await watch(
      ['vitest', argumentsOf(stage, report)],
      {
        ...stage.env,
        CONCORD_REQUIRE: 'webgpu,level-zero',
        [FAULT_VARIABLE]: fault === undefined ? 'none' : JSON.stringify(fault),
        [LOADED_VARIABLE]: loaded,
      },
      { maxCpuSeconds, signal },
    );
    const { tests, failure } = readReport(report);
    return {
      end: end ?? (code === 0 && tests > 0 ? 'passed' : 'failed'),
      cpuSeconds,
      tests,
      failure: failure || lastLines(output),
      loaded: existsSync(loaded),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {import('./stages.mjs').Stage} stage
 * @param {string} report
 */
function argumentsOf({ project, files, exclude = [], only }, report) {
  return [
    ...['run', '--project', project, '--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`],
    ...exclude.flatMap((pattern) => ['--exclude', pattern]),
    ...(only === undefined ? [] : ['-t', only]),
    ...files,
  ];
}

/**
 * @param {readonly [command: string, args: readonly string[]]} program
 * @param {Record<string, string>} env
 * @param {{ maxCpuSeconds: number, signal: AbortSignal }} options
 * @returns {Promise<{ end: 'cpu' | 'hung' | 'stopped' | undefined, code: number | null, cpuSeconds: number, output: string }>}
 */
function watch([command, args], env, { maxCpuSeconds, signal }) {
  return new Promise((resolve, reject) => {
    // Its own process group: with a fault, tests may leave processes running.
    const child = spawn(command, args, {
      cwd: root,
      env: { ...toolEnvironment(), ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const group = /** @type {number} */ (child.pid);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output = (output + String(chunk)).slice(-20_000);
      });
    }
    /** @type {'cpu' | 'hung' | 'stopped' | undefined} */
    let end;
    let cpuSeconds = 0;
    /** @type {import('./processes.mjs').Usage[]} */
    const looks = [];
    const stop = (/** @type {'cpu' | 'hung' | 'stopped'} */ why) => {
      end ??= why;
      killGroup(group);
    };
    const timer = setInterval(() => {
      const usage = usageOfGroup(group);
      looks.push(usage);
      if (looks.length > LOOKS_OF_A_HANG) looks.shift();
      cpuSeconds = Math.max(cpuSeconds, usage.cpuSeconds);
      if (cpuSeconds > maxCpuSeconds) stop('cpu');
      else if (isHung(looks)) stop('hung');
    }, LOOK_EVERY_MS);
    const onAbort = () => stop('stopped');
    signal.addEventListener('abort', onAbort);
    const done = () => {
      clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
    };
    child.once('error', (error) => {
      done();
      reject(new Error(`cannot run ${command}: ${error.message}`));
    });
    child.once('exit', (code) => {
      done();
      killGroup(group);
      resolve({ end, code, cpuSeconds, output });
    });
    if (signal.aborted) onAbort();
  });
}

/** @param {number} group */
function killGroup(group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // None of it is left.
  }
}

/** @param {string} file */
function readReport(file) {
  if (!existsSync(file)) return { tests: 0, failure: '' };
  const report = JSON.parse(readFileSync(file, 'utf8'));
  let failure = '';
  for (const suite of report.testResults) {
    for (const test of suite.assertionResults) {
      if (test.status === 'failed') failure ||= `${test.title}: ${firstLine(test.failureMessages?.[0])}`;
    }
    if (suite.status === 'failed' && suite.message) failure ||= `${suite.name}: ${firstLine(suite.message)}`;
  }
  return { tests: report.numPassedTests, failure };
}

/** @param {string | undefined} text */
function firstLine(text) {
  return (text ?? '').split('\n', 1)[0]?.slice(0, 200) ?? '';
}

/** @param {string} output */
function lastLines(output) {
  return output.trim().split('\n').slice(-3).join(' | ').slice(0, 300);
}
