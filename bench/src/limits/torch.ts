import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { reasonOf } from '../reason.ts';
import type { Ceilings } from '../results.ts';
import type { CaseSet } from './cases.ts';

/** The Python scripts. */
const SCRIPTS = new URL('../../limits/', import.meta.url);

/** A line of a script: a case, which may have failed. */
export interface TheirLine {
  readonly op: string;
  readonly case: string;
  readonly ms?: number;
  readonly failed?: string;
}

/** The output of one of the scripts. */
export interface TorchLimits {
  readonly device: string;
  readonly versions: string;
  readonly ceilings?: Ceilings;
  readonly lines: readonly TheirLine[];
}

/** PyTorch's times, or why there are none. */
export type Torch = TorchLimits | { readonly absent: string };

/** PyTorch's version as a contestant, or why it is absent. */
export function aboutTorch(torch: Torch): { readonly absent: string } | { readonly version: string } {
  return 'absent' in torch ? { absent: torch.absent } : { version: torch.versions };
}

/** Runs `torch_limits.py` on the GPU of this machine, with all cases of a set, or those of these ops and this name. */
export function runTorch(set: CaseSet, only?: string, name?: string): Promise<Torch> {
  const args = ['--set', set];
  if (only !== undefined) args.push('--only', only);
  if (name !== undefined) args.push('--case', name);
  return tryTorch('torch_limits.py', args);
}

/** Runs one of the scripts of `limits/` on the GPU of this machine. */
export async function tryTorch(script: string, args: readonly string[]): Promise<Torch> {
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
