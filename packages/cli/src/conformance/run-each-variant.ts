import type { BackendProvider } from '@concord/backend-core';
import type { VariantRuns } from '@concord/conformance';
import type { CommandContext } from '../context.ts';
import { EXIT, worstExit } from '../command-error.ts';
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
  const { variants, notRun } = first;
  const { text, bail } = options;
  if (notRun !== undefined || first.exitCode === EXIT.interrupted || (bail && hasFailure(first))) return first;
  if (variants === undefined || variants.candidates.length === 0) {
    text.write(`${first.backend}: no kernel variants to force\n`);
    return { ...first, variantFailures: [] };
  }
  const colors = colorsFor(text);
  const runs: BackendRun[] = [];
  const runRound = async (round: readonly string[], title: string): Promise<BackendRun> => {
    text.write(`\n${colors.bold(`--- ${title}:`)} ${round.join(', ')}\n`);
    return whileForced(round, () => runBackend(provider, context, { ...options, isRound: round.length > 1 }));
  };
  const rounds = roundsOf(variants);
  const alone: string[] = [];
  for (const [index, round] of rounds.entries()) {
    const run = await runRound(round, `forced, round ${index + 1} of ${rounds.length}`);
    if (context.signal.aborted) return { ...first, exitCode: EXIT.interrupted };
    const waiting = round.length > 1 && isOnlyNeverRan(run);
    if (waiting) alone.push(...(run.variants?.neverRan ?? []));
    // That others were taken first is no failure.
    runs.push(waiting ? { ...run, exitCode: EXIT.ok } : run);
    if (bail && hasFailure(run)) return merge(first, variants, runs);
  }
  for (const [index, id] of alone.entries()) {
    runs.push(await runRound([id], `forced by itself, ${index + 1} of ${alone.length}`));
    if (context.signal.aborted) return { ...first, exitCode: EXIT.interrupted };
    if (bail && hasFailure(runs.at(-1) as BackendRun)) break;
  }
  const merged = merge(first, variants, runs);
  const count = plural(variants.candidates.length, 'variant');
  const isGood = worstExit(runs.map(({ exitCode }) => exitCode)) === EXIT.ok && merged.variants?.neverRan.length === 0;
  text.write(`\n${count}: ${isGood ? colors.green('passed, each forced') : colors.red('not all passed')}\n`);
  return merged;
}

/** True if forced variants never ran, and nothing else failed. */
function isOnlyNeverRan(run: BackendRun): boolean {
  return (run.variants?.neverRan ?? []).length > 0 && !hasFailure(run);
}

function hasFailure({ cases }: BackendRun): boolean {
  return cases.some(({ status }) => status === 'failed');
}

function merge(first: BackendRun, variants: VariantRuns, runs: readonly BackendRun[]): BackendRun {
  const all = [first, ...runs];
  const counted: Record<string, number> = {};
  for (const run of all) {
    for (const [id, count] of Object.entries(run.variants?.runs ?? {})) counted[id] = (counted[id] ?? 0) + count;
  }
  const variantFailures = runs.flatMap(({ cases, variants: { forced = [] } = {} }) =>
    cases.filter(({ status }) => status === 'failed').map((result) => ({ ...result, forced })),
  );
  const excluded = new Map(
    all.flatMap((run) => (run.variants?.excluded ?? []).map((variant) => [variant.id, variant])),
  );
  const neverRan = variants.candidates.filter((id) => counted[id] === undefined);
  const codes = [...all.map(({ exitCode }) => exitCode), neverRan.length > 0 ? EXIT.failed : EXIT.ok];
  return {
    ...first,
    variantFailures,
    variants: {
      ...variants,
      runs: counted,
      neverRan: [...variants.neverRan, ...neverRan],
      excluded: [...excluded.values()],
    },
    exitCode: worstExit(codes),
    ms: all.reduce((sum, { ms }) => sum + ms, 0),
  };
}
