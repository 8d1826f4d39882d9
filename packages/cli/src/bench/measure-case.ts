import { type ComputeBackend, type DevicePtr, download, isBackendError, NULL_PTR, upload } from '@concord/backend-core';
import type { BenchWork } from './bench-case.ts';
import { findWrongEntry } from './find-wrong-entry.ts';
import type { BenchOutcome } from './outcome.ts';

/** How a case is measured. */
export interface BenchSchedule {
  /** For all rounds of a case on a backend together; there are `MIN_ROUNDS` even if they take somewhat longer. */
  readonly seconds: number;
  /** Ends the measurement; the rounds that are over are kept. */
  readonly signal: AbortSignal;
}

/** A round is at least so long, so that the clock and the wait at its end do not count. */
export const ROUND_MS = 20;
export const MIN_ROUNDS = 3;
export const MAX_ROUNDS = 1000;
/** Calls that may be queued before a wait. */
export const MAX_CALLS = 4096;
/** Where the least number of rounds would take more than so many times `seconds`, there is one round. */
const MAX_OVERTIME = 4;
/** Trials to find how many calls make a round. */
const MAX_ATTEMPTS = 8;

/**
 * Times a case on a backend: first one call apart, then its result is checked; then so many calls are queued before each
 * wait that a round lasts, which ends with a read of 4 bytes of the result, for as long as the schedule gives; then the result is checked again.
 *
 * @returns undefined when it was interrupted before the first round was over
 * @throws {BackendError} what the backend throws, but for what a case may be too large for
 */
export async function measureCase(
  work: BenchWork,
  backend: ComputeBackend,
  schedule: BenchSchedule,
): Promise<BenchOutcome | undefined> {
  if (work.plan !== undefined) {
    const support = backend.supports(work.plan.op, work.plan.call);
    if (!support.ok) return { status: 'unsupported', detail: support.reason };
  }
  const pointers: DevicePtr[] = [];
  try {
    for (const { values, dtype } of work.inputs) pointers.push(upload(backend, values, { dtype }));
    const output = allocOutput(work, backend);
    if (output !== NULL_PTR) pointers.push(output);
    await backend.synchronize();
    return await measure(work, backend, { pointers, output }, schedule);
  } catch (error) {
    if (!isBackendError(error, 'OUT_OF_MEMORY')) return ignoreAbort(error, schedule.signal);
    return { status: 'skipped', detail: error.message };
  } finally {
    for (const pointer of pointers) backend.free(pointer);
  }
}

interface Operands {
  readonly pointers: readonly DevicePtr[];
  readonly output: DevicePtr;
}

function allocOutput({ outputLength, outputDtype }: BenchWork, backend: ComputeBackend): DevicePtr {
  if (outputLength === 0) return NULL_PTR;
  const bytes = outputLength * (outputDtype === 'f16' ? 2 : 4);
  const output = backend.alloc(bytes);
  // NaN everywhere: what a call leaves out cannot look right.
  backend.fill(output, 0xff, bytes);
  return output;
}

async function measure(
  work: BenchWork,
  backend: ComputeBackend,
  { pointers, output }: Operands,
  { seconds, signal }: BenchSchedule,
): Promise<BenchOutcome | undefined> {
  const operand = (index: number): DevicePtr => pointers[index] ?? NULL_PTR;
  const word = new Uint8Array(Math.min(4, work.outputLength * (work.outputDtype === 'f16' ? 2 : 4)));
  const timeRound = async (calls: number): Promise<number> => {
    const started = performance.now();
    for (let i = 0; i < calls; i++) {
      const pending = work.call(backend, operand, output);
      if (pending !== undefined) await pending;
    }
    await backend.synchronize({ signal });
    // A wait that ends before the work is done would make the round look short; the read comes behind the work.
    if (output !== NULL_PTR) await backend.copyDtoh(word, output);
    return performance.now() - started;
  };
  const check = async (): Promise<string | undefined> => {
    const { outputLength: length, outputDtype: dtype } = work;
    const result = work.hostResult?.() ?? (await download(backend, output, length, { dtype }));
    return findWrongEntry(result, (index) => work.expected(index));
  };

  const firstCallMs = await timeRound(1);
  const wrong = await check();
  if (wrong !== undefined) return { status: 'wrong', detail: wrong };
  const { calls: callsPerRound, ms: warmMs } = await findCallsPerRound(timeRound, signal);
  const hasTime = MIN_ROUNDS * warmMs <= MAX_OVERTIME * 1000 * seconds;
  const roundSeconds = hasTime ? [] : [warmMs / 1000 / callsPerRound];
  const started = performance.now();
  while (hasTime && roundSeconds.length < MAX_ROUNDS) {
    const isOver = performance.now() - started + warmMs > 1000 * seconds;
    if (isOver && roundSeconds.length >= MIN_ROUNDS) break;
    await turn();
    if (signal.aborted) break;
    const ms = await timeRound(callsPerRound).catch((error: unknown) => ignoreAbort(error, signal));
    if (ms !== undefined) roundSeconds.push(ms / 1000 / callsPerRound);
  }
  if (roundSeconds.length === 0) return undefined;
  const wrongLater = await check();
  if (wrongLater !== undefined)
    return { status: 'wrong', detail: `${wrongLater}, after ${roundSeconds.length} rounds` };
  return { status: 'measured', firstCallMs, callsPerRound, roundSeconds };
}

/** So many calls that a round lasts. Finding out also warms up what is warmed by use. */
async function findCallsPerRound(
  timeRound: (calls: number) => Promise<number>,
  signal: AbortSignal,
): Promise<{ calls: number; ms: number }> {
  let calls = 1;
  for (let attempt = 1; ; attempt++) {
    await turn();
    const ms = await timeRound(calls);
    // Far longer than it was meant to be: something else kept the machine busy, now or before.
    const isTooLong = calls > 1 && ms > 5 * ROUND_MS;
    const isTooShort = ms < ROUND_MS && calls < MAX_CALLS;
    if (!(isTooLong || isTooShort) || attempt === MAX_ATTEMPTS || signal.aborted) return { calls, ms };
    // The wait is a large part of a short round: not more than ten times as many at once.
    calls = Math.min(MAX_CALLS, calls * 10, Math.ceil((1.2 * calls * ROUND_MS) / Math.max(ms, 0.001)));
  }
}

/** A wait that Ctrl-C ended is no error. */
function ignoreAbort(error: unknown, signal: AbortSignal): undefined {
  if (!signal.aborted) throw error;
}

/** Lets the process see Ctrl-C, and a page its Cancel, which a backend that computes in the call itself would keep from them. */
function turn(): Promise<void> {
  const { setImmediate: soon = setTimeout } = globalThis as { setImmediate?: (callback: () => void) => unknown };
  return new Promise((resolve) => void soon(resolve));
}
