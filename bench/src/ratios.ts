import type { CaseResult, Ceilings, ContestantResult, Entry, Results } from './results.ts';
import type { Role } from './peer.ts';

/** A case by what ours is to the others. Ratios are how many times as fast ours is; what is not known is not there. */
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

/** Who wants what of us: a line of `limits/targets.json`. */
export interface Target {
  /** Names of results: `webgpu-nvidia-h200`. */
  readonly arenas: readonly string[];
  readonly op: string;
  /** Default: all of the op. */
  readonly cases?: readonly string[];
  readonly against: 'peers' | 'limit';
  readonly atLeast: number;
}

/** Every case of a run with its ratios. */
export function standingsOf({ cases, contestants, ceilings }: Results): Standing[] {
  return cases.map((result) => {
    const ours = fastest(result, contestants, 'ours');
    const peer = fastest(result, contestants, 'peer');
    const limit = fastest(result, contestants, 'limit');
    return {
      result,
      ...(ours === undefined ? {} : { ours }),
      ...(peer === undefined ? {} : { peer }),
      ...(limit === undefined ? {} : { limit }),
      ...(ours === undefined || peer === undefined ? {} : { overPeer: msOf(peer) / msOf(ours) }),
      ...(ours === undefined || limit === undefined ? {} : { ofLimit: msOf(limit) / msOf(ours) }),
      ...(ceilings === undefined || result.op.endsWith('_f16') ? {} : { rooflineMs: rooflineMs(result, ceilings) }),
    };
  });
}

/** The time in which the arithmetic could be done and the operands be moved, whichever takes longer. */
export function rooflineMs({ flops = 0, traffic }: CaseResult, { tflops, tbps }: Ceilings): number {
  return Math.max(flops / tflops, traffic / tbps) / 1e9;
}

/** The target for a case, of those that name it the one that is last. */
export function targetsOf(arena: string, { op, case: name }: CaseResult, targets: readonly Target[]): Target[] {
  const found = targets.filter(
    (target) => target.arenas.includes(arena) && target.op === op && (target.cases?.includes(name) ?? true),
  );
  return found.filter((target, i) => !found.slice(i + 1).some((later) => later.against === target.against));
}

function fastest(result: CaseResult, contestants: readonly ContestantResult[], role: Role): Entry | undefined {
  const names = contestants.filter((contestant) => contestant.role === role).map(({ name }) => name);
  return result.entries
    .filter(({ name, ms }) => ms !== undefined && names.includes(name))
    .sort((x, y) => msOf(x) - msOf(y))[0];
}

function msOf({ ms }: Entry): number {
  return ms ?? Infinity;
}
