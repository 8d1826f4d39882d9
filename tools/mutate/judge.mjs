// @ts-check
import { runTests } from './run-tests.mjs';
import { stagesOf } from './stages.mjs';

/** More processor time than a run without a fault takes, by far: a run that needs this much will not end. */
const TIMES = 6;
const SPARE_SECONDS = 30;

/**
 * The outcome of a fault. `invalid`: the fault itself is no program, which says nothing of the tests.
 *
 * @typedef {object} Verdict
 * @property {import('./plant.mjs').NamedFault} fault
 * @property {'killed' | 'killed by time' | 'survived' | 'invalid' | 'stopped'} end
 * @property {string} by - the test that failed and why; of a survivor, whether tests loaded it
 * @property {number} cpuSeconds
 */

/** Judges faults by the tests that speak for their files. */
export class Judge {
  /** The run of each stage without a fault: its limit, and the proof that it passes. */
  #unmutated = new Map();
  #signal;

  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.#signal = signal;
  }

  /**
   * @param {import('./plant.mjs').NamedFault} fault
   * @returns {Promise<Verdict>}
   * @throws {Error} when the tests fail without a fault
   */
  async judge(fault) {
    let cpuSeconds = 0;
    let loaded = false;
    for (const stage of stagesOf(fault.file)) {
      const limit = await this.#limitOf(stage);
      if (limit === undefined) return { fault, end: 'stopped', by: '', cpuSeconds };
      const run = await runTests(stage, fault, { maxCpuSeconds: limit, signal: this.#signal });
      cpuSeconds += run.cpuSeconds;
      loaded ||= run.loaded;
      if (run.end === 'stopped') return { fault, end: 'stopped', by: '', cpuSeconds };
      if (run.end === 'cpu') return { fault, end: 'killed by time', by: `more than ${limit} s of CPU`, cpuSeconds };
      if (run.end === 'hung') return { fault, end: 'killed by time', by: 'all of it waits for ever', cpuSeconds };
      if (run.end === 'failed') {
        const end = isNoProgram(run.failure) ? 'invalid' : 'killed';
        return { fault, end, by: `${stage.project}: ${run.failure}`, cpuSeconds };
      }
    }
    return { fault, end: 'survived', by: loaded ? '' : 'no test loads the file', cpuSeconds };
  }

  /**
   * @param {import('./stages.mjs').Stage} stage
   * @returns {Promise<number | undefined>} seconds of CPU; undefined when stopped
   */
  #limitOf(stage) {
    const key = JSON.stringify(stage);
    let limit = this.#unmutated.get(key);
    if (limit === undefined) {
      limit = this.#measure(stage);
      this.#unmutated.set(key, limit);
    }
    return limit;
  }

  /** @param {import('./stages.mjs').Stage} stage */
  async #measure(stage) {
    const run = await runTests(stage, undefined, { maxCpuSeconds: Infinity, signal: this.#signal });
    if (run.end === 'stopped') return undefined;
    if (run.end !== 'passed') {
      throw new Error(`without a fault, ${stage.project} ${stage.files.join(' ')} ${run.end}: ${run.failure}`);
    }
    return Math.ceil(TIMES * run.cpuSeconds + SPARE_SECONDS);
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
