import { readFileSync } from 'node:fs';
import { formatFirstCalls, formatOverhead, type OverheadTarget } from './overhead.ts';
import type { Role } from './peer.ts';
import type { CaseResult, Ceilings, ContestantResult, Entry, Results } from './results.ts';

/** Our result of a case against those of the others. A ratio above 1 means that ours is faster; unknown ones are absent. */
export interface Standing {
  readonly result: CaseResult;
  readonly ours?: Entry;
  /** The fastest of the peers and of the limits. */
  readonly peer?: Entry;
  readonly limit?: Entry;
  readonly overPeer?: number;
  readonly ofLimit?: number;
  /** Milliseconds that the roofline gives the case. */
  readonly rooflineMs?: number;
}

/** A target: a line of `limits/targets.json`. */
export interface Target {
  /** Names of results: `webgpu-nvidia-h200`. */
  readonly arenas: readonly string[];
  readonly op: string;
  /** Default: all of the op. */
  readonly cases?: readonly string[];
  /**
   * The fastest of the peers, of all or of those named; the limit; or our own time of another case, of the same op unless it
   * says otherwise.
   */
  readonly against:
    | 'peers'
    | 'limit'
    | { readonly peers: readonly string[] }
    | { readonly case: string; readonly op?: string };
  /** Whose time is held against it. Default: ours. */
  readonly of?: string;
  /** The geometric mean of the cases has to reach `atLeast`, not each of them. */
  readonly mean?: true;
  readonly atLeast: number;
}

/** The ratio found for a target, where it was measured. */
interface Verdict {
  readonly target: Target;
  readonly found?: number;
  readonly isMet?: boolean;
}

/** Every case of a run with its ratios. */
export function standingsOf({ cases, contestants, ceilings }: Results): Standing[] {
  return cases.map((result) => {
    const ours = fastest(result, contestants, 'ours');
    const peer = fastest(result, contestants, 'peer');
    const limit = fastest(result, contestants, 'limit');
    return {
      result,
      ...{ ...(ours && { ours }), ...(peer && { peer }), ...(limit && { limit }) },
      ...(ours && peer && { overPeer: msOf(peer) / msOf(ours) }),
      ...(ours && limit && { ofLimit: msOf(limit) / msOf(ours) }),
      ...(ceilings === undefined || result.op.endsWith('_f16') ? {} : { rooflineMs: rooflineMs(result, ceilings) }),
    };
  });
}

/** The time in which the arithmetic could be done and the operands be moved, whichever takes longer. */
export function rooflineMs({ flops = 0, traffic }: CaseResult, { tflops, tbps }: Ceilings): number {
  return Math.max(flops / tflops, traffic / tbps) / 1e9;
}

/** The targets for a case; one that names the case takes the place of an earlier one for all of the op. */
export function targetsOf(arena: string, { op, case: name }: CaseResult, targets: readonly Target[]): Target[] {
  const found = targets.filter(
    (target) =>
      !target.mean && target.arenas.includes(arena) && target.op === op && (target.cases?.includes(name) ?? true),
  );
  const isSame = (a: Target, b: Target): boolean =>
    JSON.stringify([a.against, a.of]) === JSON.stringify([b.against, b.of]);
  return found.filter((target, i) => !found.slice(i + 1).some((later) => isSame(later, target)));
}

/** The verdict on a case. */
export function judge(standing: Standing, target: Target, standings: readonly Standing[]): Verdict {
  const found = ratioFor(standing, target, standings);
  return found === undefined ? { target } : { target, found, isMet: found >= target.atLeast };
}

/** The verdicts on the targets for means. */
export function judgeMeans(arena: string, standings: readonly Standing[], targets: readonly Target[]): Verdict[] {
  const means = targets.filter(({ mean, arenas }) => mean === true && arenas.includes(arena));
  return means.map((target) => {
    const cases = standings.filter(
      ({ result }) => result.op === target.op && (target.cases?.includes(result.case) ?? true),
    );
    const ratios = cases.map((standing) => ratioFor(standing, target, standings));
    if (ratios.length === 0 || ratios.some((each) => each === undefined)) return { target };
    const found = geometricMean(ratios as number[]);
    return { target, found, isMet: found >= target.atLeast };
  });
}

/** The geometric mean of ratios. */
export function geometricMean(ratios: readonly number[]): number {
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}

function ratioFor(standing: Standing, { against, of }: Target, standings: readonly Standing[]): number | undefined {
  const { result, ours, peer, limit } = standing;
  const judged = of === undefined ? ours?.ms : result.entries.find(({ name }) => name === of)?.ms;
  const other = typeof against === 'object' ? found(result, against, standings) : { peers: peer, limit }[against];
  return judged === undefined || other?.ms === undefined ? undefined : other.ms / judged;
}

function found(
  result: CaseResult,
  against: Exclude<Target['against'], string>,
  standings: readonly Standing[],
): Entry | undefined {
  if ('peers' in against) return fastestOf(result, against.peers);
  const { op = result.op, case: name } = against;
  return standings.find((each) => each.result.op === op && each.result.case === name)?.ours;
}

function fastest(result: CaseResult, contestants: readonly ContestantResult[], role: Role): Entry | undefined {
  const ofRole = contestants.filter((contestant) => contestant.role === role);
  return fastestOf(
    result,
    ofRole.map(({ name }) => name),
  );
}

function fastestOf(result: CaseResult, names: readonly string[]): Entry | undefined {
  return result.entries
    .filter(({ name, ms }) => ms !== undefined && names.includes(name))
    .sort((x, y) => msOf(x) - msOf(y))[0];
}

function msOf({ ms }: Entry): number {
  return ms ?? Infinity;
}

/** The targets for speed: `limits/targets.json`. */
export function loadTargets(): Target[] {
  return loadList('targets.json');
}

/** The other targets: `limits/overhead-targets.json`. */
export function loadOverheadTargets(): OverheadTarget[] {
  return loadList('overhead-targets.json');
}

function loadList<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../limits/${name}`, import.meta.url), 'utf8')) as T[];
}

/** A row of a Markdown table. */
export function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly string[]): string {
  return [row(...head), `|${'---|'.repeat(head.length)}`, ...rows].join('\n');
}

/** A column of a table of cases. */
export type Column = readonly [head: string, cell: (standing: Standing) => string];

/** A Markdown table with a row for each case, and a column of targets with their verdicts where there are any. */
export function casesTable(results: Results, targets: readonly Target[], columns: readonly Column[]): string {
  const standings = standingsOf(results);
  const wanted = (standing: Standing): string =>
    targetsOf(results.arena, standing.result, targets)
      .map((target) => formatVerdict(judge(standing, target, standings)))
      .join('; ');
  const all: Column[] = [...columns];
  if (standings.some((standing) => wanted(standing) !== '')) all.push(['wanted', wanted]);
  const rows = standings.map((standing) => row(...all.map(([, cell]) => cell(standing))));
  const head = all.map(([title]) => title);
  return table(head, rows);
}

/** A run in Markdown: the device, a table with ratios, the contestants and the reasons of absent ones, the cost of a tiny op. */
export function formatResults(
  results: Results,
  targets: readonly Target[] = [],
  overheadTargets: readonly OverheadTarget[] = [],
): string {
  const wanted = overheadTargets.filter(({ arenas }) => arenas.includes(results.arena));
  const parts = [
    formatConditions(results),
    formatTable(results, targets),
    ...formatMeans(results, targets),
    formatContestants(results),
    ...(results.overhead === undefined ? [] : [formatOverhead(results.overhead, wanted)]),
    ...(results.firstCalls === undefined ? [] : [formatFirstCalls(results.firstCalls)]),
  ];
  return parts.join('\n\n');
}

/**
 * One row for each case: our speed, that of the limit, and how many times as fast ours is as each of the others.
 * Empty columns are left out.
 */
export function formatTable(results: Results, targets: readonly Target[] = []): string {
  const present = results.contestants.filter(({ absent }) => absent === undefined);
  const ofRole = (role: ContestantResult['role']) => present.filter((each) => each.role === role);
  const speedOf = ({ result }: Standing, entry: Entry | undefined): string =>
    speed(result, entry, unitOf(result).scale);
  const limit: Column[] = [
    ['limit', (standing) => speedOf(standing, standing.limit)],
    ['of the limit', ({ ofLimit }) => ratio(ofLimit)],
  ];
  const roofline: Column = [
    'of the roofline',
    ({ ours, rooflineMs }) =>
      ratio(ours?.ms === undefined || rooflineMs === undefined ? undefined : rooflineMs / ours.ms),
  ];
  return casesTable(results, targets, [
    ['op', ({ result }) => result.op],
    ['case', ({ result }) => result.case],
    ['unit', ({ result }) => unitOf(result).name],
    ['concord', (standing) => speedOf(standing, standing.ours)],
    ...(standingsOf(results).some((standing) => standing.limit !== undefined) ? limit : []),
    ...(results.ceilings === undefined ? [] : [roofline]),
    ...ofRole('option').map(({ name }): Column => [
      name,
      (standing) => speedOf(standing, entryOf(standing.result, name)),
    ]),
    ...ofRole('peer').map(({ name }): Column => [`against ${name}`, ({ result, ours }) => against(result, name, ours)]),
  ]);
}

/** Operations or bytes of a case in a second, by the milliseconds that it takes. */
export function perSecond({ flops, bytes = 0 }: CaseResult, ms: number): number {
  return ((flops ?? bytes) / ms) * 1000;
}

/** Device, machine, date and schedule of a run. */
export function formatConditions({ device, driver, machine, date, schedule }: Results): string {
  const names = new Set([device, driver, machine['cpu'], `${machine['cores']} cores`].filter(Boolean));
  const figures = schedule.takes === 'least' ? 'least' : 'medians';
  const how = `${figures} of ${schedule.rounds} rounds of ${schedule.roundMs} ms or more`;
  return `${[...names].join(', ')}; ${machine['platform']}, Node ${machine['node']}; ${date}; ${how}.`;
}

/** The contestants: those that took part, the reasons why others did not, and failures. */
export function formatContestants({ contestants, cases, ceilings }: Results): string {
  const lines = contestants.map(({ name, role, version, remark, absent }: ContestantResult) => {
    if (absent !== undefined) return `- ${name}: not run, ${absent}`;
    const about = [version, ...(role === 'limit' ? ['a limit'] : []), ...(remark === undefined ? [] : [remark])];
    return `- ${name}: ${about.join('; ')}`;
  });
  if (ceilings !== undefined) {
    lines.push(`- roofline: ${ceilings.tflops} TFLOP/s and ${ceilings.tbps} TB/s (${ceilings.source})`);
  }
  return [...lines, ...formatFailures(cases)].join('\n');
}

/** A line for each reason of each contestant, with the cases that it kept it from. */
function formatFailures(cases: readonly CaseResult[]): string[] {
  const failures = new Map<string, string[]>();
  for (const { op, case: name, entries } of cases) {
    for (const { name: who, failed } of entries) {
      if (failed === undefined) continue;
      const key = `${who}: ${failed.split('\n')[0]}`;
      failures.set(key, [...(failures.get(key) ?? []), `${op} ${name}`]);
    }
  }
  return [...failures].map(([key, names]) => `- failed at ${names.join(', ')}: ${key}`);
}

const SIDES = { peers: 'over the peers', limit: 'of the limit' };

const caseOf = ({ op, case: name }: { readonly op?: string; readonly case: string }): string =>
  `of ${op === undefined ? '' : `${op} `}${name}`;

/** A target with its verdict. */
function formatVerdict({ target, found, isMet }: Verdict): string {
  const { against: side, of, atLeast } = target;
  const other = typeof side === 'string' ? SIDES[side] : 'peers' in side ? `of ${side.peers.join(', ')}` : caseOf(side);
  const whose = of === undefined ? '' : `${of}: `;
  const verdict = found === undefined ? 'not measured' : isMet === true ? 'met' : '**missed**';
  // If no column has the ratio, or rounding there shows it as the target.
  const isClose = found !== undefined && isMet !== true && Number(found.toFixed(2)) >= atLeast;
  const shown = isClose || of !== undefined || target.mean === true || typeof side === 'object';
  const value = found !== undefined && shown ? `${found.toFixed(isClose ? 3 : 2)}x, ` : '';
  return `${whose}${atLeast}x ${other}: ${value}${verdict}`;
}

/** The targets for the mean of several cases. */
function formatMeans(results: Results, targets: readonly Target[]): string[] {
  const verdicts = judgeMeans(results.arena, standingsOf(results), targets);
  if (verdicts.length === 0) return [];
  return [verdicts.map((verdict) => `- ${verdict.target.op}, geometric mean: ${formatVerdict(verdict)}`).join('\n')];
}

/** The entry of a contestant in a case. */
export function entryOf({ entries }: CaseResult, name: string): Entry | undefined {
  return entries.find((entry) => entry.name === name);
}

function against(result: CaseResult, name: string, ours: Entry | undefined): string {
  const theirs = entryOf(result, name);
  if (theirs?.failed !== undefined) return 'failed';
  return ratio(theirs?.ms === undefined || ours?.ms === undefined ? undefined : theirs.ms / ours.ms);
}

function ratio(value: number | undefined): string {
  return value === undefined ? '–' : `${value.toFixed(2)}x`;
}

function speed(result: CaseResult, entry: Entry | undefined, scale: number): string {
  if (entry?.ms === undefined) return '–';
  const value = perSecond(result, entry.ms) / scale;
  return value.toFixed(value < 10 ? 2 : 1);
}

function unitOf({ entries, ...result }: CaseResult): { readonly name: string; readonly scale: number } {
  const fastest = Math.min(...entries.map(({ ms }) => ms ?? Infinity));
  const isLarge = perSecond({ entries, ...result }, fastest) >= 1e12;
  const what = result.flops === undefined ? 'B/s' : 'FLOP/s';
  return isLarge ? { name: `T${what}`, scale: 1e12 } : { name: `G${what}`, scale: 1e9 };
}
