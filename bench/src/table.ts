import { formatOverhead } from './overhead.ts';
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

/** The geometric mean of ratios. */
export function geometricMean(ratios: readonly number[]): number {
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
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

/** A Markdown table with a row for each case. */
export function casesTable(results: Results, columns: readonly Column[]): string {
  const rows = standingsOf(results).map((standing) => row(...columns.map(([, cell]) => cell(standing))));
  return table(
    columns.map(([title]) => title),
    rows,
  );
}

/** A run in Markdown: the device, a table with ratios, the contestants and the reasons of absent ones, the cost of a tiny op. */
export function formatResults(results: Results): string {
  const parts = [
    formatConditions(results),
    formatTable(results),
    formatContestants(results),
    ...(results.overhead === undefined ? [] : [formatOverhead(results.overhead)]),
  ];
  return parts.join('\n\n');
}

/**
 * One row for each case: our speed, that of the limit, and how many times as fast ours is as each of the others.
 * Empty columns are left out.
 */
export function formatTable(results: Results): string {
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
  return casesTable(results, [
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
function perSecond({ flops, bytes = 0 }: CaseResult, ms: number): number {
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
