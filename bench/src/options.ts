import { UsageError } from './exit.ts';
import type { Ceilings } from './results.ts';

/** Which cases. */
export const CASE_OPTIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  case: { type: 'string' },
} as const;

/** Besides {@link CASE_OPTIONS}, what every device takes. */
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

/** `--threads N`. @throws {UsageError} for anything but a positive integer */
export function parseThreads(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const threads = Number(text);
  if (!Number.isInteger(threads) || threads < 1)
    throw new UsageError(`--threads takes a number of threads, not ${text}`);
  return threads;
}
