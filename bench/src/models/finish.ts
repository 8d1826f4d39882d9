import type { DeviceInfo } from '@concord/backend-core';
import { loadTargets } from '../targets.ts';
import { type CaseResult, type ContestantResult, newResults, type Results, saveResults, saveText } from '../results.ts';
import { formatModel } from './table.ts';

/** Files that runs of models write into the folder of their device, by the name of the command. */
export const MODEL_FILES = {
  gpt: { results: 'gpt.json', table: 'gpt.md' },
  resnet: { results: 'resnet.json', table: 'resnet.md' },
} as const;

/** The outcome of a run of a model. */
export interface FoundModel {
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
