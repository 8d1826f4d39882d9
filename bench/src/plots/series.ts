import type { Role } from '../peer.ts';
import { rooflineMs } from '../ratios.ts';
import type { CaseResult, Results } from '../results.ts';
import { perSecond } from '../table.ts';

/** The name under which the roofline is drawn. */
export const ROOFLINE = 'roofline';

/** A speed to draw. */
export interface Point {
  readonly case: string;
  /** Of a square product: its rows. */
  readonly size?: number;
  readonly who: string;
  readonly role: Role | typeof ROOFLINE;
  /** In the unit of the plot. */
  readonly speed: number;
}

/** An op, or a family of them, with its speeds: drawn into one file. */
export interface Plot {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly Point[];
}

/** One plot for each family of ops that has a time. */
export function plotsOf(results: Results): Plot[] {
  const families = new Map<string, CaseResult[]>();
  for (const result of results.cases) {
    const name = familyOf(result.op);
    families.set(name, [...(families.get(name) ?? []), result]);
  }
  return [...families].flatMap(([name, cases]) => {
    const points = cases.flatMap((result) => pointsOf(result, results, cases));
    const fastest = Math.max(0, ...points.map(({ speed }) => speed));
    if (fastest === 0) return [];
    const [scale, prefix] = fastest >= 1e12 ? [1e12, 'T'] : [1e9, 'G'];
    const unit = `${prefix}${cases[0]?.flops === undefined ? 'B' : 'FLOP'}/s`;
    return [{ name, unit, points: points.map((point) => ({ ...point, speed: point.speed / scale })) }];
  });
}

function pointsOf(result: CaseResult, { contestants, ceilings }: Results, family: readonly CaseResult[]): Point[] {
  const isMixed = family.some(({ op }) => op !== result.op);
  const label = isMixed ? `${result.op.replace(/^[a-z]+_/, '')} ${result.case}` : result.case;
  const isSquare = result.op.startsWith('gemm') && /^\d+$/.test(result.case);
  const base = { case: label, ...(isSquare ? { size: Number(result.case) } : {}) };
  const points: Point[] = contestants.flatMap(({ name, role }) => {
    const ms = result.entries.find((entry) => entry.name === name)?.ms;
    return ms === undefined ? [] : [{ ...base, who: name, role, speed: perSecond(result, ms) }];
  });
  if (ceilings === undefined || points.length === 0 || result.op === 'gemm_f16') return points;
  const speed = perSecond(result, rooflineMs(result, ceilings));
  return [...points, { ...base, who: ROOFLINE, role: ROOFLINE, speed }];
}

function familyOf(op: string): string {
  if (op.startsWith('reduce_')) return 'reduce';
  return op === 'copy' || op.startsWith('binary_') || op.startsWith('unary_') ? 'elementwise' : op;
}
