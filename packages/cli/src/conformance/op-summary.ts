import type { CaseResult } from '@concord/conformance';

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
