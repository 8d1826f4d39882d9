import { type ConformanceReport, runConformance, selectCases } from '@concord/conformance';
import type { Command } from 'commander';
import { chooseProvider } from '../choose-backend.ts';
import { CommandError } from '../command-error.ts';
import type { CommandContext, Finish } from '../context.ts';
import { EXIT, EXIT_CODE_HELP } from '../exit-codes.ts';
import { type CasePrinter, createCasePrinter } from '../output/case-printer.ts';
import { type Colors, colorsFor } from '../output/colors.ts';
import { checkWritable, STDOUT, writeJson } from '../output/json-file.ts';
import { runUnlessUnavailable } from '../run-unless-unavailable.ts';

/** What `--json` writes: the run without what only people need. */
export type ConformanceJson = Pick<ConformanceReport, 'backend' | 'device' | 'versions' | 'cases'>;

interface Options {
  readonly backend?: string;
  readonly filter?: string;
  readonly json?: string;
}

const HELP = `
Examples:
  concord conformance
  concord conformance --backend cpu --filter 'gemm/**'
  concord conformance --json report.json
  concord conformance --json - | jq '.cases[] | select(.status == "failed")'
  CONCORD_REQUIRE=webgpu concord conformance     a missing WebGPU device is a failure
${EXIT_CODE_HELP}`;

/** Adds `concord conformance`: does a backend give the right answers on this machine. */
export function addConformanceCommand(program: Command, context: CommandContext, finish: Finish): void {
  program
    .command('conformance')
    .summary('check that a backend gives the right answers')
    .description('Runs the conformance suite on a backend and compares it with the float64 oracle.')
    .option('--backend <name>', 'the backend to run (default: the one an application would get)')
    .option('--filter <glob>', "only the cases whose id matches: an op, a glob such as 'gemm/exact/**', or one id")
    .option('--json <file>', 'write the results as JSON; - writes to stdout and all else to stderr')
    .addHelpText('after', HELP)
    .action(async (options: Options) => finish(await conformance(context, options)));
}

async function conformance(context: CommandContext, options: Options): Promise<number> {
  const { providers, stdout, stderr, signal } = context;
  const { filter, json } = options;
  const selected = selectCases(filter);
  if (selected.length === 0) throw nothingMatches(filter ?? '');
  if (json !== undefined) await checkWritable(json);
  const provider = await chooseProvider(providers, options.backend);
  const text = json === STDOUT ? stderr : stdout;
  const printer = createCasePrinter({
    text,
    terminal: stderr,
    backend: provider.name,
    ops: selected.map(({ op }) => op),
  });
  const report = await runUnlessUnavailable(provider, context, () =>
    runConformance(() => provider.create(), {
      ...(filter === undefined ? {} : { filter }),
      signal,
      onCase: (result, done, total) => printer.onCase(result, done, total),
    }),
  );
  if (typeof report === 'number') return report;
  // Aborted after the last case, the run is whole.
  if (signal.aborted && report.cases.length < selected.length) {
    printer.finish(colorsFor(text).yellow('Interrupted: only a part was run'));
    return EXIT.interrupted;
  }
  finishRun(report, printer, colorsFor(text));
  if (json !== undefined) await writeJson(json, toJson(report), stdout);
  return report.ok ? EXIT.ok : EXIT.failed;
}

function toJson({ backend, device, versions, cases }: ConformanceReport): ConformanceJson {
  return {
    backend,
    device,
    versions,
    cases: cases.map(({ id, op, status, ms, detail }) => ({
      ...{ id, op, status, ms },
      ...(detail === undefined ? {} : { detail }),
    })),
  };
}

function nothingMatches(filter: string): CommandError {
  return new CommandError(`no case matches "${filter}"`, {
    code: 'NO_SUCH_CASE',
    exitCode: EXIT.usage,
    hint: "ids look like gemm/exact/m=17,n=33,k=65,TN; a glob for all of gemm is 'gemm/**'",
  });
}

function finishRun(report: ConformanceReport, printer: CasePrinter, colors: Colors): void {
  const { backend, passed, failed, unsupported, device } = report;
  const where = device === null ? backend : `${backend} on ${device.name}`;
  if (report.ok) {
    const rest = unsupported === 0 ? 'none unsupported' : `${unsupported} unsupported`;
    printer.finish(`${colors.green('Everything passed')}, ${rest}: ${where}`);
  } else if (passed === 0 && failed === 0) {
    printer.finish(`${colors.red('Nothing passed')}: ${where}`);
  } else {
    printer.finish(`${colors.red(`${failed} failed`)}, ${passed} passed, ${unsupported} unsupported: ${where}`);
  }
}
