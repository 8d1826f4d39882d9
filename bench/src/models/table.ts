import type { DeviceInfo } from '@concord/backend-core';
import { loadTargets, type Target } from '../ratios.ts';
import {
  type CaseResult,
  type ContestantResult,
  type Entry,
  newResults,
  type Results,
  saveResults,
  saveText,
} from '../results.ts';
import { casesTable, type Column, entryOf, formatConditions, formatContestants } from '../table.ts';

/** A run of the model in Markdown: the device, a table with ratios, the contestants and the reasons of absent ones. */
export function formatModel(results: Results, targets: readonly Target[]): string {
  const { cases, contestants } = results;
  const others = contestants.filter(
    ({ role, name }) => role !== 'ours' && cases.some((each) => entryOf(each, name) !== undefined),
  );
  const ofOurs =
    (cell: (ours: Entry | undefined) => string): Column[1] =>
    ({ result }) =>
      cell(entryOf(result, 'concord'));
  const text = casesTable(results, targets, [
    ['work', ({ result }) => result.op.replaceAll('_', ' ')],
    ['case', ({ result }) => result.case],
    ['ms', ofOurs((ours) => ms(ours?.ms))],
    ['least', ofOurs((ours) => ms(ours?.rounds && Math.min(...ours.rounds)))],
    ['noise', ofOurs(noiseOf)],
    ['of it JavaScript', ofOurs((ours) => ms(ours?.hostMs))],
    ...others.map(({ name }): Column => [
      `against ${name}`,
      ({ result }) => against(result, name, entryOf(result, 'concord')),
    ]),
  ]);
  return [formatConditions(results), text, formatContestants(results)].join('\n\n');
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

function ms(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(value < 10 ? 3 : 1);
}

/** Files that runs of models write into the folder of their device, by the name of the command. */
export const MODEL_FILES = {
  gpt: { results: 'gpt.json', table: 'gpt.md' },
  resnet: { results: 'resnet.json', table: 'resnet.md' },
} as const;

/** The outcome of a run of a model. */
interface FoundModel {
  /** Names the folder of the results. */
  readonly arena: string;
  readonly device: DeviceInfo;
  readonly schedule: Results['schedule'];
  readonly contestants: readonly ContestantResult[];
  readonly cases: readonly CaseResult[];
  readonly isPrinted: boolean;
  /** The parent of the device's folder, if results are written. */
  readonly parent: URL | undefined;
}

/** Prints and writes the results. @returns whether all of our own results are there and right */
export function finishModel(
  kind: keyof typeof MODEL_FILES,
  { arena, device, schedule, contestants, cases, isPrinted, parent }: FoundModel,
): boolean {
  const results = newResults({
    arena,
    device: device.name,
    ...(device.driver !== undefined && { driver: device.driver }),
    schedule,
    contestants,
    cases,
  });
  const text = formatModel(results, loadTargets());
  if (isPrinted) console.log(text);
  if (parent !== undefined) {
    const folder = new URL(`${results.arena}/`, parent);
    saveResults(folder, results, MODEL_FILES[kind].results);
    saveText(new URL(MODEL_FILES[kind].table, folder), `${text}\n`);
  }
  const own = contestants.filter(({ role }) => role === 'ours').map(({ name }) => name);
  return cases.every(({ entries }) => entries.some(({ name, ms }) => own.includes(name) && ms !== undefined));
}
