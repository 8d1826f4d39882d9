import { printable } from '@concord/backend-core';
import { benchTables } from '../bench/bench-printer.ts';
import { type BenchRun, hasFailure } from '../bench/bench-run.ts';
import { type BackendRun, type ConformanceRun, failuresOf, labelOf } from '../conformance/backend-run.ts';
import type { Output } from '../context.ts';
import { EXIT, worstExit } from '../command-error.ts';
import { reportsPage } from '../html/reports-page.ts';
import { backendsTable, failureText } from '../output/case-summary.ts';
import { type Colors, colorsFor } from '../output/colors.ts';
import { plural } from '../output/format.ts';
import { checkWritable, STDOUT, writeText } from '../output/output-file.ts';
import { shellWord } from '../output/shell-quote.ts';
import { environmentOf } from '../report-environment.ts';
import { benchRuns, conformanceRuns } from '../report/runs.ts';
import { loadReports, type ReportFile } from '../report/load-reports.ts';

/** Options of `concord report`. */
export interface ReportOptions {
  readonly html?: string;
}

/** Runs `concord report`: shows reports that were written as JSON, here or elsewhere. */
export async function report(
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
  files: readonly string[],
  { html }: ReportOptions,
): Promise<number> {
  if (html !== undefined) await checkWritable(html);
  const reports = await loadReports(files);
  const conformance = conformanceRuns(reports);
  const bench = benchRuns(reports);
  const text = html === STDOUT ? stderr : stdout;
  const colors = colorsFor(text);
  const parts = [
    ...conformance.map((run) => conformanceText(run, colors)),
    ...bench.map((run) => benchText(run, colors)),
  ];
  text.write(`${parts.join('\n\n')}\n`);
  const sources = reports.map(sourceOf);
  if (html !== undefined) await writeText(html, reportsPage({ conformance, bench, sources }, environmentOf()), stdout);
  return exitCodeOf(conformance, bench);
}

function exitCodeOf(conformance: readonly ConformanceRun[], bench: readonly BenchRun[]): number {
  const ofCases = conformance.flatMap(({ backends }) => backends.map(({ exitCode }) => exitCode));
  return worstExit([...ofCases, ...bench.map(benchCode)]);
}

/** Returns the exit code of `concord bench` without `--backend`: a backend may be absent, but not all. */
function benchCode(run: BenchRun): number {
  if (hasFailure(run) || run.backends.some(({ notRun }) => notRun?.isFailure === true)) return EXIT.failed;
  return run.backends.some(({ device }) => device !== null) ? EXIT.ok : EXIT.unavailable;
}

/** Failures of a backend that are shown one by one. */
const MAX_FAILURES = 20;

function conformanceText(run: ConformanceRun, colors: Colors): string {
  const { backends, selected, filter, sample } = run;
  const part = [
    ...(filter === undefined ? [] : [`matching ${filter}`]),
    ...(sample === undefined ? [] : [`a sample of ${100 * sample} %`]),
  ];
  return [
    `${colors.bold('Conformance')}, ${[plural(selected, 'case'), ...part].join(', ')}`,
    ...backends.map((each) => deviceLine(labelOf(each), each)),
    '',
    backendsTable(backends, colors),
    ...backends.flatMap((each) => failureTexts(each, colors)),
  ].join('\n');
}

function deviceLine(label: string, { device, notRun }: Pick<BackendRun, 'device' | 'notRun'>): string {
  return printable(
    `${label}: ${notRun === undefined ? `${device?.name}, ${device?.driver}` : `not run, ${notRun.message}`}`,
  );
}

function failureTexts(run: BackendRun, colors: Colors): string[] {
  const failed = failuresOf(run);
  const backend = shellWord(run.backend);
  const shown = failed
    .slice(0, MAX_FAILURES)
    .map(({ forced, ...result }) => failureText(result, { backend, forced, colors }));
  const rest = failed.length - shown.length;
  return rest === 0 ? shown : [...shown, `and ${plural(rest, 'more failure')}: --html shows them all`];
}

function benchText(run: BenchRun, colors: Colors): string {
  const { backends, rows, size, isPart } = run;
  const state = isPart ? `, ${colors.yellow('interrupted: only a part was measured')}` : '';
  const head = `${colors.bold('Bench')}, ${plural(rows.length, 'case')} of size ${size}${state}`;
  return [head, ...backends.map((each) => deviceLine(each.backend, each)), '', benchTables(run, colors)].join('\n');
}

/** Names the origin of a report, for the page. */
function sourceOf(report: ReportFile): string {
  if (report.kind === 'conformance') return `${report.file}: conformance`;
  const { date, versions } = report.content;
  return `${report.file}: bench, ${date.slice(0, 16).replace('T', ' ')} UTC, concord ${versions.concord} on ${versions.host}`;
}
