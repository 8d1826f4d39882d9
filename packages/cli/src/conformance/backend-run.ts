import type { CaseResult, ConformanceReport } from '@concord/conformance';
import type { NotRun } from '../try-backend.ts';

/** A case that failed while variants were forced. */
export interface VariantFailure extends CaseResult {
  readonly forced: readonly string[];
}

/** The results of one backend in a conformance run. */
export interface BackendRun extends Pick<ConformanceReport, 'backend' | 'device' | 'versions' | 'cases' | 'variants'> {
  readonly exitCode: number;
  /** The name in reports, if several runs are of one backend. Default: the backend. */
  readonly label?: string;
  readonly ms: number;
  /** Options that name the module it is from, for the command that runs a case again; absent for our own. */
  readonly origin?: string;
  /** Of `--each-variant`: what failed in the runs after the first. `variants` counts those runs too. */
  readonly variantFailures?: readonly VariantFailure[];
  /** Why there are no cases. */
  readonly notRun?: NotRun;
}

/** The name of a run in reports. */
export function labelOf({ backend, label = backend }: BackendRun): string {
  return label;
}

/** A conformance run on one backend or several, as reports show it. */
export interface ConformanceRun {
  readonly backends: readonly BackendRun[];
  /** The number of selected cases for each. */
  readonly selected: number;
  readonly filter?: string | undefined;
  readonly sample?: number | undefined;
}
