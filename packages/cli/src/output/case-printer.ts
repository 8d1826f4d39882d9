import { type CaseResult, findCase, type Params } from '@concord/conformance';
import { summarize } from '../conformance/backend-run.ts';
import type { Output } from '../context.ts';
import { failureText, summaryLine, summaryTable } from './case-summary.ts';
import { colorsFor } from './colors.ts';
import { formatDuration, plural } from './format.ts';
import { createProgress } from './progress.ts';

/** Prints a conformance run while it happens: a bar on a terminal, one line for each op and every failure elsewhere. */
export interface CasePrinter {
  onCase(result: CaseResult, done: number, total: number): void;
  /** Prints failures not shown yet, the table and one line with the verdict. */
  finish(verdict: string): void;
}

/** The options of a {@link CasePrinter}: the output, and where. */
interface CasePrinterOptions {
  readonly text: Output;
  /** The stream for the bar, if it is a terminal. */
  readonly terminal: Output;
  readonly backend: string;
  /** Variants that `CONCORD_VARIANT` forces, for the command that runs a case again. */
  readonly forced: readonly string[];
  /** The ops of the cases to come, one for each case. */
  readonly ops: readonly string[];
}

/** Failures of an op that are shown one by one; of the others a count says as much. */
const MAX_FAILURES = 20;

/** The failed cases after the first ones by their check, such as `12 of exact, 3 of bounded`. */
function groupsOf(cases: readonly CaseResult[]): string {
  const counts = new Map<string, number>();
  for (const { id } of cases.filter(({ status }) => status === 'failed').slice(MAX_FAILURES)) {
    const check = id.split('/')[1] ?? id;
    counts.set(check, (counts.get(check) ?? 0) + 1);
  }
  return [...counts].map(([check, count]) => `${count} of ${check}`).join(', ');
}

/** Makes a printer for one run. */
export function createCasePrinter({ text, terminal, backend, forced, ops }: CasePrinterOptions): CasePrinter {
  const cases: CaseResult[] = [];
  const started = performance.now();
  const progress = createProgress(terminal);
  const colors = colorsFor(text);
  const left = new Map<string, number>();
  for (const op of ops) left.set(op, (left.get(op) ?? 0) + 1);

  const shown = new Map<string, number>();
  const showFailure = (result: CaseResult): void => {
    if (result.status !== 'failed') return;
    const count = (shown.get(result.op) ?? 0) + 1;
    shown.set(result.op, count);
    if (count <= MAX_FAILURES) text.write(`${failureText(result, { backend, forced, colors })}\n`);
  };
  /** The summary of the failures of an op when all of its cases have run. */
  const showRest = (op: string): void => {
    const ofOp = cases.filter((each) => each.op === op);
    const hidden = (shown.get(op) ?? 0) - MAX_FAILURES;
    if (hidden > 0) text.write(`${colors.red('FAILED')} ${plural(hidden, 'more case')} of ${op}, ${groupsOf(ofOp)}\n`);
    const common = commonGround(ofOp);
    if (common !== undefined) text.write(`${op}: ${common}\n`);
  };
  const showOpIfDone = (op: string): void => {
    const remaining = (left.get(op) ?? 1) - 1;
    left.set(op, remaining);
    if (remaining > 0) return;
    showRest(op);
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
      if (progress.visible) {
        cases.forEach(showFailure);
        for (const op of left.keys()) showRest(op);
      }
      if (cases.length > 0) text.write(`\n${summaryTable(cases, colors)}\n\n`);
      text.write(`${verdict} (${plural(cases.length, 'case')}, ${formatDuration(performance.now() - started)})\n`);
    },
  };
}

/** This many values of a line are named; more would tell nothing. */
const MOST = 3;

/**
 * One line on the failed cases of an op that have parameters: those, and the check, that all of them have and none of the
 * passing ones.
 *
 * @returns undefined where one case failed only, none passed, or there is nothing of that kind
 */
export function commonGround(cases: readonly CaseResult[]): string | undefined {
  const traits = (wanted: CaseResult['status']): ReadonlySet<string>[] =>
    cases.flatMap(({ id, status }) => (status === wanted ? (traitsOf(id) ?? []) : []));
  const [failing, passing] = [traits('failed'), traits('passed')];
  const [first, ...others] = failing;
  if (first === undefined || others.length === 0 || passing.length === 0) return undefined;
  const common = [...first].filter(
    (trait) => others.every((own) => own.has(trait)) && !passing.some((own) => own.has(trait)),
  );
  if (common.length === 0) return undefined;
  return `${failing.length} failing cases have in common: ${common.slice(0, MOST).join(', ')}; none of the passing`;
}

/** The facts about a case in single words: its check, and each parameter with its value; undefined where it has none. */
function traitsOf(id: string): ReadonlySet<string> | undefined {
  const params: Params = findCase(id)?.params ?? {};
  if (Object.keys(params).length === 0) return undefined;
  const own = Object.entries(params).flatMap(([name, value]) => [
    `${name}=${String(value)}`,
    ...(name === 'trans' ? transposesOf(String(value)) : []),
  ]);
  return new Set([`check ${id.split('/')[1]}`, ...own]);
}

/** The two letters of a product by themselves. */
function transposesOf(letters: string): string[] {
  return [`transposeA=${letters[0] !== 'N'}`, `transposeB=${letters[1] !== 'N'}`];
}
