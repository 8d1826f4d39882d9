import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const INDEX = JSON.stringify(join(import.meta.dirname, '../../dist/index.js'));

/** The exit of a program, and its output. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the body of a module that has `WasmBackend` and `INDEX`, the URL of the built package, in a separate process. */
export async function runProgram(source: string): Promise<Ended> {
  const program = `
    const INDEX = (await import('node:url')).pathToFileURL(${INDEX}).href;
    const { WasmBackend } = await import(INDEX);
    ${source}
  `;
  // Below the 60 s of a wait, whose timer must not keep the process alive.
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 50_000,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, stdout, stderr };
}
