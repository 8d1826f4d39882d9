import { isBackendError } from '@concord/backend-core';
import type { Ceilings } from './results.ts';

/** A wrong command. */
export class UsageError extends Error {}

/** This machine lacks the requested device or library, or there is no such case. */
export class NotHere extends Error {}

/** Exit codes besides 0: one of our own results is wrong or missing; a wrong command; nothing to measure here. */
export const EXIT = { failed: 1, usage: 2, notHere: 3 } as const;

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): number {
  const { code } = error as { code?: string };
  if (error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS') === true) return EXIT.usage;
  const isNotHere = error instanceof NotHere || isBackendError(error, 'BACKEND_UNAVAILABLE');
  return isNotHere || code === 'ERR_MODULE_NOT_FOUND' ? EXIT.notHere : EXIT.failed;
}

/** The first line of a message; of a package or program that cannot be found, its name. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const missing = /^(?:Cannot find (?:package|module) '|spawn )([^' ]+)(?:'| ENOENT$)/.exec(message)?.[1];
  return missing === undefined ? (message.split('\n')[0] as string) : `${missing} is not installed`;
}

/** Options that select cases. */
export const CASE_OPTIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  case: { type: 'string' },
} as const;

/** `--ceilings TFLOPS,TBPS`. @throws {UsageError} for anything but two positive numbers */
export function parseCeilings(text: string | undefined): Ceilings | undefined {
  if (text === undefined) return undefined;
  const [tflops = 0, tbps = 0, ...others] = text.split(',').map(Number);
  if (!(tflops > 0 && tbps > 0) || others.length > 0) {
    throw new UsageError(`--ceilings takes TFLOP/s and TB/s such as 67,4.8, not ${text}`);
  }
  return { tflops, tbps, source: 'given' };
}

/** The value of an option that takes a positive integer. @throws {UsageError} for anything else */
export function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UsageError(`${option} takes a positive integer, not ${text}`);
  return value;
}

/** The value of an option that takes one of some names. @throws {UsageError} for anything else */
export function oneOf<Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new UsageError(`${option} takes ${names.join(', ')}, not ${text}`);
  return found;
}

/** Options of runs of models. */
export const MODEL_OPTIONS = {
  device: { type: 'string' },
  torch: { type: 'boolean', default: false },
  limit: { type: 'string' },
  json: { type: 'boolean', default: false },
  out: { type: 'string' },
} as const;
