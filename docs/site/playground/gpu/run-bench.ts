import { isBackendError, selectBackend } from '@concord/backend-core';
import {
  BENCH_OPS,
  type BenchOp,
  type BenchRun,
  type OpenedBackend,
  runCases,
  selectBenchCases,
} from '@concord/cli/bench';
import type { BackendName } from '../backend-names.ts';
import { providerOf } from '../backends.ts';
import type { SuiteProgress } from './suite.ts';

/** The time for which each case is measured on each backend. */
const SECONDS = 0.1;

/**
 * Measures the small cases of `concord bench` on backends, which take turns.
 *
 * @returns undefined where there is nothing to measure, or no backend to measure it on
 */
export async function runBench(
  names: readonly BackendName[],
  ops: readonly BenchOp[],
  report: (progress: SuiteProgress) => void,
  signal: AbortSignal,
): Promise<BenchRun | undefined> {
  const cases = selectBenchCases('small', ops);
  if (cases.length === 0) return undefined;
  const backends: OpenedBackend[] = [];
  try {
    for (const name of names) backends.push(await open(name));
    const usable = backends.filter(({ opened }) => opened !== undefined);
    if (usable.length === 0) return undefined;
    const total = cases.length * usable.length;
    let done = 0;
    const started = performance.now();
    const rows = await runCases(
      cases,
      backends,
      { seconds: SECONDS, signal },
      {
        onStart: () => undefined,
        onResult: ({ benchCase: { title } }) => report({ kind: 'speed', done: ++done, total, title }),
      },
    );
    const ms = performance.now() - started;
    // As `--op` of the command: reports of different ops must not be grouped.
    const op = ops.length === BENCH_OPS.length ? undefined : ops.join(',');
    return { size: 'small', op, seconds: SECONDS, backends, rows, isPart: done < total, ms };
  } finally {
    for (const { opened } of backends) await opened?.dispose().catch(() => undefined);
  }
}

async function open(name: BackendName): Promise<OpenedBackend> {
  try {
    const { backend: opened } = await selectBackend([providerOf(name)], { prefer: [name] });
    return { backend: name, device: opened.device, opened };
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    const [{ message, hint = null, reason } = { message: error.detail, reason: error.reason }] = error.attempts ?? [];
    const notRun = { backend: name, message, hint, isRequired: false, isFailure: reason === 'failed' };
    return { backend: name, device: null, notRun };
  }
}
