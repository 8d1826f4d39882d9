import type { VariantTuning } from '@concord/backend-webgpu';
import type { ComputeBackend } from '@concord/backend-core';
import type { BenchCase } from '../bench/bench-case.ts';
import { measureCase } from '../bench/measure-case.ts';
import { spreadOf } from '../bench/statistics.ts';

/** A backend whose variants can be chosen. */
export type TunableBackend = ComputeBackend & { readonly native: { readonly tuning: VariantTuning } };

/** What was found for one shape class. */
export interface TunedClass {
  readonly shapeClass: string;
  readonly benchCase: BenchCase;
  /** What the plan takes by itself. */
  readonly preferred: string;
  readonly chosen: string;
  /** Milliseconds of one call by variant. */
  readonly measured: Readonly<Record<string, number>>;
  /** Variants that failed or gave a wrong result, and how. They are not chosen. */
  readonly failures: Readonly<Record<string, string>>;
}

/** How variants are measured. */
export interface TuneSchedule {
  /** Seconds for each variant of a case. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Called before each measurement. */
  readonly onVariant: (benchCase: BenchCase, variant: string) => void;
}

/** Another variant is taken only if it is faster than the plan's own choice by more than the noise. */
const LEAST_GAIN = 1.03;

/** Whether a backend has variants to choose from. */
export function isTunable(backend: ComputeBackend): backend is TunableBackend {
  return (backend.native as { tuning?: unknown } | null)?.tuning !== undefined;
}

/**
 * Measures every variant that can compute a case.
 *
 * @returns undefined where there is nothing to choose, where the call is made of several parts, and when interrupted
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
  const measured: Record<string, number> = {};
  const failures: Record<string, string> = {};
  try {
    for (const variant of pick.candidates) {
      onVariant(benchCase, variant);
      tuning.force([variant]);
      const outcome = await measureCase(work, backend, { seconds, signal });
      if (signal.aborted) return undefined;
      if (outcome?.status === 'measured') measured[variant] = 1000 * spreadOf(outcome.roundSeconds).median;
      else failures[variant] = outcome?.detail ?? 'it gave no result';
    }
  } finally {
    tuning.force([]);
  }
  const { shapeClass, preferred } = pick;
  return { shapeClass, benchCase, preferred, chosen: fastest(measured, preferred), measured, failures };
}

function fastest(measured: Readonly<Record<string, number>>, preferred: string): string {
  const [best] = Object.entries(measured).sort(([, a], [, b]) => a - b);
  if (best === undefined) return preferred;
  const own = measured[preferred] ?? Infinity;
  return own / best[1] > LEAST_GAIN ? best[0] : preferred;
}
