import type { CaseResult } from '@concord/conformance';
import type { BackendName } from '../backend-names.ts';

/** A request to test backends. */
export interface SuiteRequest {
  readonly backends: readonly BackendName[];
  /** As `concord conformance --filter`: an op, a glob, or one id. Empty: all cases. */
  readonly filter: string;
  /** As `--sample`, above 0 and up to 1. */
  readonly sample: number;
  /** True if speeds are measured too, of the ops of the filter. */
  readonly withBench: boolean;
}

/** A speed that was measured, or why there is none. */
export interface SpeedResult {
  readonly backend: string;
  readonly id: string;
  readonly op: string;
  readonly title: string;
  readonly unit: string;
  /** Of the median round, in `unit`. */
  readonly speed?: number;
  /** The reason why there is no speed. */
  readonly trouble?: string;
}

/** One step of the progress of a run. */
export type SuiteProgress =
  | { readonly kind: 'backend'; readonly backend: string; readonly device: string }
  | { readonly kind: 'not-run'; readonly backend: string; readonly message: string; readonly hint: string | null }
  | {
      readonly kind: 'cases';
      readonly backend: string;
      readonly done: number;
      readonly total: number;
      /** Those since the last report. */
      readonly results: readonly CaseResult[];
    }
  | { readonly kind: 'speed'; readonly done: number; readonly total: number; readonly result: SpeedResult };

/** The reports that can be downloaded. */
export interface SuiteResult {
  /** As `concord conformance --json`; absent where the run was ended early: a part must not look like the whole. */
  readonly conformance?: string;
  /** As `concord bench --json`; absent where nothing was measured. */
  readonly bench?: string;
  /** Both as a page; absent where there is neither. */
  readonly page?: string;
  readonly wasCancelled: boolean;
}
