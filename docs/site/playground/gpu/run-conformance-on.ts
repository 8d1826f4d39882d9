import { isBackendError } from '@concord/backend-core';
import type { BackendRun, ReportEnvironment } from '@concord/cli/reports';
import { type CaseResult, type CaseSelection, runConformance } from '@concord/conformance';
import type { BackendName } from '../backend-names.ts';
import { providerOf } from '../backends.ts';
import type { SuiteProgress } from './suite.ts';

/** The context of a run: its listener, its signal and its environment. */
export interface RunContext {
  readonly report: (progress: SuiteProgress) => void;
  readonly signal: AbortSignal;
  readonly environment: ReportEnvironment;
}

/** Milliseconds between two reports: each draws the page anew. */
const REPORT_MS = 100;

/** Runs the cases on one backend, or finds out why it cannot be used here. */
export async function runConformanceOn(
  name: BackendName,
  selection: CaseSelection,
  { report, signal, environment }: RunContext,
): Promise<BackendRun> {
  const provider = providerOf(name);
  const started = performance.now();
  const notRun = (message: string, hint: string | undefined, isFailure: boolean): BackendRun => {
    report({ kind: 'not-run', backend: name, message, hint: hint ?? null });
    return {
      ...{ backend: name, device: null, versions: {}, cases: [], exitCode: isFailure ? 1 : 3 },
      ms: performance.now() - started,
      notRun: { backend: name, message, hint: hint ?? null, isRequired: false, isFailure },
    };
  };
  const probe = await provider.probe();
  if (!probe.available) return notRun(probe.message, probe.hint, false);
  report({ kind: 'backend', backend: name, device: probe.devices[0]?.name ?? 'a device' });
  const reportCases = batched(name, report);
  try {
    const run = await runConformance(() => provider.create(), { ...selection, signal, onCase: reportCases });
    if (run.notRun !== undefined) return notRun(run.notRun, undefined, run.failed > 0);
    const { backend, device, cases, variants } = run;
    const { driver = '' } = run.versions;
    // Drivers that are a part of the browser name it.
    const versions = driver.includes(environment.host) ? run.versions : { ...run.versions, browser: environment.host };
    const result = { backend, device, versions, cases, exitCode: run.ok ? 0 : 1, ms: performance.now() - started };
    return variants === undefined ? result : { ...result, variants };
  } catch (error) {
    if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
    return notRun(error.detail, error.hint, false);
  }
}

/** Reports the progress now and then, with the cases that failed meanwhile, and at the end. */
function batched(
  backend: string,
  report: (progress: SuiteProgress) => void,
): (result: CaseResult, done: number, total: number) => void {
  let failures: CaseResult[] = [];
  let last = 0;
  return (result, done, total) => {
    if (result.status === 'failed') failures.push(result);
    if (done < total && performance.now() - last < REPORT_MS) return;
    report({ kind: 'cases', backend, done, total, failures });
    failures = [];
    last = performance.now();
  };
}
