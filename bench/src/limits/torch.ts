import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { reasonOf } from '../reason.ts';
import type { Ceilings } from '../results.ts';
import type { CaseSet } from './cases.ts';
import type { TheirLine } from './report.ts';

/** The Python scripts. */
const SCRIPTS = new URL('../../limits/', import.meta.url);

/** What `torch_limits.py` found. */
export interface TorchLimits {
  readonly device: string;
  readonly versions: string;
  readonly ceilings?: Ceilings;
  readonly lines: readonly TheirLine[];
}

/** What PyTorch took, or why it was not timed. */
export type Torch = TorchLimits | { readonly absent: string };

/** What is written of PyTorch as a contestant. */
export function aboutTorch(torch: Torch): { readonly absent: string } | { readonly version: string } {
  return 'absent' in torch ? { absent: torch.absent } : { version: torch.versions };
}

/** What a script gives, or why it does not. */
export async function tryTorch(script: string, args: readonly string[]): Promise<Torch> {
  try {
    return await runTorchScript(script, args);
  } catch (error) {
    return { absent: reasonOf(error) };
  }
}

/**
 * Runs `torch_limits.py` on the GPU of this machine, with all cases of a set, or those of these ops and this name. */
export function runTorch(set: CaseSet, only?: string, name?: string): Promise<Torch> {
  const args = ['--set', set];
  if (only !== undefined) args.push('--only', only);
  if (name !== undefined) args.push('--case', name);
  return tryTorch('torch_limits.py', args);
}

/**
 * Runs one of the scripts of `limits/`.
 *
 * @throws {Error} with the reason why it cannot run, such as that there is no PyTorch
 */
async function runTorchScript(script: string, args: readonly string[]): Promise<TorchLimits> {
  const child = spawn('python3', [fileURLToPath(new URL(script, SCRIPTS)), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(errors.trim().split('\n').at(-1) ?? `python3 ended with ${code}`);
  return parseTorch(output, script);
}

/** Reads what the script printed earlier. @throws {Error} where the file is not there, or is something else */
export function readTorch(file: string): TorchLimits {
  return parseTorch(readFileSync(file, 'utf8'), file);
}

/** @throws {Error} that names `source` and the line where the text is not what the script prints */
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
