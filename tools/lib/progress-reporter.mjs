// @ts-check
// A line now and then on how far a run of the tests is, and at its end their plain count: for vitest.
import { LONG } from './test-parts.mjs';

/** Between two lines. */
const EVERY_MS = 15_000;

/** The seconds of CPU time that a short file counts as. */
const SHORT = 1;

/** @param {string} file */
const weightOf = (file) => Object.entries(LONG).find(([long]) => file.endsWith(`/${long}`))?.[1] ?? SHORT;

/** Counts the files that are done, each by the time that it takes. */
export class Progress {
  #now;
  #started;
  #total = 0;
  #done = 0;
  #files = 0;
  #filesDone = 0;
  #tests = 0;
  #failed = 0;

  /** @param {() => number} now milliseconds */
  constructor(now = Date.now) {
    this.#now = now;
    this.#started = now();
  }

  /** @param {readonly string[]} files */
  start(files) {
    this.#files = files.length;
    this.#total = files.reduce((sum, file) => sum + weightOf(file), 0);
  }

  /** @param {string} file @param {number} tests @param {number} failed */
  end(file, tests, failed) {
    this.#filesDone++;
    this.#done += weightOf(file);
    this.#tests += tests;
    this.#failed += failed;
  }

  /** Such as `1 min 30 s: 84 of 230 files, 5,120 tests, 0 failed; about 3 min to go`. */
  line() {
    const ms = this.#now() - this.#started;
    const left = this.#done === 0 ? undefined : (ms * (this.#total - this.#done)) / this.#done;
    const minutes = left === undefined ? '' : `; about ${Math.max(1, Math.ceil(left / 60_000))} min to go`;
    const [files, tests] = [`${this.#filesDone} of ${this.#files} files`, `${this.#tests.toLocaleString('en')} tests`];
    return `${minutesAndSeconds(ms)}: ${files}, ${tests}, ${this.#failed} failed${minutes}`;
  }
}

/** @param {number} ms */
function minutesAndSeconds(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/**
 * Such as `5120 passed, 0 failed, 3 skipped`. A file that did not load has no test at all, and an unhandled error none that failed: neither
 * may look like 0.
 *
 * @param {readonly { state(): string, children: { allTests(): Iterable<{ result(): { state: string } }> } }[]} modules
 * @param {number} unhandled errors outside of all tests
 */
export function countTests(modules, unhandled) {
  const states = modules.flatMap((module) => {
    const own = [...module.children.allTests()].map((test) => test.result().state);
    return module.state() === 'failed' && !own.includes('failed') ? [...own, 'failed'] : own;
  });
  const passed = states.filter((state) => state === 'passed').length;
  const failed = states.filter((state) => state === 'failed').length;
  return { passed, failed: failed === 0 && unhandled > 0 ? 1 : failed, skipped: states.length - passed - failed };
}

/** The reporter. A run in which nothing passed fails. */
export default class ProgressReporter {
  #progress = new Progress();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /** @param {readonly { moduleId: string }[]} specifications */
  onTestRunStart(specifications) {
    this.#progress.start(specifications.map(({ moduleId }) => moduleId));
    this.#timer = setInterval(() => console.log(this.#progress.line()), EVERY_MS);
    this.#timer.unref();
  }

  /** @param {import('vitest/node').TestModule} module */
  onTestModuleEnd(module) {
    const tests = [...module.children.allTests()];
    this.#progress.end(module.moduleId, tests.length, tests.filter((test) => test.result().state === 'failed').length);
  }

  /** @param {readonly import('vitest/node').TestModule[]} modules @param {readonly unknown[]} errors */
  onTestRunEnd(modules, errors) {
    clearInterval(this.#timer);
    const { passed, failed, skipped } = countTests(modules, errors.length);
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    if (passed === 0) process.exitCode = 1;
  }
}
