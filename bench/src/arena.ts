import type { Overhead } from './overhead.ts';
import type { LimitCase } from './limits/cases.ts';
import { type Torch, torchContestants, torchEntries } from './limits/torch.ts';
import { measureCase, type Outcome } from './turns.ts';
import { tableFile } from './report.ts';
import {
  type Candidate,
  type CaseResult,
  caseResult,
  type Ceilings,
  type ContestantResult,
  loadCandidates,
  newResults,
  resultsParent,
  type Results,
  saveResults,
  saveText,
} from './results.ts';
import { median } from '@concord/cli/bench';
import { formatResults } from './table.ts';

/** One device with those that are timed on it. */
export interface Arena {
  /** Names the folder of the results. */
  readonly name: string;
  readonly device: string;
  readonly driver?: string;
  readonly cases: readonly LimitCase[];
  readonly candidates: readonly Candidate[];
  readonly schedule: Results['schedule'];
  readonly overhead?: Overhead;
  /** The times of the library of the device's vendor, or why there are none. */
  readonly torch?: Torch;
  /** Given by hand. Default: the value that PyTorch measured. */
  readonly ceilings?: Ceilings | undefined;
}

/** Options that every device takes. */
export interface RunOptions {
  /** The folder in which that of this device is made. Default: the committed results, and none of a part of them. */
  readonly out?: string;
  readonly quick: boolean;
  readonly only?: string;
  readonly case?: string;
}

/**
 * Times every case with all contestants that are available. Prints the table and writes it and `results.json`, which
 * is written after each case, so that a crash loses one case only.
 *
 * @returns whether all of our own results are there and right
 */
export async function runArena(arena: Arena, { out, ...part }: RunOptions): Promise<boolean> {
  const isPart = part.quick || part.only !== undefined || part.case !== undefined;
  const parent = resultsParent(out, !isPart);
  const folder = parent === undefined ? undefined : new URL(`${arena.name}/`, parent);
  const { present: peers, contestants: loaded } = await loadCandidates(arena.candidates);
  const contestants = [...loaded, ...torchContestants(arena.torch, 'torch')];
  const cases = new Map<LimitCase, CaseResult>();
  const results = (): Results => resultsOf(arena, contestants, [...cases.values()]);
  for (const together of [
    peers.filter(({ runsLast = false }) => !runsLast),
    peers.filter(({ runsLast }) => runsLast),
  ]) {
    if (together.length === 0) continue;
    for (const limitCase of arena.cases) {
      const outcomes = await measureCase(limitCase, together, arena.schedule);
      const before = cases.get(limitCase)?.entries ?? torchEntries(arena.torch, limitCase, 'torch');
      cases.set(limitCase, caseResult(limitCase, outcomes, before, arena.schedule.takes));
      console.error(describe(limitCase, outcomes));
      if (folder !== undefined) saveResults(folder, results());
    }
  }
  for (const peer of peers) await peer.close?.();
  const text = formatResults(results());
  console.log(`## ${arena.name}\n\n${text}\n`);
  if (folder !== undefined) {
    saveText(...tableFile(folder, results()));
  }
  return results().cases.every(({ entries }) => entries.some(({ name, ms }) => name === 'concord' && ms !== undefined));
}

function resultsOf(arena: Arena, contestants: readonly ContestantResult[], cases: readonly CaseResult[]): Results {
  const { name, device, driver, schedule, overhead, torch } = arena;
  const ceilings = arena.ceilings ?? (torch !== undefined && 'ceilings' in torch ? torch.ceilings : undefined);
  return newResults({
    ...{ arena: name, device, ...(driver !== undefined && { driver }), schedule, contestants },
    ...(ceilings && { ceilings }),
    ...(overhead && { overhead }),
    cases,
  });
}

/** A case in one line, for who waits for the next. */
function describe({ op, name }: LimitCase, outcomes: readonly Outcome[]): string {
  const times = outcomes.flatMap((outcome) => {
    if ('lacks' in outcome) return [];
    const what = 'failed' in outcome ? outcome.failed.split('\n')[0] : `${median(outcome.rounds).toPrecision(4)} ms`;
    return [`${outcome.peer.name} ${what}`];
  });
  return `${op} ${name}: ${times.join(', ')}`;
}
