import type { DeviceInfo } from '@concord/backend-core';
import type { Tally } from './harness/case.ts';
import { type BackendFactory, type CaseResult, runCase } from './run-case.ts';
import { type CaseSelection, selectCases } from './select-cases.ts';
import { judgeInitError } from './not-run.ts';
import { type VariantRuns, variantRunsOf } from './variant-runs.ts';
import { VERSION } from './version.ts';

/** Options of {@link runConformance}. */
export interface ConformanceOptions extends CaseSelection {
  /** Ends the run after the case under way; the report holds what was done. */
  readonly signal?: AbortSignal;
  /** Called after every case. */
  readonly onCase?: (result: CaseResult, done: number, total: number) => void;
}

/** The outcome of a run. */
export interface ConformanceReport {
  readonly backend: string;
  /** null when there was no device to run on. */
  readonly device: DeviceInfo | null;
  readonly versions: Readonly<Record<string, string>>;
  readonly cases: readonly CaseResult[];
  readonly passed: number;
  readonly failed: number;
  readonly unsupported: number;
  /** All cases ran, none failed, something passed, and every variant that was forced ran. */
  readonly ok: boolean;
  /**
   * Elements that cases of `run` compared with intervals, and of how many the oracle knew nothing useful; left out where
   * there were none.
   */
  readonly intervals?: Readonly<Tally>;
  /** Which variants of its kernels the backend used, where it has variants. */
  readonly variants?: VariantRuns;
  /** Why nothing ran. */
  readonly notRun?: string;
}

/**
 * Runs the conformance cases against the backend that `create` makes. Needs no test framework, so it also runs in a
 * browser.
 *
 * @throws {RangeError} when no case matches, and for a sample that is no fraction
 */
export async function runConformance(
  create: BackendFactory,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  const { filter = '', signal, onCase } = options;
  const selected = selectCases(options);
  if (selected.length === 0) throw new RangeError(`no case matches "${filter}"`);

  const backend = await create();
  try {
    await backend.init();
  } catch (error) {
    await backend.dispose().catch(() => undefined);
    return notRunReport(backend.name, error);
  }
  const cases: CaseResult[] = [];
  try {
    let lastTurn = performance.now();
    for (const testCase of selected) {
      if (signal?.aborted === true) break;
      const result = await runCase(testCase, backend, create);
      cases.push(result);
      onCase?.(result, cases.length, selected.length);
      lastTurn = await yieldTurn(lastTurn);
    }
    const { name, device } = backend;
    const versions = { conformance: VERSION, driver: device.driver };
    const variants = variantRunsOf(backend);
    const core = { backend: name, device, versions, cases };
    return summarize(variants === undefined ? core : { ...core, variants }, selected.length);
  } finally {
    await backend.dispose().catch(() => undefined);
  }
}

type Core = Pick<ConformanceReport, 'backend' | 'device' | 'versions' | 'cases' | 'variants'>;

function summarize(core: Core, selected: number): ConformanceReport {
  const count = (status: CaseResult['status']): number =>
    core.cases.filter((result) => result.status === status).length;
  const [passed, failed, unsupported] = [count('passed'), count('failed'), count('unsupported')];
  const isWhole = core.cases.length === selected && (core.variants?.neverRan ?? []).length === 0;
  const ok = failed === 0 && passed > 0 && isWhole;
  const intervals = totalOf(core.cases);
  const counts = { passed, failed, unsupported, ok };
  return intervals.elements === 0 ? { ...core, ...counts } : { ...core, ...counts, intervals };
}

function totalOf(cases: readonly CaseResult[]): Tally {
  const total = { elements: 0, loose: 0 };
  for (const { intervals } of cases) {
    total.elements += intervals?.elements ?? 0;
    total.loose += intervals?.loose ?? 0;
  }
  return total;
}

/** Longest time without a turn of the event loop; Ctrl-C and a page's pictures wait no longer. */
const TURN_MS = 20;

/** Gives the event loop a turn when its last one is some time ago: a backend may compute inside the call. */
async function yieldTurn(lastTurn: number): Promise<number> {
  if (performance.now() - lastTurn < TURN_MS) return lastTurn;
  await new Promise((resolve) => {
    setTimeout(resolve);
  });
  return performance.now();
}

function notRunReport(backend: string, error: unknown): ConformanceReport {
  const { detail, isFailure } = judgeInitError(backend, error);
  const core = { backend, device: null, versions: { conformance: VERSION }, cases: [] };
  return { ...core, passed: 0, failed: isFailure ? 1 : 0, unsupported: 0, ok: false, notRun: detail };
}
