import type { TheirLine } from '../limits/report.ts';
import type { TorchLimits } from '../limits/torch.ts';
import type { ContestantResult, Entry } from '../results.ts';
import type { GptCase } from './cases.ts';

/** A line of `limits/torch_gpt.py`. */
type Line = TheirLine & {
  readonly rounds?: readonly number[];
  readonly eager_ms?: number;
  readonly eager_rounds?: readonly number[];
};

const GRAPH = 'torch graph';
const EAGER = 'torch eager';

/** PyTorch in the two ways that it was timed in, or why it was not. */
export function torchContestants(torch: TorchLimits | { readonly absent: string }): ContestantResult[] {
  const about = 'absent' in torch ? { absent: torch.absent } : { version: torch.versions };
  return [
    { name: GRAPH, role: 'limit', ...about, remark: 'a CUDA graph of many calls, replayed' },
    { name: EAGER, role: 'limit', ...about, remark: 'launched from Python' },
  ];
}

/** What PyTorch took for the work of a case. */
export function torchEntries(
  { op, limitName }: Pick<GptCase, 'op' | 'limitName'>,
  torch: TorchLimits | { readonly absent: string },
): Entry[] {
  const lines: readonly Line[] = 'absent' in torch ? [] : torch.lines;
  const line = lines.find((each) => each.op === op && each.case === limitName);
  if (line?.failed !== undefined) return [GRAPH, EAGER].map((name) => ({ name, failed: line.failed as string }));
  return [
    ...(line?.ms === undefined ? [] : [{ name: GRAPH, ms: line.ms, ...(line.rounds && { rounds: line.rounds }) }]),
    ...(line?.eager_ms === undefined
      ? []
      : [{ name: EAGER, ms: line.eager_ms, ...(line.eager_rounds && { rounds: line.eager_rounds }) }]),
  ];
}
