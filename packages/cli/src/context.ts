import type { BackendProvider } from '@concord/backend-core';

/** The output of a command: a standard stream, or a collector in tests. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** The parts of its environment that the command line needs. */
export interface ProgramContext {
  /** Called by commands that run on backends: loading them all takes a while, and `--help` needs none. */
  readonly loadProviders: () => Promise<readonly BackendProvider[]>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** The environment of a command that runs: the same, with the backends loaded. */
export interface CommandContext extends Omit<ProgramContext, 'loadProviders'> {
  readonly providers: readonly BackendProvider[];
}

/** The context of a command that begins to run. */
export async function commandContext({ loadProviders, ...world }: ProgramContext): Promise<CommandContext> {
  return { ...world, providers: await loadProviders() };
}

/** Takes the exit code that a command ended with. */
export type Finish = (exitCode: number) => void;
