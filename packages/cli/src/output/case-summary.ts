import { type ExcludedVariant, printable } from '@concord/backend-core';
import type { CaseResult, VariantRuns } from '@concord/conformance';
import { type BackendRun, byOp, type OpSummary, summarize, totalOf } from '../conformance/backend-run.ts';
import type { Colors } from './colors.ts';
import { formatDuration, plural } from './format.ts';
import { replayCommand } from './shell-quote.ts';
import { plainTable } from './table.ts';

/** The table that a run ends with: one row an op, and the total. */
export function summaryTable(cases: readonly CaseResult[], colors: Colors): string {
  const rows = [...summarize(cases), totalOf(cases)].map(({ op, passed, failed, unsupported, ms }) => [
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

/** The place of a failure. */
interface FailureContext {
  /** The backend, with the options that name its module, if it is from one. */
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

/** Several backends side by side: a row an op, a column a backend. */
export function backendsTable(runs: readonly BackendRun[], colors: Colors): string {
  const rows = byOp(runs).map(([op, summaries]) => [op, ...runs.map((run, i) => cell(run, summaries[i], colors))]);
  const sumOf = ({ cases }: BackendRun): OpSummary | undefined => (cases.length === 0 ? undefined : totalOf(cases));
  const totals = runs.map((run) => [cell(run, sumOf(run), colors), ...variantNotes(run, colors)].join('\n'));
  const total = ['total', ...totals].map((text) => colors.bold(text));
  return plainTable(['Op', ...runs.map(({ backend }) => backend)], [...rows, total], colors);
}

/** The counts that forced variants add to those of cases. */
function variantNotes({ variants, variantFailures = [] }: BackendRun, colors: Colors): string[] {
  const [failed, neverRan] = [variantFailures.length, variants?.neverRan.length ?? 0];
  return [
    ...(failed > 0 ? [colors.red(`${failed} failed with variants forced`)] : []),
    ...(neverRan > 0 ? [colors.red(`${plural(neverRan, 'variant')} never ran`)] : []),
  ];
}

/** Counts, what is zero left out; failures stand on a separate line. */
function cell({ notRun }: BackendRun, summary: OpSummary | undefined, colors: Colors): string {
  if (notRun !== undefined) return notRun.isFailure ? colors.red('not run') : colors.yellow('not run');
  if (summary === undefined) return '-';
  const { passed, failed, unsupported } = summary;
  const parts = [
    failed > 0 ? colors.red(`${failed} failed`) : '',
    passed > 0 ? `${passed} passed` : '',
    unsupported > 0 ? colors.yellow(`${unsupported} unsupported`) : '',
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** The number of times that each kernel variant ran, the busiest first; zero for those that were forced but did not run. */
export function variantsTable({ runs, neverRan }: VariantRuns, colors: Colors): string {
  const counted = Object.entries(runs).sort(([, a], [, b]) => b - a);
  const rows = [...counted.map(([id, count]) => [id, String(count)]), ...neverRan.map((id) => [id, colors.red('0')])];
  return plainTable(['Variant', 'Runs'], rows, colors, { right: [1] });
}

/** Why variants are not used on a device, with what its compiler said: some lines for each. */
export function excludedLines(excluded: readonly ExcludedVariant[]): string[] {
  return excluded.flatMap(({ id, reason, log = '' }) => [
    printable(`${id}: ${reason}`),
    ...printable(log)
      .split('\n')
      .flatMap((line) => (line === '' ? [] : `  ${line}`)),
  ]);
}
