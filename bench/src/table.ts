import { formatFirstCalls } from './first-call.ts';
import { formatOverhead, type OverheadTarget } from './overhead.ts';
import { judge, judgeMeans, type Standing, standingsOf, type Target, targetsOf, type Verdict } from './ratios.ts';
import type { CaseResult, ContestantResult, Entry, Results } from './results.ts';

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
