import type { BackendProvider } from '@concord/backend-core';
import type { VariantRuns } from '@concord/conformance';
import type { CommandContext } from '../context.ts';
import { EXIT, worstExit } from '../exit-codes.ts';
import { colorsFor } from '../output/colors.ts';
import { plural } from '../output/format.ts';
import type { BackendRun } from './backend-run.ts';
import { roundsOf, whileForced } from './each-variant.ts';
import { runBackend, type RunBackendOptions } from './run-backend.ts';

/**
 * Runs the cases again with each variant forced that could have run in `first`: several of different kinds in a round, and
 * those that another one kept from running once more by themselves.
 *
 * @returns `first` with the failures, the counts and the worst exit code of all rounds
 */
export async function runEachVariant(
  first: BackendRun,
  provider: BackendProvider,
  context: CommandContext,
  options: RunBackendOptions,
): Promise<BackendRun> {
  const { variants } = first;
  if (variants === undefined || variants.candidates.length === 0 || first.exitCode === EXIT.interrupted) return first;
  const { text } = options;
  const colors = colorsFor(text);
  const runs: BackendRun[] = [];
  const runRound = async (round: readonly string[], number: number, of: number): Promise<BackendRun> => {
    text.write(`\n${colors.bold(`--- round ${number} of ${of}:`)} ${round.join(', ')}\n`);
    const run = await whileForced(round, () => runBackend(provider, context, options));
    runs.push(run);
    return run;
  };
  const rounds = roundsOf(variants);
  const alone: string[] = [];
  for (const [index, round] of rounds.entries()) {
    const run = await runRound(round, index + 1, rounds.length);
    if (context.signal.aborted) return { ...first, exitCode: EXIT.interrupted };
    // Where it ran in no call of its own, another variant of the round was asked first.
    if (round.length > 1 && isOnlyNeverRan(run)) alone.push(...(runs.pop()?.variants?.neverRan ?? []));
  }
  for (const [index, id] of alone.entries()) {
    await runRound([id], index + 1, alone.length);
    if (context.signal.aborted) return { ...first, exitCode: EXIT.interrupted };
  }
  const merged = merge(first, variants, runs);
  const count = plural(variants.candidates.length, 'variant');
  const verdict = merged.exitCode === EXIT.ok ? colors.green('passed, each forced') : colors.red('not all passed');
  text.write(`\n${count}: ${verdict}\n`);
  return merged;
}

/** Nothing failed but that forced variants never ran. */
function isOnlyNeverRan({ cases, variants }: BackendRun): boolean {
  return (variants?.neverRan ?? []).length > 0 && cases.every(({ status }) => status !== 'failed');
}

function merge(first: BackendRun, variants: VariantRuns, runs: readonly BackendRun[]): BackendRun {
  const all = [first, ...runs];
  const counted: Record<string, number> = {};
  for (const run of all) {
    for (const [id, count] of Object.entries(run.variants?.runs ?? {})) counted[id] = (counted[id] ?? 0) + count;
  }
  const failed = runs.flatMap(({ cases, variants: forced }) =>
    cases
      .filter(({ status }) => status === 'failed')
      .map((result) => ({ ...result, detail: `with ${forced?.forced.join(', ')}: ${result.detail ?? ''}` })),
  );
  const forced = variants.candidates;
  const neverRan = forced.filter((id) => counted[id] === undefined);
  const codes = [...all.map(({ exitCode }) => exitCode), neverRan.length > 0 ? EXIT.failed : EXIT.ok];
  return {
    ...first,
    cases: [...first.cases.filter(({ id }) => failed.every((result) => result.id !== id)), ...failed],
    variants: { ...variants, runs: counted, forced, neverRan },
    exitCode: worstExit(codes),
    ms: all.reduce((sum, { ms }) => sum + ms, 0),
  };
}
