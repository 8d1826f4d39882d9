import { type BackendProvider, printable } from '@concord/backend-core';
import {
  type CaseSelection,
  type ConformanceReport,
  neverRanText,
  runConformance,
  type Tally,
} from '@concord/conformance';
import type { CommandContext, Output } from '../context.ts';
import { EXIT } from '../command-error.ts';
import { type CasePrinter, createCasePrinter } from '../output/case-printer.ts';
import { type Colors, colorsFor } from '../output/colors.ts';
import { excludedLines, variantsTable } from '../output/case-summary.ts';
import { reportNotRun, tryBackend } from '../choose-backend.ts';
import type { BackendRun } from './backend-run.ts';
import { forcedVariants } from './each-variant.ts';
import { shellWord } from '../output/shell-quote.ts';

/** The options of {@link runBackend}: the cases, and where it prints. */
export interface RunBackendOptions {
  readonly selection: CaseSelection;
  /** The ops of the selected cases, one for each case. */
  readonly ops: readonly string[];
  readonly text: Output;
  /** Options that name the module it is from, for the command that runs a case again; empty for our own. */
  readonly origin: string;
  /**
   * True for one round of several: variants that another forced one kept from running come again, so this is no failure
   * yet.
   */
  readonly isRound?: boolean;
  /** Ends the run at the first case that fails. */
  readonly bail: boolean;
}

/** Runs the cases on one backend and prints them as they come; ends early when the signal is aborted. */
export async function runBackend(
  provider: BackendProvider,
  context: CommandContext,
  { selection, ops, text, origin, bail, isRound = false }: RunBackendOptions,
): Promise<BackendRun> {
  const { stderr, signal } = context;
  const colors = colorsFor(text);
  const started = performance.now();
  const forced = forcedVariants();
  const typed = `${shellWord(provider.name)}${origin}`;
  const printer = createCasePrinter({ text, terminal: stderr, backend: typed, forced, ops });
  const stop = new AbortController();
  const { report, notRun } = await tryBackend(provider, context, () =>
    runConformance(() => provider.create(), {
      ...selection,
      signal: AbortSignal.any([signal, stop.signal]),
      onCase: (result, done, total) => {
        printer.onCase(result, done, total);
        if (bail && result.status === 'failed') stop.abort();
      },
    }),
  );
  const ms = performance.now() - started;
  if (notRun !== undefined) {
    const exitCode = reportNotRun(notRun, context);
    return { backend: provider.name, device: null, versions: {}, cases: [], exitCode, ms, notRun };
  }
  const { backend, device, versions, cases, variants, intervals } = report;
  // Aborted after the last case, the run is whole.
  const isPart = signal.aborted && cases.length < ops.length;
  if (isPart) printer.finish(colors.yellow('Interrupted: only a part was run'));
  else if (stop.signal.aborted) printer.finish(colors.red('Ended at the first case that failed'));
  else finishRun(report, printer, { colors, isRound });
  const exitCode = isPart ? EXIT.interrupted : report.ok ? EXIT.ok : EXIT.failed;
  if (variants === undefined && forced.length > 0) text.write(`${backend} has no kernel variants to force\n`);
  if (variants !== undefined && variants.forced.length > 0) text.write(`\n${variantsTable(variants, colors)}\n`);
  if (intervals !== undefined) text.write(`\n${intervalsText(intervals)}\n`);
  const excluded = excludedLines(variants?.excluded ?? []);
  if (excluded.length > 0) text.write(`\nExcluded on this device:\n${excluded.map((line) => `  ${line}\n`).join('')}`);
  const run = { backend, device, versions, cases, exitCode, ms, origin };
  return variants === undefined ? run : { ...run, variants };
}

/** The share of the elements of `run` that could be anything. */
function intervalsText({ elements, loose }: Tally): string {
  const share = ((100 * loose) / elements).toFixed(2);
  return `${elements} elements were compared with intervals; no useful bound for ${share} % of them`;
}

function finishRun(
  report: ConformanceReport,
  printer: CasePrinter,
  { colors, isRound }: { readonly colors: Colors; readonly isRound: boolean },
): void {
  const { backend, passed, failed, unsupported, device, variants } = report;
  const where = device === null ? backend : `${backend} on ${printable(device.name)}`;
  if (report.ok) {
    const rest = unsupported === 0 ? 'none unsupported' : `${unsupported} unsupported`;
    printer.finish(`${colors.green('Everything passed')}, ${rest}: ${where}`);
  } else if (passed === 0 && failed === 0) {
    printer.finish(`${colors.red('Nothing passed')}: ${where}`);
  } else if (failed === 0 && variants !== undefined && variants.neverRan.length > 0) {
    const later = `${passed} passed; others were taken before ${variants.neverRan.join(', ')}`;
    printer.finish(
      isRound ? `${later}: ${where}` : `${colors.red(neverRanText(variants))}; ${passed} passed: ${where}`,
    );
  } else {
    printer.finish(`${colors.red(`${failed} failed`)}, ${passed} passed, ${unsupported} unsupported: ${where}`);
  }
}
