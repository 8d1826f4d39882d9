import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import { CaseFailure, type ConformanceCase, type Mismatch, type Tally, UnsupportedCall } from './harness/case.ts';
import { callOp, callToRefuse, sampleOf } from './harness/sample-calls.ts';
import { Random } from './harness/random.ts';
import { expectUnsupported } from './run/check-plan.ts';

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
  /** The number of elements that were compared with intervals, and of those of which nothing useful was known; where there were any. */
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
