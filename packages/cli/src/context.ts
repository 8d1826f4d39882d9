import type { BackendProvider } from '@concord/backend-core';

/** Where a command writes: a standard stream, or a collector in tests. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What the commands need from the world around them. */
export interface CommandContext {
  readonly providers: readonly BackendProvider[];
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Takes the exit code that a command ended with. */
export type Finish = (exitCode: number) => void;
