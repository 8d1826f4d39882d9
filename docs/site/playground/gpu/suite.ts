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

/** One step of the progress of a run; `failures` are those since the last report. */
export type SuiteProgress = Readonly<
  | { kind: 'backend'; backend: string; device: string }
  | { kind: 'not-run'; backend: string; message: string; hint: string | null }
  | { kind: 'cases'; backend: string; done: number; total: number; failures: readonly CaseResult[] }
  | { kind: 'speed'; done: number; total: number; title: string }
>;

/** The reports that can be downloaded. */
export interface SuiteResult {
  /** As `concord conformance --json`; absent where the run was ended early: a part must not look like the whole. */
  readonly conformance?: string;
  /** As `concord bench --json`; absent where nothing was measured. */
  readonly bench?: string;
  readonly wasCancelled: boolean;
}
