import type { ComputeBackend, OpName } from '@concord/backend-core';
import { SUITES } from './select-cases.ts';
import { Random } from './harness/random.ts';
import type { DrawnCase } from './harness/case.ts';
import { programCase } from './programs/program-cases.ts';
import { noCounts, type ProgramCounts } from './programs/step.ts';
import { type BackendFactory, type CaseResult, runCase } from './run-conformance.ts';

/** Options of {@link runFuzz}. */
export interface FuzzOptions {
  /** Ends the run after that time. Default 10, unless `count` is given. */
  readonly seconds?: number;
  /** Ends the run after this number of cases. */
  readonly count?: number;
  /** Start of the random numbers; the same seed draws the same cases. Default: the clock. */
  readonly seed?: number;
  /** Default: all that the backend has. */
  readonly ops?: readonly OpName[];
  /** Draws programs of many steps, which share memory and do not wait, in place of single calls. */
  readonly programs?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { tried: number; failures: number; elapsedMs: number }) => void;
}

/** A random case that failed, made as small as it would go. */
export interface FuzzFailure {
  /** Replays with `concord conformance --filter '<id>'`. */
  readonly id: string;
  readonly detail: string;
  /** The id as it was drawn. */
  readonly shrunkFrom: string;
}

/** Why a fuzz run ended: its time or its count was over, enough had failed, the signal, or the backend has none of the ops. */
export type FuzzStop = 'time' | 'count' | 'too-many-failures' | 'aborted' | 'nothing-to-do';

/** The outcome of a fuzz run. */
export interface FuzzReport {
  readonly backend: string;
  readonly seed: number;
  readonly tried: number;
  readonly failures: readonly FuzzFailure[];
  readonly stopped: FuzzStop;
  /** Counts of what the programs did, where programs were drawn. */
  readonly programs?: Readonly<ProgramCounts>;
}

/** A run that keeps failing has told enough. */
const MAX_FAILURES = 20;
const MAX_SHRINK_STEPS = 200;

/**
 * Draws shapes, leading dimensions, offsets, transposes and values at random, or whole programs, compares with the oracle, and
 * shrinks what fails.
 *
 * @throws {BackendError} what `init()` throws
 */
export async function runFuzz(create: BackendFactory, options: FuzzOptions = {}): Promise<FuzzReport> {
  const { count = Infinity, seed = Date.now() % 2 ** 32, ops, signal, onProgress } = options;
  const limitMs = 1000 * (options.seconds ?? (options.count === undefined ? 10 : Infinity));
  const backend = await create();
  const failures: FuzzFailure[] = [];
  const start = performance.now();
  let tried = 0;
  try {
    await backend.init();
    const suites = SUITES.filter(({ op }) => ops?.includes(op) ?? backend.supports(op).ok);
    const programs = options.programs === true ? noCounts() : undefined;
    const random = new Random(`fuzz ${seed}`);
    const stopOf = (elapsedMs: number): FuzzStop | undefined => {
      if (signal?.aborted === true) return 'aborted';
      if (suites.length === 0) return 'nothing-to-do';
      if (failures.length >= MAX_FAILURES) return 'too-many-failures';
      if (tried >= count) return 'count';
      return elapsedMs >= limitMs ? 'time' : undefined;
    };
    for (;;) {
      const elapsedMs = performance.now() - start;
      const stopped = stopOf(elapsedMs);
      if (stopped !== undefined) {
        const report = { backend: backend.name, seed, tried, failures, stopped };
        return programs === undefined ? report : { ...report, programs };
      }
      const drawn = programs === undefined ? random.pick(suites).draw(random) : drawProgramCase(random, programs);
      const result = await runDrawn(drawn, backend, create);
      tried++;
      if (result.status === 'failed') failures.push(await shrink(drawn, result, backend, create));
      onProgress?.({ tried, failures: failures.length, elapsedMs });
    }
  } finally {
    await backend.dispose().catch(() => undefined);
  }
}

/** A program; where it fails, its case makes it smaller by itself. */
function drawProgramCase(random: Random, counts: ProgramCounts): DrawnCase {
  const addCounts = (more: ProgramCounts): void => {
    for (const name of ['calls', 'judged', 'reads', 'skipped'] as const) counts[name] += more[name];
  };
  return { testCase: programCase({ seed: random.uint32(), steps: 40 }, addCounts), smaller: () => [] };
}

async function runDrawn(drawn: DrawnCase, backend: ComputeBackend, create: BackendFactory): Promise<CaseResult> {
  const result = await runCase(drawn.testCase, backend, create);
  // Timers and signals get their turn between cases; backends that compute in the call never yield by themselves.
  await new Promise((resolve) => {
    setTimeout(resolve);
  });
  return result;
}

/** Takes the first smaller case that still fails, until none does. */
async function shrink(
  drawn: DrawnCase,
  first: CaseResult,
  backend: ComputeBackend,
  create: BackendFactory,
): Promise<FuzzFailure> {
  let failed = first;
  let candidates = drawn.smaller();
  for (let step = 0; step < MAX_SHRINK_STEPS; step++) {
    const candidate = candidates.shift();
    if (candidate === undefined) break;
    const result = await runDrawn(candidate, backend, create);
    if (result.status !== 'failed') continue;
    failed = result;
    candidates = candidate.smaller();
  }
  return { id: failed.id, detail: failed.detail ?? '', shrunkFrom: first.id };
}
