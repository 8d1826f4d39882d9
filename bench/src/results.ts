import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Overhead } from './overhead.ts';
import type { LimitCase } from './limits/cases.ts';
import { figureOf, type Outcome, type Schedule, type Turns } from './turns.ts';
import { reasonOf } from './options.ts';
import type { Peer, Role } from './peer.ts';

/** Of the file's layout. A reader refuses others. */
const VERSION = 1;

/** The folder of committed results. */
export const RESULTS: URL = new URL('../results/', import.meta.url);

/** Where the folder of a run goes: into `--out`, else beside the committed results if it `isWhole`. */
export function resultsParent(out: string | undefined, isWhole: boolean): URL | undefined {
  if (out !== undefined) return pathToFileURL(`${out}/`);
  return isWhole ? RESULTS : undefined;
}

/** A contestant, and why it did not take part if it did not. */
export interface ContestantResult {
  readonly name: string;
  readonly role: Role;
  readonly version?: string;
  readonly remark?: string;
  readonly absent?: string;
}

/** The times of a contestant in a case, in milliseconds of a call, or why there are none. */
export interface Entry {
  readonly name: string;
  readonly ms?: number;
  readonly rounds?: readonly number[];
  /** The part of `ms` in which JavaScript hands the work over, if it was measured. */
  readonly hostMs?: number;
  readonly failed?: string;
  readonly lacks?: string;
}

/** A case with the entries of all contestants. */
export interface CaseResult {
  readonly op: string;
  readonly case: string;
  readonly flops?: number;
  readonly bytes?: number;
  /** Bytes that cannot but be moved: each operand once. */
  readonly traffic: number;
  readonly entries: readonly Entry[];
}

/** Limits of every kernel on a device: TFLOP/s of float32, TB/s of its memory, and their source. */
export interface Ceilings {
  readonly tflops: number;
  readonly tbps: number;
  readonly source: string;
}

/** A run on one device, as `results.json` has it. */
export interface Results {
  readonly version: typeof VERSION;
  readonly arena: string;
  readonly device: string;
  readonly driver?: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly date: string;
  readonly schedule: Schedule & { readonly rounds: number; readonly roundMs: number };
  readonly contestants: readonly ContestantResult[];
  readonly ceilings?: Ceilings;
  readonly overhead?: Overhead;
  readonly cases: readonly CaseResult[];
}

/** The results of a run that is made now on this machine, unless they say otherwise. Fields that are undefined are left out. */
export function newResults(
  results: Omit<Results, 'version' | 'machine' | 'date'> & Partial<Pick<Results, 'machine' | 'date'>>,
): Results {
  const now = { version: VERSION, machine: machine(), date: new Date().toISOString().slice(0, 10) } as const;
  return { ...now, ...results };
}

/** The part of a contestant that is written. */
export function contestantResult({ name, role, version, remark }: ContestantResult): ContestantResult {
  return { name, role, ...(version !== undefined && { version }), ...(remark !== undefined && { remark }) };
}

/** A contestant that may not be available: `load` looks for the things that it needs. */
export interface Candidate<T extends ContestantResult = Peer> {
  readonly name: string;
  readonly role: Role;
  readonly load: () => T | Promise<T>;
}

/** A {@link Candidate}; by default a peer. */
export function candidate<T extends ContestantResult = Peer>(
  name: string,
  load: Candidate<T>['load'],
  role: Role = 'peer',
): Candidate<T> {
  return { name, role, load };
}

/** Loads the contestants that are available. @returns them, and the entries of all in the results, in order */
export async function loadCandidates<T extends ContestantResult>(
  candidates: readonly Candidate<T>[],
): Promise<{ readonly present: T[]; readonly contestants: ContestantResult[] }> {
  const present: T[] = [];
  const contestants: ContestantResult[] = [];
  for (const { name, role, load } of candidates) {
    try {
      const loaded = await load();
      present.push(loaded);
      contestants.push(contestantResult(loaded));
    } catch (error) {
      const absent = reasonOf(error);
      contestants.push({ name, role, absent });
      console.error(`${name} is not there: ${absent}`);
    }
  }
  return { present, contestants };
}

/** A case as it is written, with the entries that are known already first. */
export function caseResult(
  limitCase: LimitCase,
  outcomes: readonly Outcome[],
  known: readonly Entry[] = [],
  takes?: Schedule['takes'],
): CaseResult {
  const { op, name, flops, bytes, traffic } = limitCase;
  return {
    op,
    case: name,
    ...(flops === undefined ? { bytes: bytes ?? 0 } : { flops }),
    traffic,
    entries: [...known, ...outcomes.map(({ peer, ...turns }) => timedEntry(peer.name, turns, takes))],
  };
}

/** What turns gave, as it is written. */
export function timedEntry(name: string, turns: Turns, takes: Schedule['takes']): Entry {
  if (!('rounds' in turns)) return { name, ...turns };
  return { name, ms: short(figureOf(turns.rounds, takes)), rounds: turns.rounds.map(short) };
}

/** Milliseconds in four digits. */
export const short = (ms: number): number => Number(ms.toPrecision(4));

/** Writes a run into a folder. */
export function saveResults(folder: URL, results: Results, name = 'results.json'): void {
  // One line per list of rounds, as a reader and the formatter want it.
  const text = JSON.stringify(results, undefined, 2).replaceAll(/\[[-\s\d.,e+]+\]/g, (list) =>
    list.replaceAll(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'),
  );
  saveText(new URL(name, folder), `${text}\n`);
}

/** Reads a run from a folder. @throws {Error} where it is not one */
export function loadResults(folder: URL, name = 'results.json'): Results {
  const file = new URL(name, folder);
  return parseResults(readFileSync(file, 'utf8'), fileURLToPath(file));
}

/** @throws {Error} that names `file` where the text is no results of this layout */
export function parseResults(text: string, file: string): Results {
  let parsed: Partial<Results>;
  try {
    parsed = JSON.parse(text) as Partial<Results>;
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (parsed.version !== VERSION) throw new Error(`${file} has layout ${parsed.version ?? 'none'}, not ${VERSION}`);
  for (const key of ['arena', 'device', 'machine', 'contestants', 'cases'] as const) {
    if (parsed[key] === undefined) throw new Error(`${file} lacks "${key}"`);
  }
  return parsed as Results;
}

/** Writes a text. */
export function saveText(file: URL, text: string): void {
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
}

/** The machine that times are taken on. */
export function machine(): Record<string, string | number> {
  const processors = cpus();
  return {
    cpu: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    v8: process.versions.v8,
  };
}

const { resolve } = createRequire(import.meta.url);

/** `name@version` of an installed package, also of one whose exports hide its package.json. */
export function packageVersion(name: string): string {
  for (let folder = dirname(resolve(name)); ; folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (manifest.name === name) return `${name}@${manifest.version ?? '?'}`;
    } catch {
      // No package.json in this folder.
    }
    if (folder === dirname(folder)) return name;
  }
}
