import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reasonOf } from '../options.ts';
import type { Ceilings, ContestantResult, Entry } from '../results.ts';
import type { CaseSet } from './cases.ts';

/** The Python scripts. */
const SCRIPTS = new URL('../../limits/', import.meta.url);

/** A line of a script: a case, which may have failed. */
export interface TheirLine {
  readonly op: string;
  readonly case: string;
  readonly ms?: number;
  readonly rounds?: readonly number[];
  /** Of a model, launched from Python. */
  readonly eager_ms?: number;
  readonly eager_rounds?: readonly number[];
  /** Of the first steps of training. */
  readonly losses?: readonly number[];
  readonly failed?: string;
}

/** The output of one of the scripts. */
interface TorchLimits {
  readonly device: string;
  readonly versions: string;
  readonly ceilings?: Ceilings;
  readonly lines: readonly TheirLine[];
}

/** PyTorch's times, or why there are none. */
export type Torch = TorchLimits | { readonly absent: string };

/** Runs `torch_limits.py` on the GPU of this machine, with all cases of a set, or those of these ops and this name. */
export function runTorch(set: CaseSet, only?: string, name?: string): Promise<Torch> {
  const args = ['--set', set];
  if (only !== undefined) args.push('--only', only);
  if (name !== undefined) args.push('--case', name);
  return tryTorch('torch_limits.py', args);
}

/** Runs one of the scripts of `limits/` on the GPU of this machine. */
async function tryTorch(script: string, args: readonly string[]): Promise<Torch> {
  try {
    const file = fileURLToPath(new URL(script, SCRIPTS));
    const { stdout } = await promisify(execFile)('python3', [file, ...args], { maxBuffer: 2 ** 26 });
    return parseTorch(stdout, script);
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    return { absent: stderr.trim().split('\n').at(-1) || reasonOf(error) };
  }
}

/** Reads the earlier output of the script. @throws {Error} where the file is not there, or is something else */
export function readTorch(file: string): TorchLimits {
  return parseTorch(readFileSync(file, 'utf8'), file);
}

/** @throws {Error} that names `source` and the line where the text is not output of the script */
export function parseTorch(text: string, source: string): TorchLimits {
  let about: { device?: string; driver?: string; versions?: string } = {};
  let ceilings: Ceilings | undefined;
  const lines: TheirLine[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    let parsed: Partial<TheirLine> & { device?: string; ceilings?: Ceilings };
    try {
      parsed = JSON.parse(line) as typeof parsed;
    } catch (error) {
      throw new Error(`${source}:${i + 1} is not JSON: ${line.slice(0, 80)}`, { cause: error });
    }
    if (parsed.device !== undefined) about = parsed;
    else if (parsed.ceilings !== undefined) ceilings = parsed.ceilings;
    else if (parsed.op !== undefined && parsed.case !== undefined) lines.push(parsed as TheirLine);
    else throw new Error(`${source}:${i + 1} is neither a device, nor ceilings, nor a case: ${line.slice(0, 80)}`);
  }
  if (lines.length === 0) throw new Error(`${source} has no cases`);
  const { device = 'unknown', driver = 'unknown', versions = 'unknown' } = about;
  return { device, versions: `${versions}, driver ${driver}`, ...(ceilings === undefined ? {} : { ceilings }), lines };
}

/** The modes that PyTorch is timed in: ops by themselves; models as one graph, and as its users write them. */
export type TorchMode = 'torch' | 'torch graph' | 'torch eager';

const REMARKS: Readonly<Record<TorchMode, { readonly remark?: string }>> = {
  torch: {},
  'torch graph': { remark: 'a CUDA graph of many calls, replayed' },
  'torch eager': { remark: 'launched from Python' },
};

/** PyTorch in the modes that it was timed in, or why it was not. */
export function torchContestants(torch: Torch | undefined, ...modes: readonly TorchMode[]): ContestantResult[] {
  if (torch === undefined) return [];
  const about = 'absent' in torch ? { absent: torch.absent } : { version: torch.versions };
  return modes.map((name) => ({ name, role: 'limit', ...about, ...REMARKS[name] }));
}

/** PyTorch's entries in a case. */
export function torchEntries(
  torch: Torch | undefined,
  { op, name: wanted }: { readonly op: string; readonly name: string },
  ...modes: readonly TorchMode[]
): Entry[] {
  if (torch === undefined || 'absent' in torch) return [];
  const line = torch.lines.find((each) => each.op === op && each.case === wanted);
  return modes.flatMap((name): Entry[] => {
    if (line === undefined) return name === 'torch' ? [{ name, lacks: 'was not timed' }] : [];
    const [ms, rounds] = name === 'torch eager' ? [line.eager_ms, line.eager_rounds] : [line.ms, line.rounds];
    if (ms !== undefined) return [{ name, ms, ...(rounds && { rounds }) }];
    const failed = line.failed ?? (name === 'torch' ? 'no time' : undefined);
    return failed === undefined ? [] : [{ name, failed }];
  });
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
