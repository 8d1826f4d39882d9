import { type CaseSelection, selectCases } from '@concord/conformance';
import { type Command, InvalidArgumentError } from 'commander';
import { chooseProviders } from '../choose-backend.ts';
import { CommandError } from '../command-error.ts';
import type { BackendRun } from '../conformance/backend-run.ts';
import { toConformanceJson } from '../conformance/conformance-json.ts';
import { runBackend } from '../conformance/run-backend.ts';
import { runEachVariant } from '../conformance/run-each-variant.ts';
import type { CommandContext, Finish } from '../context.ts';
import { EXIT, EXIT_CODE_HELP, worstExit } from '../exit-codes.ts';
import { conformancePage } from '../html/conformance-page.ts';
import { addModuleOptions, moduleArguments, type ModuleOptions, withModule } from '../load-module.ts';
import { backendsTable } from '../output/backends-table.ts';
import { colorsFor } from '../output/colors.ts';
import { checkReportFiles, STDOUT, writeJson, writeText } from '../output/output-file.ts';
import { environmentOf } from '../report-environment.ts';

interface Options extends ModuleOptions {
  readonly backend?: string;
  readonly filter?: string;
  readonly sample?: number;
  readonly eachVariant?: true;
  readonly json?: string;
  readonly html?: string;
}

const HELP = `
Examples:
  concord conformance
  concord conformance --backend cpu --filter 'gemm/**'
  concord conformance --backend webgpu,cpu       both, and a table of the two
  concord conformance --sample 0.1               a tenth of the cases, always the same
  concord conformance --html report.html         a page to read and to pass on
  concord conformance --module ./dist/index.js   a backend of your own
  concord conformance --backend level-zero --each-variant
  concord conformance --json report.json
  concord conformance --json - | jq '.cases[] | select(.status == "failed")'
  CONCORD_REQUIRE=webgpu concord conformance     a missing WebGPU device is a failure
${EXIT_CODE_HELP}
With several backends it is the worst of theirs: 1 before 3 before 0.`;

/** Adds `concord conformance`: do backends give the right answers on this machine. */
export function addConformanceCommand(program: Command, context: CommandContext, finish: Finish): void {
  addModuleOptions(program.command('conformance'))
    .summary('check that a backend gives the right answers')
    .description('Runs the conformance suite on a backend, or several, and compares with the float64 oracle.')
    .option('--backend <names>', 'what to run, with commas between several (default: what an application would get)')
    .option('--filter <glob>', "only the cases whose id matches: an op, a glob such as 'gemm/exact/**', or one id")
    .option('--sample <fraction>', 'only that fraction of them, always the same ones, and every fixed/ case', fraction)
    .option('--each-variant', 'then run them again with each kernel variant that they could take forced in turn')
    .option('--html <file>', 'write a page to read in a browser; - writes to stdout and all else to stderr')
    .option('--json <file>', 'write the results as JSON; - writes to stdout and all else to stderr')
    .addHelpText('after', HELP)
    .action(async (options: Options) => finish(await conformance(context, options)));
}

async function conformance(given: CommandContext, options: Options): Promise<number> {
  const { stdout, stderr, signal } = given;
  const { filter, sample, json, html } = options;
  const selection: CaseSelection = { filter, sample };
  const selected = selectCases(selection);
  if (selected.length === 0) throw nothingMatches(filter ?? '');
  await checkReportFiles(json, html);
  const { loaded, providers: known } = await withModule(given.providers, options);
  const context = { ...given, providers: known };
  const providers = await chooseProviders(known, options.backend ?? loaded?.name);
  const isList = providers.length > 1;
  const text = json === STDOUT || html === STDOUT ? stderr : stdout;
  const colors = colorsFor(text);
  const backends: BackendRun[] = [];
  // One after the other: two APIs that open one GPU at once are no fair test of either.
  for (const provider of providers) {
    if (isList) text.write(`${backends.length === 0 ? '' : '\n'}${colors.bold(`--- ${provider.name}`)}\n`);
    const origin = provider === loaded ? moduleArguments(options) : '';
    const ops = selected.map(({ op }) => op);
    const run = { selection, ops, text, origin };
    const first = await runBackend(provider, context, run);
    backends.push(options.eachVariant === true ? await runEachVariant(first, provider, context, run) : first);
    if (signal.aborted) break;
  }
  if (isList) text.write(`\n${backendsTable(backends, colors)}\n`);
  const exitCode = worstExit(backends.map((run) => run.exitCode));
  if (backends.length < providers.length || exitCode === EXIT.interrupted) return EXIT.interrupted;
  const run = { backends, selected: selected.length, filter, sample };
  if (json !== undefined) await writeJson(json, toConformanceJson(run), stdout);
  if (html !== undefined) await writeText(html, conformancePage(run, environmentOf()), stdout);
  return exitCode;
}

function nothingMatches(filter: string): CommandError {
  return new CommandError(`no case matches "${filter}"`, {
    code: 'NO_SUCH_CASE',
    exitCode: EXIT.usage,
    hint: "an op such as gemmF16, a glob such as 'gemm/exact/**', or an id such as gemm/exact/m=17,n=33,k=65,TN",
  });
}

function fraction(value: string): number {
  const number = Number(value);
  if (!(number > 0 && number <= 1)) throw new InvalidArgumentError('It must be above 0 and up to 1, such as 0.1.');
  return number;
}
