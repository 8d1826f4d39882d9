import type { DeviceInfo, FloatDType } from '@concord/backend-core';
import { casesTable, type Column, entryOf, formatConditions, formatContestants } from './table.ts';
import {
  type CaseResult,
  type ContestantResult,
  type Entry,
  newResults,
  type Results,
  saveResults,
  saveText,
  short,
  timedEntry,
} from './results.ts';
import { figureOf, type Runner, type Schedule, takeTurns } from './turns.ts';

/** To see that everything runs. */
export const QUICK = { rounds: 3, roundMs: 5 } as const;
/** A GPU that had nothing to do runs at a fraction of its clock at first. */
export const WHOLE = { rounds: 7, roundMs: 100, warmMs: 300 } as const;
/** On cores that others use too. */
export const WHOLE_ON_CPU = { rounds: 11, roundMs: 20, pauseMs: 20, takes: 'least' } as const;

/** The work of a model made ready on a device. */
export interface PreparedModel {
  /** Does the work `count` times and waits for all of it. @returns milliseconds of handing it over, where they are known */
  readonly calls: (count: number) => Promise<number | undefined>;
  /**
   * Does the work once more. Undefined where its weights are others than the reference's.
   *
   * @returns the outputs that are compared with the reference, row-major
   */
  readonly outputs: (() => Promise<Float32Array>) | undefined;
  readonly close: () => Promise<void>;
}

/** Makes `count` calls, with what follows each. @returns milliseconds in which JavaScript handed them over */
export async function hostMsOf(
  count: number,
  call: (index: number) => void,
  then?: () => Promise<unknown>,
): Promise<number> {
  let hostMs = 0;
  for (let index = 0; index < count; index++) {
    const start = performance.now();
    call(index);
    hostMs += performance.now() - start;
    if (then !== undefined) await then();
  }
  return hostMs;
}

/** Share of the largest output that one may be off; f16 is rounded in each layer. */
const TOLERANCE = { f32: 1e-4, f16: 5e-2 } as const;

/**
 * Times all contestants on one work of a model, each after its outputs were compared with the reference.
 *
 * @param contestants - functions that make the work ready, by the contestants' names
 * @param reference - the right outputs; where they are not known, those of the first contestant
 */
export async function measureModel(
  dtype: FloatDType,
  contestants: ReadonlyMap<string, () => Promise<PreparedModel>>,
  reference: Float32Array | undefined,
  schedule: Schedule,
): Promise<Entry[]> {
  const hostMs = new Map<string, number[]>();
  let right = reference;
  const ready = async (name: string, prepare: () => Promise<PreparedModel>): Promise<Runner> => {
    const prepared = await prepare();
    const hosts: number[] = [];
    hostMs.set(name, hosts);
    const time = async (calls: number): Promise<number> => {
      const start = performance.now();
      const ms = await prepared.calls(calls);
      if (ms !== undefined) hosts.push(ms / calls);
      return performance.now() - start;
    };
    const check = async (): Promise<void> => {
      const outputs = await prepared.outputs?.();
      if (outputs !== undefined && right !== undefined) checkOutputs(outputs, right, dtype);
      right ??= outputs;
    };
    return { check, time, close: () => prepared.close() };
  };
  const runners = [...contestants].map(([name, prepare]) => [name, () => ready(name, prepare)] as const);
  return [...(await takeTurns(new Map(runners), schedule))].map(([name, turns]) => {
    const entry = timedEntry(name, turns, schedule.takes);
    // Those before are of finding out how many calls make a round.
    const hosts = hostMs.get(name)?.slice(-(entry.rounds?.length ?? 0)) ?? [];
    if (entry.rounds === undefined || hosts.length === 0) return entry;
    return { ...entry, hostMs: short(figureOf(hosts, schedule.takes)) };
  });
}

/** @throws {Error} where the outputs are not those of the reference */
export function checkOutputs(got: Float32Array, reference: Float32Array, dtype: FloatDType): void {
  if (got.length !== reference.length) throw new Error(`${got.length} outputs instead of ${reference.length}`);
  const allowed = TOLERANCE[dtype] * reference.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (const [i, want] of reference.entries()) {
    // Not a number is not right either.
    if (!(Math.abs((got[i] as number) - want) <= allowed)) throw new Error(`output ${i} is ${got[i]}, not ${want}`);
  }
}

/** A run of the model in Markdown: the device, a table with ratios, the contestants and the reasons of absent ones. */
export function formatModel(results: Results): string {
  const { cases, contestants } = results;
  const others = contestants.filter(
    ({ role, name }) => role !== 'ours' && cases.some((each) => entryOf(each, name) !== undefined),
  );
  const ofOurs =
    (cell: (ours: Entry | undefined) => string): Column[1] =>
    ({ result }) =>
      cell(entryOf(result, 'concord'));
  const text = casesTable(results, [
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
  lm: { results: 'lm.json', table: 'lm.md' },
  onnx: { results: 'onnx.json', table: 'onnx.md' },
  train: { results: 'train.json', table: 'train.md' },
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
  const text = formatModel(results);
  if (isPrinted) console.log(text);
  if (parent !== undefined) {
    const folder = new URL(`${results.arena}/`, parent);
    saveResults(folder, results, MODEL_FILES[kind].results);
    saveText(new URL(MODEL_FILES[kind].table, folder), `${text}\n`);
  }
  const own = contestants.filter(({ role }) => role === 'ours').map(({ name }) => name);
  return cases.every(({ entries }) => entries.some(({ name, ms }) => own.includes(name) && ms !== undefined));
}
