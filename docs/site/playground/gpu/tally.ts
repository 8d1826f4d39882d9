import { type OpSummary, summarize } from '@concord/cli/reports';
import type { CaseResult } from '@concord/conformance';
import type { SpeedResult, SuiteProgress } from './suite.ts';

/** The progress of one backend. */
export interface BackendTally {
  readonly backend: string;
  readonly device?: string;
  /** The reason why it was not run. */
  readonly notRun?: { readonly message: string; readonly hint: string | null };
  readonly done: number;
  readonly total: number;
  readonly ops: readonly OpSummary[];
  readonly failures: readonly CaseResult[];
}

/** The progress of a run. */
export interface Tally {
  readonly backends: readonly BackendTally[];
  readonly speeds: readonly SpeedResult[];
  readonly speedsTotal: number;
}

export const NOTHING: Tally = { backends: [], speeds: [], speedsTotal: 0 };

/** A tally with one more step of progress. */
export function counted(tally: Tally, progress: SuiteProgress): Tally {
  if (progress.kind === 'speed') {
    return { ...tally, speeds: [...tally.speeds, progress.result], speedsTotal: progress.total };
  }
  const { backend } = progress;
  const before = tally.backends.find((each) => each.backend === backend) ?? {
    ...{ backend, done: 0, total: 0, ops: [], failures: [] },
  };
  const backends = tally.backends.filter((each) => each !== before);
  return { ...tally, backends: [...backends, advanced(before, progress)] };
}

function advanced(before: BackendTally, progress: Exclude<SuiteProgress, { kind: 'speed' }>): BackendTally {
  if (progress.kind === 'backend') return { ...before, device: progress.device };
  if (progress.kind === 'not-run') return { ...before, notRun: { message: progress.message, hint: progress.hint } };
  const { done, total, results } = progress;
  const failed = results.filter(({ status }) => status === 'failed');
  return {
    ...before,
    done,
    total,
    ops: merged(before.ops, summarize(results)),
    failures: [...before.failures, ...failed],
  };
}

function merged(before: readonly OpSummary[], more: readonly OpSummary[]): readonly OpSummary[] {
  const byOp = new Map(before.map((summary) => [summary.op, summary]));
  for (const summary of more) {
    const { passed, failed, unsupported, ms } = byOp.get(summary.op) ?? { passed: 0, failed: 0, unsupported: 0, ms: 0 };
    byOp.set(summary.op, {
      op: summary.op,
      passed: passed + summary.passed,
      failed: failed + summary.failed,
      unsupported: unsupported + summary.unsupported,
      ms: ms + summary.ms,
    });
  }
  return [...byOp.values()];
}

/** The speeds of each op, with the greatest: the full width of its bars. */
export function speedsByOp(speeds: readonly SpeedResult[]): readonly {
  readonly op: string;
  readonly unit: string;
  readonly most: number;
  readonly results: readonly SpeedResult[];
}[] {
  return [...new Set(speeds.map(({ op }) => op))].map((op) => {
    const results = speeds.filter((result) => result.op === op);
    return { op, unit: results[0]?.unit ?? '', most: Math.max(0, ...results.map(({ speed = 0 }) => speed)), results };
  });
}
