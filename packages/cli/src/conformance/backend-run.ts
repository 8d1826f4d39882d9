import type { CaseResult, ConformanceReport } from '@concord/conformance';
import type { NotRun } from '../choose-backend.ts';
import { present } from '../objects.ts';

/** A case that failed while variants were forced. */
export interface VariantFailure extends CaseResult {
  readonly forced: readonly string[];
}

/** The results of one backend in a conformance run. */
export interface BackendRun extends Pick<ConformanceReport, 'backend' | 'device' | 'versions' | 'cases' | 'variants'> {
  readonly exitCode: number;
  readonly ms: number;
  /** Options that name the module it is from, for the command that runs a case again; absent for our own. */
  readonly origin?: string;
  /** Failures of the runs after the first, with `--each-variant`. `variants` counts those runs too. */
  readonly variantFailures?: readonly VariantFailure[];
  /** Why there are no cases. */
  readonly notRun?: NotRun;
}

/** A conformance run on one backend or several. */
export interface ConformanceRun {
  readonly backends: readonly BackendRun[];
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

/** All cases of a run as if they were of one op. */
export function totalOf(cases: readonly CaseResult[]): OpSummary {
  const [total] = summarize(cases.map((result) => ({ ...result, op: 'total' })));
  return total ?? { op: 'total', passed: 0, failed: 0, unsupported: 0, ms: 0 };
}

/** Every op, and its summary in each of some runs. */
export function byOp(runs: readonly BackendRun[]): (readonly [op: string, (OpSummary | undefined)[]])[] {
  const summaries = runs.map(({ cases }) => new Map(summarize(cases).map((summary) => [summary.op, summary])));
  const ops = new Set(summaries.flatMap((each) => [...each.keys()]));
  return [...ops].map((op) => [op, summaries.map((each) => each.get(op))]);
}

/** The JSON that `--json` writes for one backend; for several it is a list of these, in the order of `--backend`. */
export interface ConformanceJson extends Pick<ConformanceReport, 'backend' | 'device' | 'versions' | 'variants'> {
  /** The options, where they were given: these are not all cases. */
  readonly filter?: string;
  readonly sample?: number;
  readonly cases: readonly CaseResult[];
  /** Failures of the runs with variants forced, with `--each-variant`. `variants` counts those runs too. */
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

function backendJson(run: BackendRun, { filter, sample }: ConformanceRun): ConformanceJson {
  const { backend, device, versions, cases, notRun, variants, variantFailures } = run;
  const options = present({ filter, sample });
  return {
    ...{ backend, device, versions, ...options, cases },
    ...present({ variants, variantFailures, notRun: notRun && toNotRunJson(notRun) }),
  };
}

/** The part of a {@link NotRun} that JSON has. */
export function toNotRunJson({ message, hint, isFailure }: NotRun): NonNullable<ConformanceJson['notRun']> {
  return { message, hint, isFailure };
}
