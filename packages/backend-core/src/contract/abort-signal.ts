import { invalid } from '../errors/invalid.ts';
import { describe } from './checks.ts';

/**
 * A value that only looks like a signal may never tell that it was aborted, or throw when it is asked.
 *
 * @throws {BackendError} INVALID_ARGUMENT unless it is undefined or an AbortSignal of the platform
 */
export function checkSignal(signal: unknown): void {
  if (signal !== undefined && !isSignal(signal))
    throw invalid(`signal must be an AbortSignal, got ${describe(signal)}`);
}

function isSignal(signal: unknown): boolean {
  const { AbortSignal: platform } = globalThis as { AbortSignal?: { readonly prototype: object } };
  if (platform === undefined || typeof signal !== 'object' || signal === null) return false;
  try {
    // The platform's getter throws for anything that is no signal of it; its own properties would hide the true ones.
    const aborted: unknown = Object.getOwnPropertyDescriptor(platform.prototype, 'aborted')?.get?.call(signal);
    return typeof aborted === 'boolean' && !Object.hasOwn(signal, 'aborted') && !Object.hasOwn(signal, 'reason');
  } catch {
    return false;
  }
}
