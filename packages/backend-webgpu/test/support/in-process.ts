import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');
const INDEX = JSON.stringify(join(import.meta.dirname, '../../dist/index.js'));

/** The exit of a program, and its output. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program with the built package in its own process, on the device of these tests. `source` is the body of a
 * module that has `WebGpuBackend`, `WebGpuClient` and `INDEX`, the URL of the package.
 */
export async function runProgram(source: string): Promise<Ended> {
  const program = `
    const INDEX = (await import('node:url')).pathToFileURL(${INDEX}).href;
    const { WebGpuBackend, WebGpuClient } = await import(INDEX);
    ${source}
  `;
  const command = [process.execPath, '--input-type=module', '--eval', program];
  const device = process.env['CONCORD_SOFTWARE_VULKAN'] ?? 'lavapipe';
  const launcher = device === 'none' ? [] : [process.execPath, 'software-devices/vulkan/run.mjs', device];
  const [file, ...args] = [...launcher, ...command] as [string, ...string[]];
  // Well below the 60 s of a wait, whose timer must not keep the process alive.
  const child = spawn(file, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], timeout: 25_000 });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, stdout, stderr };
}
