import type { BackendProvider } from '@concord/backend-core';

/** Where a command writes: a standard stream, or a collector in tests. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What the command line needs from the world around it. */
export interface ProgramContext {
  /** Called by commands that run on backends: loading them all takes a while, and `--help` needs none. */
  readonly loadProviders: () => Promise<readonly BackendProvider[]>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** What a command that runs needs: the same, with the backends loaded. */
export interface CommandContext extends Omit<ProgramContext, 'loadProviders'> {
  readonly providers: readonly BackendProvider[];
}

/** The context of a command that begins to run. */
export async function commandContext({ loadProviders, ...world }: ProgramContext): Promise<CommandContext> {
  return { ...world, providers: await loadProviders() };
}

/** Takes the exit code that a command ended with. */
export type Finish = (exitCode: number) => void;
