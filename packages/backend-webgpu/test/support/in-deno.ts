import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { CaseResult } from '@concord/conformance';
import type { DeviceInfo } from '@concord/backend-core';
import { DENO_ARGUMENTS, denoEnvironment } from '../../../../software-devices/deno/launch.mjs';
import type { Device } from '../../../../software-devices/vulkan/lib/cache.mjs';

const PROGRAM = join(import.meta.dirname, '../deno/program.mjs');
/** Between lines that say how far a run is. */
const PROGRESS_MS = 15_000;

/** The results of a run in Deno. */
export interface DenoRun {
  readonly device: DeviceInfo;
  readonly f16: { readonly isUsed: boolean; readonly fault?: string };
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly cases: ReadonlyMap<string, Pick<CaseResult, 'status' | 'detail'>>;
}

/** Which device the program makes: with the adapter's own limits and features, or with WebGPU's defaults. */
export type DenoMode = 'own' | 'default';

/**
 * Runs conformance cases in Deno on the device of these tests.
 *
 * @param total - number of the cases, for the lines that say how far it is
 */
export async function runInDeno(deno: string, mode: DenoMode, sample: number, total: number): Promise<DenoRun> {
  const device = (process.env['CONCORD_SOFTWARE_VULKAN'] ?? 'lavapipe') as Device | 'none';
  const child = spawn(deno, [...DENO_ARGUMENTS, PROGRAM, mode, String(sample)], {
    env: denoEnvironment(device),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  const ended = once(child, 'close') as Promise<[number | null]>;
  const cases = new Map<string, Pick<CaseResult, 'status' | 'detail'>>();
  let found: Omit<DenoRun, 'cases'> | undefined;
  let told = Date.now();
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const parsed = JSON.parse(line) as CaseResult | Omit<DenoRun, 'cases'>;
    if ('id' in parsed) cases.set(parsed.id, parsed);
    else found = parsed;
    if (Date.now() - told < PROGRESS_MS) continue;
    told = Date.now();
    console.log(`Deno, ${mode} limits: ${cases.size} of ${total} cases`);
  }
  const [code] = await ended;
  if (code !== 0 || found === undefined) throw new Error(`Deno ended with ${code}: ${errors.trim()}`);
  return { ...found, cases };
}
