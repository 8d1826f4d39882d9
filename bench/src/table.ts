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

/** The targets of each case with their verdicts; empty where there are none. */
export function formatWanted({ arena }: Results, standings: readonly Standing[], targets: readonly Target[]): string[] {
  return standings.map((standing) =>
    targetsOf(arena, standing.result, targets)
      .map((target) => formatVerdict(judge(standing, target, standings)))
      .join('; '),
  );
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
  const standings = standingsOf(results);
  const present = results.contestants.filter(({ absent }) => absent === undefined);
  const [options, peers] = [present.filter(isOption), present.filter(({ role }) => role === 'peer')];
  const hasLimit = standings.some(({ limit }) => limit !== undefined);
  const hasRoofline = results.ceilings !== undefined;
  const wanted = formatWanted(results, standings, targets);
  const hasWanted = wanted.some((text) => text !== '');
  const when = (isThere: boolean, ...cells: readonly string[]): readonly string[] => (isThere ? cells : []);
  const head = [
    ...['op', 'case', 'unit', 'concord'],
    ...when(hasLimit, 'limit', 'of the limit'),
    ...when(hasRoofline, 'of the roofline'),
    ...options.map(({ name }) => name),
    ...peers.map(({ name }) => `against ${name}`),
    ...when(hasWanted, 'wanted'),
  ];
  const rows = standings.map((standing, i) => {
    const { result, ours, limit, ofLimit, rooflineMs } = standing;
    const unit = unitOf(result);
    const ofRoofline = ours?.ms === undefined || rooflineMs === undefined ? undefined : rooflineMs / ours.ms;
    return row(
      ...[result.op, result.case, unit.name, speed(result, ours, unit.scale)],
      ...when(hasLimit, speed(result, limit, unit.scale), ratio(ofLimit)),
      ...when(hasRoofline, ratio(ofRoofline)),
      ...options.map(({ name }) => speed(result, entryOf(result, name), unit.scale)),
      ...peers.map(({ name }) => against(result, name, ours)),
      ...when(hasWanted, wanted[i] as string),
    );
  });
  return table(head, rows);
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

const isOption = ({ role }: ContestantResult): boolean => role === 'option';

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
