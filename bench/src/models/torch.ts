import { aboutTorch, readTorch, type TheirLine, type Torch, tryTorch } from '../limits/torch.ts';
import type { ContestantResult, Entry } from '../results.ts';

/** A line of `limits/torch_gpt.py` or `limits/torch_resnet.py`. */
type Line = TheirLine & {
  readonly rounds?: readonly number[];
  readonly eager_ms?: number;
  readonly eager_rounds?: readonly number[];
};

const GRAPH = 'torch graph';
/** PyTorch as its users write it. */
export const EAGER = 'torch eager';

/** PyTorch in the ways that it was timed in, or why it was not. */
export function torchContestants(torch: Torch, ways: readonly string[] = [GRAPH, EAGER]): ContestantResult[] {
  const about = aboutTorch(torch);
  const all: ContestantResult[] = [
    { name: GRAPH, role: 'limit', ...about, remark: 'a CUDA graph of many calls, replayed' },
    { name: EAGER, role: 'limit', ...about, remark: 'launched from Python' },
  ];
  return all.filter(({ name }) => ways.includes(name));
}

/** PyTorch's entries in a case. */
export function torchEntries(
  { op, limitName }: { readonly op: string; readonly limitName: string },
  torch: Torch,
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

/**
 * The times that a script of `limits/` prints where `isAsked`, or printed into a file earlier.
 *
 * @throws {Error} where there is no such file, or it is something else
 */
export async function torchTimes(
  [script, ...args]: readonly [string, ...string[]],
  isAsked: boolean,
  file: string | undefined,
): Promise<Torch> {
  if (file !== undefined) return readTorch(file);
  return isAsked ? tryTorch(script, args) : { absent: 'without --torch' };
}
