import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import type { VariantTuning } from '@concord/variants';
import type { BenchCase } from '../bench/bench-case.ts';
import { measureCase } from '../bench/measure-case.ts';
import { spreadOf } from '../bench/bench-run.ts';

/** A backend whose variants can be chosen. */
export type TunableBackend = ComputeBackend & { readonly native: { readonly tuning: VariantTuning } };

/** The findings for one shape class. */
export interface TunedClass {
  readonly shapeClass: string;
  readonly benchCase: BenchCase;
  /** The plan's own choice. */
  readonly preferred: string;
  readonly chosen: string;
  /** Milliseconds of one call by variant; the median of several measurements. */
  readonly measured: Readonly<Record<string, number>>;
  /** Variants that failed or gave a wrong result, and how. They are not chosen. */
  readonly failures: Readonly<Record<string, string>>;
}

/** Options of measuring variants. */
export interface TuneSchedule {
  /** Seconds for each variant of a case. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Called before each measurement. */
  readonly onVariant: (benchCase: BenchCase, variant: string) => void;
}

/** Another variant is taken only if it is this many times as fast as the plan's own choice, in every duel. */
const MIN_GAIN = 1.03;
/** The number of times that the fastest and the plan's own choice are measured in turns: one measurement may be of a busy machine. */
const DUELS = 3;

/** Returns whether a backend has variants to choose from. */
export function isTunable(backend: ComputeBackend): backend is TunableBackend {
  return (backend.native as { tuning?: unknown } | null)?.tuning !== undefined;
}

/**
 * Measures every variant that can compute a case, and the fastest beside the plan's own choice again.
 *
 * @returns undefined where there is nothing to choose, where the call is made of several parts or does not fit into the
 *   device's memory, and when interrupted
 * @throws {BackendError} DEVICE_LOST
 */
export async function tuneCase(
  benchCase: BenchCase,
  backend: TunableBackend,
  { seconds, signal, onVariant }: TuneSchedule,
): Promise<TunedClass | undefined> {
  const { tuning } = backend.native;
  const work = benchCase.prepare();
  if (work.plan === undefined || !backend.supports(work.plan.op, work.plan.call).ok) return undefined;
  const [pick, ...others] = tuning.choices(work.plan.op, work.plan.call);
  if (pick === undefined || others.length > 0 || pick.candidates.length < 2) return undefined;
  const before = backend.variants?.().forced ?? [];
  const times: Record<string, number[]> = {};
  const failures: Record<string, string> = {};
  const time = async (variant: string): Promise<number | undefined> => {
    onVariant(benchCase, variant);
    tuning.force([variant]);
    const outcome = await measureCase(work, backend, { seconds, signal }).catch(failed);
    if (outcome?.status === 'wrong' || outcome?.status === 'failed') failures[variant] = outcome.detail;
    if (outcome?.status !== 'measured') return undefined;
    const ms = 1000 * spreadOf(outcome.roundSeconds).median;
    (times[variant] ??= []).push(ms);
    return ms;
  };
  const { shapeClass, preferred } = pick;
  let chosen = preferred;
  let best: string | undefined;
  try {
    for (const variant of pick.candidates) {
      await time(variant);
      if (signal.aborted) return undefined;
    }
    best = fastest(medians(times));
    if (best !== undefined && best !== preferred && (await winsDuels(best, preferred, time))) chosen = best;
  } finally {
    tuning.force(before);
  }
  const isNothing = best === undefined && Object.keys(failures).length === 0;
  if (signal.aborted || isNothing) return undefined;
  return { shapeClass, benchCase, preferred, chosen, measured: medians(times), failures };
}

function failed(error: unknown): { readonly status: 'failed'; readonly detail: string } {
  if (isBackendError(error, 'DEVICE_LOST')) throw error;
  return { status: 'failed', detail: error instanceof Error ? error.message : String(error) };
}

async function winsDuels(
  best: string,
  preferred: string,
  time: (variant: string) => Promise<number | undefined>,
): Promise<boolean> {
  for (let duel = 0; duel < DUELS; duel++) {
    const [own, other] = [await time(preferred), await time(best)];
    // A preferred variant that does not work loses.
    if (other === undefined || (own !== undefined && own / other < MIN_GAIN)) return false;
  }
  return true;
}

function medians(times: Readonly<Record<string, readonly number[]>>): Record<string, number> {
  return Object.fromEntries(Object.entries(times).map(([variant, all]) => [variant, spreadOf(all).median]));
}

function fastest(measured: Readonly<Record<string, number>>): string | undefined {
  return Object.entries(measured).sort(([, a], [, b]) => a - b)[0]?.[0];
}
