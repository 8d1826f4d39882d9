import { standingsOf, type Target } from '../ratios.ts';
import type { CaseResult, Entry, Results } from '../results.ts';
import { entryOf, formatConditions, formatContestants, formatWanted, row, table } from '../table.ts';

/** A run of the model in Markdown: the device, a table with ratios, the contestants and the reasons of absent ones. */
export function formatModel(results: Results, targets: readonly Target[]): string {
  const { cases, contestants } = results;
  const standings = standingsOf(results);
  const others = contestants.filter(
    ({ role, name }) => role !== 'ours' && cases.some((each) => entryOf(each, name) !== undefined),
  );
  const wanted = formatWanted(results, standings, targets);
  const hasWanted = wanted.some((text) => text !== '');
  const head = [
    ...['work', 'case', 'ms', 'least', 'noise', 'of it JavaScript'],
    ...others.map(({ name }) => `against ${name}`),
    ...(hasWanted ? ['wanted'] : []),
  ];
  const rows = standings.map(({ result }, i) => {
    const ours = entryOf(result, 'concord');
    return row(
      ...[result.op.replaceAll('_', ' '), result.case, ms(ours?.ms), ms(least(ours)), noiseOf(ours), ms(ours?.hostMs)],
      ...others.map(({ name }) => against(result, name, ours)),
      ...(hasWanted ? [wanted[i] as string] : []),
    );
  });
  return [formatConditions(results), table(head, rows), formatContestants(results)].join('\n\n');
}

/** The distance of the slowest round from the fastest, as a share of the median. */
function noiseOf(entry: Entry | undefined): string {
  if (entry?.ms === undefined || entry.rounds === undefined) return '–';
  return `${Math.round((100 * (Math.max(...entry.rounds) - Math.min(...entry.rounds))) / entry.ms)} %`;
}

/** Their milliseconds, and how many times as fast ours is. */
function against(result: CaseResult, name: string, ours: Entry | undefined): string {
  const theirs = entryOf(result, name);
  if (theirs?.failed !== undefined) return 'failed';
  if (theirs?.ms === undefined) return '–';
  return ours?.ms === undefined ? ms(theirs.ms) : `${ms(theirs.ms)}, ${(theirs.ms / ours.ms).toFixed(2)}x`;
}

const least = (entry: Entry | undefined): number | undefined => {
  return entry?.rounds === undefined ? undefined : Math.min(...entry.rounds);
};

function ms(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(value < 10 ? 3 : 1);
}
