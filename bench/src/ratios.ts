import { readFileSync } from 'node:fs';
import type { OverheadTarget } from './overhead.ts';
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
export interface Verdict {
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
