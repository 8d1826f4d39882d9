import type { DeviceInfo } from '@concord/backend-core';
import type { ProfileState } from '@concord/variants';
import type { NotRun } from '../try-backend.ts';
import type { BenchCase } from './bench-case.ts';
import { type BenchOutcome, isFailure, speedOf } from './outcome.ts';
import type { BenchSize } from './bench-ops.ts';

/** A backend that was asked for. */
export interface BenchBackend {
  readonly backend: string;
  /** null where it cannot be used. */
  readonly device: DeviceInfo | null;
  /** Kernel variants that were forced, if any were: not what an application gets. */
  readonly forced?: readonly string[];
  /** The state of the device's tuning profile, for a backend that has kernel variants. */
  readonly tuning?: ProfileState;
  readonly notRun?: NotRun;
}

/** A case, and its outcome on each backend that was measured with it. */
export interface BenchRow {
  readonly benchCase: BenchCase;
  readonly results: readonly { readonly backend: string; readonly outcome: BenchOutcome }[];
}

/** A whole run, as it is printed and written. */
export interface BenchRun {
  readonly size: BenchSize;
  /** The option, where it was given. */
  readonly op?: string | undefined;
  readonly seconds: number;
  readonly backends: readonly BenchBackend[];
  readonly rows: readonly BenchRow[];
  /** Ctrl-C ended it. */
  readonly isPart: boolean;
  readonly ms: number;
}

/** The best that a backend reached in any case: the roof over all of its cases. */
export interface Peaks {
  readonly gflops: number | null;
  /** Copies from and to the host are not in it: they do not go at the speed of the device's memory. */
  readonly gbs: number | null;
}

/** Tells that a result is wrong, or that an op failed. */
export function hasFailure({ rows }: BenchRun): boolean {
  return rows.some(({ results }) => results.some(({ outcome }) => isFailure(outcome)));
}

/** The best speeds of a backend, of the medians. */
export function peaksOf({ rows }: BenchRun, backend: string): Peaks {
  let [gflops, gbs] = [0, 0];
  for (const { benchCase, results } of rows) {
    const outcome = results.find((result) => result.backend === backend)?.outcome;
    if (outcome?.status !== 'measured' || isHostCopy(benchCase)) continue;
    gflops = Math.max(gflops, speedOf({ ...benchCase, unit: 'GFLOP/s' }, outcome).median);
    gbs = Math.max(gbs, speedOf({ ...benchCase, unit: 'GB/s' }, outcome).median);
  }
  return { gflops: gflops || null, gbs: gbs || null };
}

/** The median speed beside that of the first backend; undefined for the first, and where one of the two is missing. */
export function ratioOf(
  { benchCase, results }: BenchRow,
  backend: string,
  first: string | undefined,
): number | undefined {
  if (backend === first) return undefined;
  const speeds = [backend, first].map((name) => {
    const outcome = results.find((result) => result.backend === name)?.outcome;
    return outcome?.status === 'measured' ? speedOf(benchCase, outcome).median : undefined;
  });
  return speeds[0] === undefined || speeds[1] === undefined ? undefined : speeds[0] / speeds[1];
}

function isHostCopy({ id }: BenchCase): boolean {
  return id.startsWith('memory/') && !id.startsWith('memory/device/');
}
