// @ts-check
// A line now and then on how far a run of the tests is, and at its end their plain count: for vitest.
/** Between two lines. */
const EVERY_MS = 15_000;

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
  #files = 0;
  #done = 0;
  #tests = 0;
  #started = Date.now();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /** @param {readonly unknown[]} specifications */
  onTestRunStart(specifications) {
    this.#files = specifications.length;
    this.#timer = setInterval(() => console.log(this.#line()), EVERY_MS);
    this.#timer.unref();
  }

  /** @param {import('vitest/node').TestModule} module */
  onTestModuleEnd(module) {
    this.#done++;
    this.#tests += [...module.children.allTests()].length;
  }

  /** @param {readonly import('vitest/node').TestModule[]} modules @param {readonly unknown[]} errors */
  onTestRunEnd(modules, errors) {
    clearInterval(this.#timer);
    const { passed, failed, skipped } = countTests(modules, errors.length);
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    if (passed === 0) process.exitCode = 1;
  }

  /** Such as `90 s: 84 of 230 files, 5,120 tests`. */
  #line() {
    const seconds = Math.round((Date.now() - this.#started) / 1000);
    return `${seconds} s: ${this.#done} of ${this.#files} files, ${this.#tests.toLocaleString('en')} tests`;
  }
}
