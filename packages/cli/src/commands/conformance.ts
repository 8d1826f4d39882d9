import { allCases, type CaseSelection, type ConformanceCase, selectCases } from '@concord/conformance';
import { chooseProviders } from '../choose-backend.ts';
import { CommandError, EXIT, worstExit } from '../command-error.ts';
import { type BackendRun, toConformanceJson } from '../conformance/backend-run.ts';
import { runBackend } from '../conformance/run-backend.ts';
import { runEachVariant } from '../conformance/run-each-variant.ts';
import type { CommandContext, Output } from '../context.ts';
import { moduleArguments, withModule } from '../load-module.ts';
import type { ModuleOptions } from '../option-values.ts';
import { nearFilters } from '../near-ids.ts';
import { backendsTable } from '../output/case-summary.ts';
import { colorsFor } from '../output/colors.ts';
import { checkWritable, STDOUT, writeJson } from '../output/output-file.ts';

/** Options of `concord conformance`. */
export interface ConformanceOptions extends ModuleOptions {
  readonly backend?: string;
  readonly filter?: string;
  readonly sample?: number;
  readonly list?: true;
  readonly bail?: true;
  readonly eachVariant?: true;
  readonly json?: string;
}

/** Runs `concord conformance`: do backends give the right answers on this machine. */
export async function conformance(given: CommandContext, options: ConformanceOptions): Promise<number> {
  const { stdout, stderr, signal } = given;
  const { filter, sample, json, bail = false } = options;
  const selection: CaseSelection = { filter, sample };
  const selected = casesOf(selection);
  if (json !== undefined) await checkWritable(json);
  const { loaded, providers: known } = await withModule(given.providers, options);
  const context = { ...given, providers: known };
  const providers = await chooseProviders(known, options.backend ?? loaded?.name);
  const isList = providers.length > 1;
  const text = json === STDOUT ? stderr : stdout;
  const colors = colorsFor(text);
  const backends: BackendRun[] = [];
  // One after the other: two APIs that open one GPU at once are no fair test of either.
  for (const provider of providers) {
    if (isList) text.write(`${backends.length === 0 ? '' : '\n'}${colors.bold(`--- ${provider.name}`)}\n`);
    const origin = provider === loaded ? moduleArguments(options) : '';
    const ops = selected.map(({ op }) => op);
    const run = { selection, ops, text, origin, bail };
    const first = await runBackend(provider, context, run);
    backends.push(options.eachVariant === true ? await runEachVariant(first, provider, context, run) : first);
    if (signal.aborted || (bail && backends.at(-1)?.exitCode === EXIT.failed)) break;
  }
  if (isList) text.write(`\n${backendsTable(backends, colors)}\n`);
  const exitCode = worstExit(backends.map((run) => run.exitCode));
  if (exitCode === EXIT.interrupted || (signal.aborted && backends.length < providers.length)) return EXIT.interrupted;
  if (json !== undefined) await writeJson(json, toConformanceJson({ backends, filter, sample }), stdout);
  return exitCode;
}

/** Prints the ids of the cases that the options select, one a line. */
export function listCases(stdout: Output, { filter, sample }: ConformanceOptions): number {
  stdout.write(
    casesOf({ filter, sample })
      .map(({ id }) => `${id}\n`)
      .join(''),
  );
  return EXIT.ok;
}

/** @throws {CommandError} NO_SUCH_CASE when there are none */
function casesOf(selection: CaseSelection): ConformanceCase[] {
  const selected = selectCases(selection);
  if (selected.length === 0) throw nothingMatches(selection.filter ?? '');
  return selected;
}

function nothingMatches(filter: string): CommandError {
  const near = nearFilters(filter, allCases());
  const forms = "an op such as gemmF16, a glob such as 'gemm/exact/**', or an id such as gemm/exact/m=17,n=33,k=65,TN";
  const hint = near.length === 0 ? forms : `did you mean ${near.map((each) => `'${each}'`).join(' or ')}?`;
  return new CommandError(`no case matches "${filter}"`, {
    code: 'NO_SUCH_CASE',
    hint: `${hint}; concord conformance --list prints all ids`,
  });
}
