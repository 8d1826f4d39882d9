import { row, table } from '../table.ts';
import type { LimitCase } from './cases.ts';

/** One line of the report. */
export interface LimitLine {
  readonly op: string;
  readonly case: string;
  readonly ms: number;
  readonly tflops?: number;
  readonly tbps?: number;
}

/** A line of the other side, on which a case may have failed. */
export type TheirLine = Partial<LimitLine> & Pick<LimitLine, 'op' | 'case'> & { readonly failed?: string };

/** The line for a case that took `ms`. */
export function limitLine({ op, name, flops, bytes = 0 }: LimitCase, ms: number): LimitLine {
  const speed = Number(((flops ?? bytes) / ms / 1e9).toFixed(3));
  return {
    op,
    case: name,
    ms: Number(ms.toFixed(4)),
    ...(flops === undefined ? { tbps: speed } : { tflops: speed }),
  };
}

/** A Markdown table of our speed over theirs, for the cases that both have. */
export function compareLines(ours: readonly LimitLine[], theirs: readonly TheirLine[]): string {
  const found = new Map(theirs.map((line) => [`${line.op} ${line.case}`, line]));
  const speed = ({ tflops, tbps }: TheirLine): string => (tflops ?? tbps ?? 0).toFixed(2);
  const rows = ours.flatMap((line) => {
    const other = found.get(`${line.op} ${line.case}`);
    if (other?.ms === undefined) return [];
    const unit = line.tflops === undefined ? 'TB/s' : 'TFLOP/s';
    return [row(line.op, line.case, unit, speed(line), speed(other), `${(other.ms / line.ms).toFixed(2)}x`)];
  });
  return table(['op', 'case', 'unit', 'concord', 'torch', 'ratio'], rows);
}
