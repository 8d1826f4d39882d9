import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Program } from './program.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The scripts that start a command on a software device, for the backends that need one. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  'level-zero': ['software-devices/level-zero-cpu/run.mjs', process.execPath],
  webgpu: ['software-devices/vulkan/run.mjs', 'lavapipe', process.execPath],
};

/** The exit code of a program in a test, and its output. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder for the tests of a file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'concord-example-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs a program in this process. */
export async function runCaptured(
  runProgram: Program,
  args: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  const code = await runProgram(args, {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    signal,
  });
  return { code, stdout, stderr };
}

/**
 * Runs a built example in a process where a backend has its software device, if it needs one.
 *
 * @param example - its folder in `examples`
 * @param args - with `--backend`, where the program has it
 */
export function runOnDevice(backend: string, example: string, args: readonly string[]): Ended {
  const command = [...(RUNNERS[backend] ?? []), `examples/${example}/dist/main.js`, ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: ROOT, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/** The backends that can be tested here. The driver of Level Zero for the CPU is for Linux. */
export const TESTED_BACKENDS: readonly string[] =
  process.platform === 'linux' ? ['cpu', 'level-zero', 'webgpu'] : ['cpu', 'webgpu'];
