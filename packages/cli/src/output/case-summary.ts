import { printable } from '@concord/backend-core';
import type { CaseResult } from '@concord/conformance';
import { type OpSummary, summarize } from '../conformance/op-summary.ts';
import type { Colors } from './colors.ts';
import { formatDuration } from './format.ts';
import { plainTable } from './table.ts';
import { replayCommand } from './replay-command.ts';

/** The table that a run ends with: one row an op, and the total. */
export function summaryTable(cases: readonly CaseResult[], colors: Colors): string {
  const perOp = summarize(cases);
  const total = perOp.reduce<OpSummary>(
    (sum, each) => ({
      op: 'total',
      passed: sum.passed + each.passed,
      failed: sum.failed + each.failed,
      unsupported: sum.unsupported + each.unsupported,
      ms: sum.ms + each.ms,
    }),
    { op: 'total', passed: 0, failed: 0, unsupported: 0, ms: 0 },
  );
  const rows = [...perOp, total].map(({ op, passed, failed, unsupported, ms }) => [
    op === 'total' ? colors.bold(op) : op,
    String(passed),
    failed > 0 ? colors.red(String(failed)) : '0',
    unsupported > 0 ? colors.yellow(String(unsupported)) : '0',
    formatDuration(ms),
  ]);
  return plainTable(['Op', 'Passed', 'Failed', 'Unsupported', 'Time'], rows, colors, { right: [1, 2, 3, 4] });
}

/** One op in a line, for output that is no terminal. */
export function summaryLine({ op, passed, failed, unsupported, ms }: OpSummary): string {
  return `${op}: ${passed} passed, ${failed} failed, ${unsupported} unsupported (${formatDuration(ms)})`;
}

/** Where a case failed. */
export interface FailureContext {
  /** With the options that name its module, if it is from one. */
  readonly backend: string;
  /** Variants that `CONCORD_VARIANT` forced. */
  readonly forced: readonly string[];
  readonly colors: Colors;
}

/** One failure in full, with the command that runs it again. */
export function failureText({ id, detail }: CaseResult, { backend, forced, colors }: FailureContext): string {
  const body = printable(detail ?? 'no detail')
    .split('\n')
    .map((line) => `    ${line}`);
  return [
    `${colors.red('FAILED')} ${colors.bold(id)}`,
    ...body,
    colors.dim(`    again: ${replayCommand(id, backend, forced)}`),
  ].join('\n');
}
