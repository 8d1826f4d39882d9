import type { CaseResult, ConformanceReport } from '@concord/conformance';
import type { NotRun } from '../choose-backend.ts';

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

/** The numbers of cases of one op by their status. */
export interface OpSummary {
  readonly op: string;
  passed: number;
  failed: number;
  unsupported: number;
  ms: number;
}

/** Counts the cases of each op, in the order in which the ops first appear. */
export function summarize(cases: readonly CaseResult[]): OpSummary[] {
  const byOp = new Map<string, OpSummary>();
  for (const { op, status, ms } of cases) {
    const summary = byOp.get(op) ?? { op, passed: 0, failed: 0, unsupported: 0, ms: 0 };
    byOp.set(op, summary);
    summary[status]++;
    summary.ms += ms;
  }
  return [...byOp.values()];
}

/** The JSON that `--json` writes for one backend; for several it is a list of these, in the order of `--backend`. */
export interface ConformanceJson extends Pick<ConformanceReport, 'backend' | 'device' | 'versions' | 'variants'> {
  /** The options, where they were given: these are not all cases. */
  readonly filter?: string;
  readonly sample?: number;
  readonly cases: readonly CaseResult[];
  /** With `--each-variant`: what failed in the runs with variants forced. `variants` counts those runs too. */
  readonly variantFailures?: readonly VariantFailure[];
  /** Why there are no cases. */
  readonly notRun?: { readonly message: string; readonly hint: string | null; readonly isFailure: boolean };
}

/** The run without what only people need: one object, or a list of them where a list of backends was asked for. */
export function toConformanceJson(run: ConformanceRun): ConformanceJson | ConformanceJson[] {
  const all = run.backends.map((backend) => backendJson(backend, run));
  const [only] = all;
  return all.length === 1 && only !== undefined ? only : all;
}

function backendJson(
  { backend, device, versions, cases, notRun, variants, variantFailures }: BackendRun,
  { filter, sample }: ConformanceRun,
): ConformanceJson {
  return {
    ...{ backend, device, versions },
    ...(filter === undefined ? {} : { filter }),
    ...(sample === undefined ? {} : { sample }),
    cases,
    ...(variants === undefined ? {} : { variants }),
    ...(variantFailures === undefined ? {} : { variantFailures }),
    ...(notRun === undefined
      ? {}
      : { notRun: { message: notRun.message, hint: notRun.hint, isFailure: notRun.isFailure } }),
  };
}
