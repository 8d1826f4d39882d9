import type { TheirLine } from '../limits/torch.ts';
import { row, table } from '../table.ts';

/** A line of `bench kernels`. */
export interface KernelLine {
  readonly op: string;
  readonly case: string;
  readonly ms: number;
  /** Terabytes a second, each operand counted once. */
  readonly tbps: number;
  /** Ids of the variants that ran. */
  readonly variants: string;
}

type Torch = TheirLine & { readonly compiled_ms?: number };

/** A Markdown table of our times beside PyTorch's, eager and compiled, for the cases that both have. */
export function compareKernels(ours: readonly KernelLine[], theirs: readonly TheirLine[]): string {
  const found = new Map(theirs.map((line) => [`${line.op} ${line.case}`, line as Torch]));
  const ratio = (ms: number | undefined, own: number): string => (ms === undefined ? '–' : `${(ms / own).toFixed(2)}x`);
  const rows = ours.map((line) => {
    const other = found.get(`${line.op} ${line.case}`);
    const ratios = [ratio(other?.ms, line.ms), ratio(other?.compiled_ms, line.ms)];
    return row(line.op, line.case, line.ms.toFixed(4), line.tbps.toFixed(2), ...ratios, line.variants);
  });
  return table(['kernel', 'case', 'ms', 'TB/s', 'of PyTorch eager', 'of PyTorch compiled', 'variants'], rows);
}
