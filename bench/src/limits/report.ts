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
