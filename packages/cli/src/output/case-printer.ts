import type { CaseResult } from '@concord/conformance';
import type { Output } from '../context.ts';
import { failureText, summarize, summaryLine, summaryTable } from './case-summary.ts';
import { colorsFor } from './colors.ts';
import { formatDuration, plural } from './format.ts';
import { createProgress } from './progress.ts';

/** Prints a conformance run while it happens: a bar on a terminal, a line an op and every failure elsewhere. */
export interface CasePrinter {
  onCase(result: CaseResult, done: number, total: number): void;
  /** Prints failures not shown yet, the table and one line with the verdict. */
  finish(verdict: string): void;
}

/** What a {@link CasePrinter} prints, and where. */
export interface CasePrinterOptions {
  readonly text: Output;
  /** Where the bar is drawn, if it is a terminal. */
  readonly terminal: Output;
  readonly backend: string;
  /** Variants that `CONCORD_VARIANT` forces, for the command that runs a case again. */
  readonly forced: readonly string[];
  /** The ops of the cases to come, one for each case. */
  readonly ops: readonly string[];
}

/** Makes a printer for one run. */
export function createCasePrinter({ text, terminal, backend, forced, ops }: CasePrinterOptions): CasePrinter {
  const cases: CaseResult[] = [];
  const started = performance.now();
  const progress = createProgress(terminal);
  const colors = colorsFor(text);
  const left = new Map<string, number>();
  for (const op of ops) left.set(op, (left.get(op) ?? 0) + 1);

  const showFailure = (result: CaseResult): void => {
    if (result.status === 'failed') text.write(`${failureText(result, { backend, forced, colors })}\n`);
  };
  const showOpIfDone = (op: string): void => {
    const remaining = (left.get(op) ?? 1) - 1;
    left.set(op, remaining);
    if (remaining > 0) return;
    for (const summary of summarize(cases.filter((each) => each.op === op))) text.write(`${summaryLine(summary)}\n`);
  };

  return {
    onCase(result, done, total) {
      cases.push(result);
      if (progress.visible) {
        progress.update(done, total, `${done} of ${total} cases: ${result.op}`);
      } else {
        showFailure(result);
        showOpIfDone(result.op);
      }
    },
    finish(verdict) {
      progress.stop();
      if (progress.visible) cases.forEach(showFailure);
      if (cases.length > 0) text.write(`\n${summaryTable(cases, colors)}\n\n`);
      text.write(`${verdict} (${plural(cases.length, 'case')}, ${formatDuration(performance.now() - started)})\n`);
    },
  };
}
