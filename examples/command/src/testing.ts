import type { CommandContext } from './command.ts';

/** How a program ended in a test, and what it wrote. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in this process. */
export async function runCaptured(
  runProgram: (args: readonly string[], context: CommandContext) => Promise<number>,
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
