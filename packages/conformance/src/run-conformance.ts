import { type ComputeBackend, type DeviceInfo, isBackendError, type VariantReport } from '@concord/backend-core';
import { CaseFailure, type ConformanceCase, type Mismatch, type Tally, UnsupportedCall } from './harness/case.ts';
import { callOp, callToRefuse, sampleOf } from './harness/planned-call.ts';
import { Random } from './harness/random.ts';
import { expectUnsupported } from './run/plan.ts';
import { type CaseSelection, selectCases } from './select-cases.ts';
import { VERSION } from './version.ts';

/** Why nothing could be run, and whether that counts as a failure. */
interface NotRun {
  readonly reason: string;
  /** The reason, and who asked for the backend all the same. */
  readonly detail: string;
  readonly isFailure: boolean;
}

/** The backends that `CONCORD_REQUIRE` names: for them a missing device is a failure. */
export function requiredBackends(): readonly string[] {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return (process?.env?.['CONCORD_REQUIRE'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * Judges an `init()` that rejected. An absent device or driver is no failure, unless `CONCORD_REQUIRE` names the
 * backend; reason `failed`, or any other error, is one: something was there and broke.
 */
export function judgeInitError(backend: string, error: unknown): NotRun {
  const reason = error instanceof Error ? error.message : String(error);
  const isRequired = requiredBackends().includes(backend);
  const isAbsent = isBackendError(error, 'BACKEND_UNAVAILABLE') && error.reason !== 'failed';
  return {
    reason,
    detail: isRequired ? `${reason} (CONCORD_REQUIRE names ${backend})` : reason,
    isFailure: isRequired || !isAbsent,
  };
}

/** The number of times that each variant of a backend's kernels ran, and the forced ones that did not run. */
export interface VariantRuns extends VariantReport {
  /** The forced ids or globs that no run matches: the run says nothing about them. */
  readonly neverRan: readonly string[];
}

/** The counts of a backend after its cases; undefined for one without variants. */
export function variantRunsOf(backend: ComputeBackend): VariantRuns | undefined {
  const report = backend.variants?.();
  if (report === undefined) return undefined;
  const ids = Object.keys(report.runs);
  return { ...report, neverRan: report.forced.filter((pattern) => !ids.some((id) => matches(id, pattern))) };
}

/** Returns whether an id is what a pattern names, in which `*` stands for any characters. */
function matches(id: string, pattern: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return id === head;
  if (!id.startsWith(head)) return false;
  let at = head.length;
  for (const part of rest) {
    const found = id.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return id.length - tail.length >= at && id.endsWith(tail);
}

/** The text of a report about forced variants that never ran. */
export function neverRanText({ neverRan, excluded = [] }: VariantRuns): string {
  const texts = neverRan.map((pattern) => {
    const why = excluded.find(({ id }) => matches(id, pattern))?.reason;
    return why === undefined ? pattern : `${pattern} (excluded: ${why})`;
  });
  return `forced, but never ran: ${texts.join(', ')}`;
}

/** Makes a backend object that is not initialized yet. */
export type BackendFactory = () => ComputeBackend | Promise<ComputeBackend>;

/** The outcome of one case. */
export interface CaseResult {
  readonly id: string;
  readonly op: string;
  readonly status: 'passed' | 'failed' | 'unsupported';
  readonly ms: number;
  /** The failure, or why it is unsupported. */
  readonly detail?: string;
  /** The wrong value, where the case compared values and one of them was. */
  readonly mismatch?: Mismatch;
  /** The number of elements that were compared with intervals, and of those without a useful bound; absent where there were none. */
  readonly intervals?: Readonly<Tally>;
}

/**
 * Runs one case on an initialized backend. Never rejects.
 *
 * A case is `unsupported` only if the backend declares so and the call then throws `UNSUPPORTED`.
 */
export async function runCase(
  testCase: ConformanceCase,
  backend: ComputeBackend,
  createBackend: BackendFactory,
): Promise<CaseResult> {
  const start = performance.now();
  const created: ComputeBackend[] = [];
  const tally: Tally = { elements: 0, loose: 0 };
  const result = (status: CaseResult['status'], detail?: string, mismatch?: Mismatch): CaseResult => ({
    ...{ id: testCase.id, op: testCase.op, status, ms: performance.now() - start },
    ...(detail === undefined ? {} : { detail }),
    ...(mismatch === undefined ? {} : { mismatch }),
    ...(tally.elements === 0 ? {} : { intervals: tally }),
  });
  try {
    const reason = unsupportedReason(testCase, backend);
    if (reason !== undefined) return result('unsupported', reason);
    await testCase.run({
      backend,
      random: new Random(testCase.id),
      tally,
      create: async () => {
        const fresh = await createBackend();
        created.push(fresh);
        return fresh;
      },
    });
    return result('passed');
  } catch (error) {
    if (error instanceof UnsupportedCall) return result('unsupported', error.message);
    const beyond = beyondLimit(error, backend);
    if (beyond !== undefined) return result('unsupported', beyond);
    return result('failed', explain(error), error instanceof CaseFailure ? error.mismatch : undefined);
  } finally {
    for (const fresh of created) await fresh.dispose().catch(() => undefined);
  }
}

/** @throws {CaseFailure} when the backend declares a lack and then does not stand by it */
function unsupportedReason({ needs }: ConformanceCase, backend: ComputeBackend): string | undefined {
  if (needs === undefined) return undefined;
  const { op, dtype, shape, call } = needs;
  const support = backend.supports(op, op === 'run' ? (shape ?? {}) : { dtype, ...shape });
  if (support.ok) return undefined;
  try {
    expectUnsupported(op, support.reason, () => {
      if (call !== undefined) call(backend);
      else if (op !== 'run') callOp(backend, op, callToRefuse(op, { dtype, ...(shape ?? sampleOf(op).shape) }));
    });
  } catch (error) {
    if (error instanceof UnsupportedCall) return error.message;
    throw error;
  }
}

/** A case that wants a larger allocation than the device declares is beyond it, as long as `alloc` says so. */
function beyondLimit(error: unknown, backend: ComputeBackend): string | undefined {
  if (!isBackendError(error, 'OUT_OF_MEMORY') || error.requestedBytes === undefined) return undefined;
  const { maxAllocationBytes } = backend.capabilities.limits;
  if (error.requestedBytes <= maxAllocationBytes) return undefined;
  return `the case needs ${error.requestedBytes} bytes in one allocation, the device has ${maxAllocationBytes}`;
}

/** An error as a report shows it. */
export function explain(error: unknown): string {
  if (error instanceof CaseFailure) return error.message;
  if (isBackendError(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

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
  /** The kernel variants that the backend used, where it has variants. */
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
