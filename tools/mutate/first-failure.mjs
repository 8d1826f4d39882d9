// @ts-check
import { writeFileSync } from 'node:fs';

/** Names the file that the first failure is written to, as JSON. */
export const FAILURE_VARIABLE = 'CONCORD_FAILURE';

/**
 * The first failure of a run of tests.
 *
 * @typedef {{ file: string, test: string, why: string }} Failure
 */

/** A test that takes this long waits for ever: many times what any takes on a busy machine. */
const HANG_MS = 240_000;

/** A reporter that ends vitest at once with the first failure: of a test, of a file that does not load, or by time. */
export default class FirstFailure {
  #file = '';
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  onTestRunStart() {
    clearTimeout(this.#timer);
    const error = { message: `no test has ended for ${HANG_MS / 1000} s` };
    this.#timer = setTimeout(() => endAt(error, this.#file), HANG_MS).unref();
  }

  /** @param {import('vitest/node').TestModule} module */
  onTestModuleStart(module) {
    this.#file = module.moduleId;
    this.onTestRunStart();
  }

  /** @param {import('vitest/node').TestCase} test */
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    if (state === 'failed') endAt(errors[0] ?? {}, test.module.moduleId, test.fullName.replaceAll(' > ', ' '));
    this.onTestRunStart();
  }

  /** @param {import('vitest/node').TestSuite} suite */
  onTestSuiteResult(suite) {
    endAt(suite.errors()[0], suite.module.moduleId);
  }

  /** @param {import('vitest/node').TestModule} module */
  onTestModuleEnd(module) {
    endAt(module.errors()[0], module.moduleId);
    this.onTestRunStart();
  }

  /**
   * @param {unknown} _modules
   * @param {readonly { name?: string, message: string }[]} errors - outside of tests
   */
  onTestRunEnd(_modules, errors) {
    endAt(errors[0]);
  }
}

/**
 * Ends the process where there is an error.
 *
 * @param {{ message?: string, name?: string } | undefined} error
 */
function endAt(error, file = '', test = '') {
  if (error === undefined) return;
  const why = `${error.name ?? 'Error'}: ${error.message ?? ''}`.split('\n', 1)[0]?.slice(0, 300) ?? '';
  /** @type {Failure} */
  const failure = { file, test, why };
  writeFileSync(/** @type {string} */ (process.env[FAILURE_VARIABLE]), JSON.stringify(failure));
  process.exit(1);
}
