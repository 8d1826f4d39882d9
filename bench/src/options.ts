import { UsageError } from './exit.ts';
import type { Ceilings } from './results.ts';

/** Options that select cases. */
export const CASE_OPTIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  case: { type: 'string' },
} as const;

/** Options of every device, besides {@link CASE_OPTIONS}. */
export const RUN_OPTIONS = {
  out: { type: 'string' },
  ceilings: { type: 'string' },
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
